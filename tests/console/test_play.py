"""A match in terminals: whole, between processes, left and come back to, and what is refused."""

import asyncio
import os
import re
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from typer.testing import CliRunner

from libs import verify as verifier
from services.console.app import app
from tests.console.playing_rig import Rig, running_rig
from tests.support.repository import ROOT

NOBODY = "01900000-0000-7000-8000-000000000000"
ASKED = "A number or words; `help` says more."


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with running_rig() as rig:
        yield rig


def until(lines: IO[str], wanted: str) -> str:
    """Read lines up to the first that has *wanted* in it."""
    seen = []
    for line in lines:
        seen.append(line)
        if wanted in line:
            return line
    raise AssertionError(f"{wanted!r} never came, but: {''.join(seen)[-3000:]}")


def choice(entries: list[str]) -> str:
    """Choose from a list: what answers first, but no auctions, and a bet on two numbers."""
    words = [re.sub(r"^ *\d+ ", "", entry) for entry in entries]
    if words[0].startswith("bet "):
        return "1 2 5"
    return str(words.index("pass") + 1 if "pass" in words else 1)


def play_by_lists(process: subprocess.Popen[str]) -> str:
    """Type a number for each list that is shown, to the end; returns all that was shown."""
    assert process.stdin is not None
    assert process.stdout is not None
    shown, entries = [], []
    for line in process.stdout:
        shown.append(line)
        if re.match(r" {0,2}\d+ [a-z]", line):
            entries.append(line.rstrip())
        elif line.rstrip() == ASKED:
            process.stdin.write(f"{choice(entries)}\n")
            process.stdin.flush()
        elif line.startswith("`rematch`"):
            process.stdin.close()
        elif not line.strip():
            entries = []
    return "".join(shown)


@pytest.mark.slow
@pytest.mark.postgres
def test_two_processes_play_a_whole_match(rig: Rig, tmp_path: Path) -> None:
    """One is fed by pipes and chooses from the lists that it is shown, the other by a bot."""
    bobs = tmp_path / "bob.txt"
    with rig.start("play", "--rule-set", "opolyx.speed@2", "--player", "ada") as ada:
        assert ada.stdout is not None
        room = until(ada.stdout, "Others join by:").split()[6]
        with (
            bobs.open("w") as out,
            rig.start(
                "play", "--room", room, "--player", "bob", "--auto", "steady", out=out
            ) as bob,
        ):
            shown = play_by_lists(ada)
            assert ada.stderr is not None
            assert bob.stderr is not None
            complaints = ada.stderr.read() + bob.stderr.read()
    other = bobs.read_text()

    assert (ada.returncode, bob.returncode, complaints) == (0, 0, "")
    for told in (shown, other):
        assert "\x1b" not in told
        assert re.search(r"^1\. (ada|bob), .*, won$", told, re.MULTILINE)
        assert "Secret seed, revealed: " in told
        assert "You earned " in told
    hashes = [re.findall(r"Final hash, at (\d+): ([0-9a-f]{64})", told) for told in (shown, other)]
    assert len(hashes[0]) == 1
    assert hashes[0] == hashes[1]
    assert "opolyx verify match.opolyx --key keys.json" in shown
    [match_id] = re.findall(r"opolyx export (\S+) --out", shown)
    kept, keys = tmp_path / "match.opolyx", tmp_path / "keys.json"
    assert rig.run("export", match_id, "--out", str(kept)).returncode == 0
    keys.write_text(rig.run("keys").stdout)
    assert verifier.verify(kept, keys).code == verifier.OK
    assert rig.system.token("ada").split(".")[0] not in shown


