"""What a terminal gets that a pipe does not: colours, and how far a long piece of work is."""

import os
import re
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.support.repository import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="has terminals of its own")

COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:[349][0-7]|[34]8;[\d;]+)m")
STEERING = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def seen(arguments: list[str], *, stderr: bool = False, **variables: str) -> tuple[bytes, bytes]:
    """Run a command with stdout, or else stderr, on a terminal; return that, and the other one."""
    outside, inside = os.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "services.console", *arguments],
        cwd=ROOT,
        env=kept | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"} | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if stderr else inside,
        stderr=inside if stderr else subprocess.PIPE,
    ) as process:
        os.close(inside)
        shown = b""
        # A terminal that nobody writes to any more is an error to Linux, and an end to others.
        with suppress(OSError):
            while more := os.read(outside, 1 << 16):
                shown += more
        os.close(outside)
        pipe = process.stdout or process.stderr
        assert pipe is not None
        return shown, pipe.read()


def test_a_terminal_has_colours_unless_none_are_wanted() -> None:
    coloured, _ = seen(["--help"])
    plain, _ = seen(["--help"], NO_COLOR="1")

    assert COLOUR.search(coloured)
    assert not COLOUR.search(plain)


def test_what_is_wrong_has_colours_on_a_terminal_alone() -> None:
    coloured, _ = seen(["board", "show", "--gamble"], stderr=True)
    plain, _ = seen(["board", "show", "--gamble"], stderr=True, NO_COLOR="1")
    _, piped = seen(["board", "show", "--gamble"])

    assert COLOUR.search(coloured)
    assert not COLOUR.search(plain)
    assert b"\x1b" not in piped
    assert b"--gamble" in piped


def test_how_far_it_is_is_shown_on_a_terminal_and_the_data_is_the_same() -> None:
    arguments = ["simulate", "--matches", "60", "-o", "json"]

    shown, data = seen(arguments, stderr=True)
    _, silent = seen(arguments)

    assert b"/60 matches" in STEERING.sub(b"", shown)
    assert b"\x1b" not in data
    assert data.startswith(b"{")
    assert silent == b""


def test_data_is_plain_on_a_terminal_too() -> None:
    shown, _ = seen(["cards", "show"])

    assert b"\x1b" not in shown
