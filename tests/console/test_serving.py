"""What somebody sees who starts the system in a terminal, and what that is worth in another."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from services.console.fleet import SERVICES
from services.console.staging import environment, free_ports
from tests.support.repository import ROOT
from tests.support.system import STOP_S, data_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="has terminals of its own"),
]

STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LAST = "LobbyService/CreateRoom\n"
"""What the last line of the greeting ends with."""


class Screen(NamedTuple):
    """A terminal in which `opolyx serve all` runs, and what it has shown so far."""

    terminal: int
    shown: list[str]

    def read(self, until: str = "") -> str:
        """Read until something is shown, or to the end, and return all that was shown so far."""
        # A terminal that nobody writes to any more is an error to Linux, and an end to others.
        with suppress(OSError):
            while not until or until not in self.text:
                more = os.read(self.terminal, 1 << 16)
                if not more:
                    break
                self.shown.append(more.decode())
        return self.text

    @property
    def text(self) -> str:
        """All that was shown, as a person reads it."""
        return STEERING.sub("", "".join(self.shown)).replace("\r\n", "\n")


class Served(NamedTuple):
    """A system that was started in a terminal; *variables* are what that one was told."""

    screen: Screen
    process: subprocess.Popen[bytes]
    variables: Mapping[str, str]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Return a system that somebody started in a terminal, with settings of their own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
    outside, inside = os.openpty()
    with data_folder() as folder:
        variables = environment(folder, free_ports(len(SERVICES)), 0)
        with subprocess.Popen(
            [sys.executable, "-m", "services.console", "serve", "all"],
            cwd=ROOT,
            env={**kept, **variables, "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=inside,
            stderr=inside,
        ) as process:
            os.close(inside)
            screen = Screen(outside, [])
            screen.read(LAST)
            yield Served(screen, process, variables)
            process.send_signal(signal.SIGINT)
            screen.read()
            assert process.wait(STOP_S) == 0, screen.text
        os.close(outside)


def pasted(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a terminal that knows nothing of the one where the system was started."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
    return subprocess.run(
        ["bash", "-c", line], cwd="/", env=kept, capture_output=True, text=True, check=False
    )


def test_nothing_alarms_whoever_starts_it_and_how_to_go_on_comes_last(served: Served) -> None:
    log, banner = served.screen.text.split("opolyx is up")

    warned = [line for line in log.splitlines() if "[warning" in line or "[error" in line]
    assert [line.split("]")[1].split()[0] for line in warned] == ["development_tokens_accepted"]
    assert "rpc_handled" not in log
    assert "REFUSED" not in log
    assert log.count("service_started") == len(SERVICES) + 2  # telemetry, and memory
    assert LAST in banner


def test_what_is_to_be_pasted_works_in_another_terminal_as_it_is(served: Served) -> None:
    banner = served.screen.text.split("opolyx is up")[1]
    [going] = [line for line in banner.splitlines() if line.startswith("  cd ")]
    begin = banner.rindex("\n", 0, banner.index("buf curl"))
    calling = banner[begin : banner.index(LAST) + len(LAST)]

    told = pasted(f"{going}\n{calling}")

    assert told.returncode == 0, told.stderr
    assert '"roomId"' in told.stdout
    assert told.stderr == ""


def test_every_command_of_the_greeting_is_told_where_the_system_is(served: Served) -> None:
    banner = served.screen.text.split("opolyx is up")[1]
    asking = [line for line in banner.splitlines() if "opolyx play" in line]

    [[*told, program, _, _, _]] = [shlex.split(line, comments=True) for line in asking]
    assert dict(word.split("=") for word in told) == {
        "OPOLYX_DATA_FOLDER": served.variables["OPOLYX_DATA_FOLDER"],
        "OPOLYX_PEERS__GATEWAY": f"127.0.0.1:{served.variables['OPOLYX_GATEWAY__PORT']}",
    }
    assert (ROOT / program).exists()


def test_a_command_in_a_terminal_of_its_own_says_which_key_it_used(
    served: Served, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    address = f"127.0.0.1:{served.variables['OPOLYX_GATEWAY__PORT']}"
    command = shlex.join(
        [sys.executable, "-m", "services.console", "matches", "--address", address]
    )

    told = pasted(f"cd {ROOT} && OPOLYX_DATA_FOLDER={elsewhere} {command}")

    made, refused, *more = told.stderr.splitlines()
    assert (told.returncode, told.stdout, more) == (1, "", [])
    assert made.startswith(f"a new key for development tokens was made in {elsewhere}: ")
    assert refused.startswith("TOKEN_INVALID: ")
    assert f"the key in {elsewhere} " in refused
    assert "OPOLYX_DATA_FOLDER" in refused
