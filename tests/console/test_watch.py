"""A match is followed to its end, in words or as data, from any event on."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from libs.scenarios.plain import describe_event
from services.console.app import app
from services.console.exports import read_records
from tests.console.playing_rig import Rig, running_rig

NOBODY = "01900000-0000-7000-8000-000000000000"


class Watched(NamedTuple):
    """A match that is over, and what those saw who watched it while it was played."""

    rig: Rig
    match_id: str
    live: subprocess.CompletedProcess[str]
    drawn: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with running_rig() as rig:
        yield watch_one(rig)


def watch_one(rig: Rig) -> Watched:
    """Begin a match, watch it twice from its first moment, and have a bot play it to its end."""
    left = rig.type("quit\n", "--rule-set", "opolyx.speed@2", "--bot", "steady")
    [match_id] = re.findall(r"^Match (\S+):", left.stdout, re.MULTILINE)
    with (
        rig.start("watch", match_id, "-o", "ndjson") as live,
        rig.start("watch", match_id, "--board", "--from", "5") as drawn,
        rig.start("play", "--match", match_id, "--auto", "shark") as player,
    ):
        player.communicate("")
        told = [
            subprocess.CompletedProcess([], process.wait(60), out, errors)
            for process in (live, drawn)
            for out, errors in [process.communicate()]
        ]
    assert player.returncode == 0
    return Watched(rig, match_id, *told)


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
@pytest.mark.postgres
def test_every_event_is_an_object_live_and_afterwards(watched: Watched, tmp_path: Path) -> None:
    export = tmp_path / "match.opolyx"
    watched.rig.run("export", watched.match_id, "--out", str(export))
    later = watched.rig.run("watch", watched.match_id, "-o", "ndjson")
    expected = [
        {"sequence": sequence, "at_ms": record.at_ms, **_split(describe_event(event))}
        for record in read_records(export)
        for sequence, event in enumerate(record.events, start=record.first_seq)
    ]

    assert (watched.live.returncode, watched.live.stderr) == (0, "")
    assert (later.returncode, later.stderr) == (0, "")
    assert objects(watched.live.stdout) == expected
    assert later.stdout == watched.live.stdout
    assert [event["sequence"] for event in expected] == list(range(1, len(expected) + 1))


def _split(told: dict[str, Any]) -> dict[str, Any]:
    return {"type": told.pop("type"), "fields": told}


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("first", [2, 7, 100, 1_000_000])
def test_it_goes_on_from_any_event_without_a_gap(watched: Watched, first: int) -> None:
    told = watched.rig.run("watch", watched.match_id, "--from", str(first), "-o", "ndjson")

    whole = watched.live.stdout.splitlines()
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == whole[first - 1 :]


@pytest.mark.slow
@pytest.mark.postgres
def test_it_is_told_in_words_and_drawn_at_each_turn(watched: Watched) -> None:
    told = watched.rig.run("watch", watched.match_id)

    lines = told.stdout.splitlines()
    assert (told.returncode, told.stderr) == (0, "")
    assert lines[0].startswith("The match starts: 15,000 each")
    assert lines[1] == "Round 1."
    assert lines[-2].startswith("1. ")
    assert lines[-2].endswith(", won")
    assert "CORNER 21" not in told.stdout
    assert (watched.drawn.returncode, watched.drawn.stderr) == (0, "")
    assert watched.drawn.stdout.count("CORNER 21") > 2
    assert "\x1b" not in watched.drawn.stdout


@pytest.mark.slow
@pytest.mark.postgres
def test_a_match_that_there_is_not_is_3(watched: Watched) -> None:
    for more in ([], ["-o", "ndjson"]):
        told = watched.rig.run("watch", NOBODY, *more)

        assert (told.returncode, told.stdout) == (3, "")
        assert told.stderr.startswith("MATCH_NOT_FOUND: ")


@pytest.mark.slow
def test_where_nothing_answers_it_is_said() -> None:
    told = CliRunner().invoke(app, ["watch", NOBODY, "--address", "127.0.0.1:1"])

    assert told.exit_code == 1
    assert told.stderr.startswith("nothing answers at 127.0.0.1:1")


@pytest.mark.parametrize(
    "arguments", [["x"], [], [NOBODY, "--from", "0"], [NOBODY, "-o", "json"]], ids=" ".join
)
def test_wrong_usage_is_2(cli: CliRunner, arguments: list[str]) -> None:
    told = cli.invoke(app, ["watch", *arguments])

    assert (told.exit_code, told.stdout) == (2, "")
