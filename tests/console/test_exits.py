"""The exit codes: each of them reached, and the table of them whole."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from services.console import exits
from tests.support.commands import opolyx
from tests.support.repository import ROOT
from tests.support.waiting import until

NOBODY = "01900000-0000-7000-8000-000000000000"


def codes() -> set[int]:
    """Return every code that a command may name, and that of all being well."""
    return {0} | {value for value in vars(exits).values() if isinstance(value, int)}


def test_the_table_has_every_code() -> None:
    text = (ROOT / "services/console/README.md").read_text(encoding="utf-8")
    table = text.split("## Exit codes")[1].split("\n## ")[0]
    listed = [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]

    assert listed == sorted(codes())


def test_the_table_of_commands_names_no_other_code() -> None:
    text = (ROOT / "services/console/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| ([0-9, ]+) \|$", text, re.MULTILINE)

    assert rows
    assert {int(code) for row in rows for code in row.split(", ")} <= codes()


def test_the_help_of_all_points_at_the_table() -> None:
    told = opolyx("--help").stdout

    assert "services/console/README.md" in told
    assert all(str(code) in told for code in codes())


class Begun:
    """A command that goes on, in a session of its own, as in a terminal of its own."""

    def __init__(self, *arguments: str, **variables: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "services.console", *arguments],
            cwd=ROOT,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def interrupt(self) -> tuple[int, str, str]:
        """Press Ctrl+C: whatever runs in the terminal is told. Returns the code and all output."""
        os.killpg(self._process.pid, signal.SIGINT)
        out, err = self._process.communicate(timeout=60)
        return self._process.returncode, out, err


def test_each_code_is_reached(export: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.opolyx"
    damaged.write_bytes(export.read_bytes()[:-2])
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    reached = {
        0: opolyx("verify", str(export)),
        1: opolyx("scenario", "--from", str(export), "--at", "1"),
        2: opolyx("scenario", str(wrong)),
        3: opolyx("rules", "show", "opolyx.chess@1"),
        6: opolyx("verify", str(damaged)),
    }

    assert {code: told.returncode for code, told in reached.items()} == {
        code: code for code in sorted(codes() - {exits.INTERRUPTED})
    }
    assert not any("Traceback" in told.stderr for told in reached.values())


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
async def test_an_interrupted_simulation_ends_with_130_and_no_word(
    tmp_path: Path, jobs: str
) -> None:
    kept = tmp_path / "kept"
    simulation = Begun("simulate", "--matches", "100000", "--jobs", jobs, "--keep", str(kept))
    await until(lambda: any(kept.glob("*.opolyx")), 60)

    assert simulation.interrupt() == (exits.INTERRUPTED, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["audit", "explain"])
async def test_who_waits_for_an_answer_may_stop_waiting(tmp_path: Path, command: str) -> None:
    opolyx("token", "--player", "ada", OPOLYX_DATA_FOLDER=str(tmp_path))  # or a new key is told of
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(0)
        arguments = {"audit": ["--all"], "explain": [NOBODY, "1"]}[command]
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        asking = Begun(command, *arguments, "--address", address, OPOLYX_DATA_FOLDER=str(tmp_path))
        connection, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(silent), 60)

        with connection:
            assert asking.interrupt() == (exits.INTERRUPTED, "", "")


@pytest.mark.parametrize(
    "arguments", [["cards", "show"], ["--help"], ["rules", "list", "-o", "ndjson"]]
)
def test_a_reader_that_has_gone_is_no_error_worth_a_word(arguments: list[str]) -> None:
    """Little enough to be written at the very end, when nobody is there to read it."""
    outside, inside = os.pipe()
    os.close(outside)

    told = subprocess.run(
        [sys.executable, "-m", "services.console", *arguments],
        cwd=ROOT,
        stdout=inside,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(inside)

    assert (told.returncode, told.stderr) == (1, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_first_lines_are_enough_for_head() -> None:
    command = f"set -o pipefail; {sys.executable} -m services.console board show | head -1"

    told = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert told.stdout.split()[0] == "square"
    assert told.stderr == ""