@pytest.mark.slow
@pytest.mark.postgres
def test_who_leaves_comes_back_to_the_match_and_gives_it_up(rig: Rig) -> None:
    who = ("--player", "cleo")
    left = rig.type("help\ngamble\nboard\nquit\n", "--bot", "novice", *who)
    [match_id] = re.findall(r"^Match (\S+): you are", left.stdout, re.MULTILINE)
    back = rig.type("offers\nlog 1\nwhy build 6\nexplain 1\n99\n", *who)
    again = rig.type("surrender\nno\n", "--match", match_id, *who)
    over = rig.type("surrender\nyes\n", "--match", match_id, *who)
    after = rig.type("", "--match", match_id, *who)

    assert [told.returncode for told in (left, back, again, over, after)] == [0, 0, 0, 0, 0]
    assert [told.stderr for told in (left, back, again, over, after)] == [""] * 5
    assert "`gamble` is nothing that can be done" in left.stdout
    assert "Words never change their meaning." in left.stdout
    assert "CORNER 21" in left.stdout
    assert left.stdout.splitlines()[-1] == (
        f"The match goes on. Back to it: opolyx play --match {match_id} --player cleo"
    )
    assert f"You sit in a match already, {match_id}: it goes on." in back.stdout
    assert "No offer is open." in back.stdout
    assert re.search(r"^(NOT_MANAGING_TIME|NOT_OWNER|NOT_YOUR_TURN): ", back.stdout, re.MULTILINE)
    assert "The match goes on." in back.stdout
    assert "Dropped; nothing was done." in again.stdout
    assert "surrenders and leaves everything." not in again.stdout
    assert "2. " in over.stdout
    assert re.search(r"^1\. novice, .*, won$", after.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.postgres
def test_who_leaves_a_room_that_waits_is_waited_for_no_more(rig: Rig) -> None:
    left = rig.type("gamble\nstart\nquit\n", "--seats", "3", "--player", "dora")
    [room] = re.findall(r"^Room (\S+):", left.stdout, re.MULTILINE)
    late = rig.type("", "--room", room, "--player", "eve")

    assert (left.returncode, left.stderr) == (0, "")
    assert "`start` starts with those who are here" in left.stdout
    assert "TOO_FEW_SEATS: " in left.stdout
    assert left.stdout.splitlines()[-1] == "You have left the room."
    assert (late.returncode, late.stdout) == (1, "")
    assert late.stderr.startswith("ROOM_CLOSED: ")


@pytest.mark.slow
@pytest.mark.postgres
def test_a_connection_that_is_lost_is_told_and_found_again(rig: Rig) -> None:
    with rig.start("play", "--bot", "novice", "--player", "fay") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        until(process.stdout, ASKED)
        rig.system.kill()
        assert process.stderr.readline() == "connection lost, trying again\n"
        asyncio.run(rig.system.start())
        assert process.stderr.readline() == "back\n"
        process.stdin.write("surrender\nyes\n")
        process.stdin.flush()
        until(process.stdout, ", won")
        process.stdin.close()
        process.stdout.read()

    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.postgres
def test_a_terminal_shows_the_board_and_is_left_as_it_was(rig: Rig) -> None:
    outside, inside = os.openpty()
    before = termios.tcgetattr(inside)
    size = {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "100", "LINES": "24"}
    with subprocess.Popen(
        [sys.executable, "-m", "services.console", "play", "--bot", "novice", "--player", "gus"],
        cwd=ROOT,
        env={**os.environ, **rig.variables(), **size},
        stdin=inside,
        stdout=inside,
        stderr=inside,
    ) as process:
        shown = _read_until(outside, "surrender ")
        os.write(outside, b"qu")
        shown += _read_until(outside, "> qu")
        os.write(outside, b"it\r")
        shown += _read_until(outside, "Back to it:")
        process.wait(60)
    after = termios.tcgetattr(inside)
    os.close(inside)
    os.close(outside)

    assert process.returncode == 0
    assert "JAIL" in shown
    assert re.search(r"\[\d+ s\] > ", shown)
    assert "\x1b[3" not in shown
    assert after == before


def _read_until(descriptor: int, wanted: str) -> str:
    seen = ""
    while wanted not in seen:
        seen += os.read(descriptor, 1 << 16).decode()
    return seen


@pytest.mark.slow
@pytest.mark.postgres
def test_what_there_is_not_is_told(rig: Rig) -> None:
    no_room = rig.type("", "--room", NOBODY)
    no_match = rig.type("", "--match", NOBODY)
    nothing = rig.type("", "--address", "127.0.0.1:1")
    stranger = rig.type("quit\n", "--bot", "novice", "--player", "hal")
    [match_id] = re.findall(r"^Match (\S+):", stranger.stdout, re.MULTILINE)
    unseated = rig.type("", "--match", match_id, "--player", "ida")

    assert (no_room.returncode, no_room.stderr.split(":")[0]) == (3, "ROOM_NOT_FOUND")
    assert (no_match.returncode, no_match.stderr.split(":")[0]) == (3, "MATCH_NOT_FOUND")
    assert nothing.returncode == 1
    assert nothing.stderr.startswith("nothing answers at 127.0.0.1:1")
    assert unseated.returncode == 1
    assert f"`opolyx watch {match_id}` shows it" in unseated.stderr
    assert no_room.stdout + no_match.stdout + nothing.stdout + unseated.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rule-set", "opolyx.chess@1"], 3),
        (["--seats", "7"], 2),
        (["--seats", "2", "--bot", "novice", "--bot", "novice"], 2),
        (["--bot", "god"], 2),
        (["--auto", "god"], 2),
        (["--room", "here"], 2),
        (["--match", "there"], 2),
        (["--room", NOBODY, "--invite", "abc"], 2),
        (["--token-file", "no-such-file"], 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_played_is_told(cli: CliRunner, arguments: list[str], code: int) -> None:
    told = cli.invoke(app, ["play", *arguments])

    assert (told.exit_code, told.stdout) == (code, "")
