"""`opolyx admin`, on a system that runs."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from libs.client.client import Client
from libs.kernel.ids import MatchId
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.match_pb2 import Match
from tests.support.commands import opolyx
from tests.support.played import Played

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

UNKNOWN: Final = "01900000-0000-7000-8000-000000000000"
WHY: Final = ("--reason", "a complaint")


def told(played: Played, *words: str) -> Any:
    """Run a command that goes well, and return what it printed."""
    done = played.opolyx("admin", *words, "-o", "json")
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def in_match(played: Played, work: Any) -> Any:
    """Do *work* as a player called eve."""

    async def run() -> Any:
        async with played.system.client("eve") as client:
            return await work(client)

    return asyncio.run(run())


@pytest.fixture
def running(played: Played) -> Iterator[MatchId]:
    """Return a match of eve and a bot that goes on until it is aborted."""

    async def start(client: Client) -> MatchId:
        return await client.start_match()

    match_id = in_match(played, start)
    yield match_id
    played.opolyx("admin", "abort", match_id, *WHY)


def phase(played: Played, match_id: str) -> Match:
    async def look(client: Client) -> Match:
        match = await client.match.GetMatch(pb.GetMatchRequest(match_id=match_id))
        assert isinstance(match, Match)
        return match

    found = in_match(played, look)
    assert isinstance(found, Match)
    return found


def test_a_match_is_frozen_goes_on_and_is_aborted(played: Played, running: MatchId) -> None:
    frozen = told(played, "freeze", running, *WHY)
    again = told(played, "freeze", running, *WHY, "--command-id", frozen["command_id"])
    found = told(played, "find", "--match", running)
    resumed = told(played, "resume", running, *WHY)
    aborted = told(played, "abort", running, *WHY)

    assert again == frozen
    assert frozen["match_id"] == running
    assert [(each["match_id"], each["status"], each["bots"]) for each in found] == [
        (running, "frozen", 1)
    ]
    assert frozen["sequence"] < resumed["sequence"] < aborted["sequence"]
    assert phase(played, running).phase == Match.PHASE_ENDED
    calls = told(played, "calls", "--match", running)
    assert [(call["method"], call["outcome"]) for call in calls] == [
        ("AbortMatch", "OK"),
        ("ResumeMatch", "OK"),
        ("FindMatches", "OK"),
        ("FreezeMatch", "OK"),
        ("FreezeMatch", "OK"),
    ]
    assert {call["reason"] for call in calls} == {"a complaint", ""}
    mine = told(played, "calls", "--operator", calls[0]["operator_id"], "--limit", "3")
    assert [call["method"] for call in mine] == ["ListAdminCalls", "AbortMatch", "ResumeMatch"]


def test_matches_are_found_by_status_rule_set_and_player(played: Played, running: MatchId) -> None:
    (match,) = told(played, "find", "--status", "running")
    over = told(played, "find", "--status", "ended", "--rule-set", "opolyx.speed@2")
    of_player = told(played, "find", "--player", match["people"][0], "--status", "running")

    assert match["match_id"] == running
    assert [each["match_id"] for each in of_player] == [running]
    assert played.match_id in {each["match_id"] for each in over}
    assert len(told(played, "find", "--limit", "1")) == 1


def test_what_is_not_in_quarantine_is_not_released(played: Played, running: MatchId) -> None:
    done = played.opolyx("admin", "release", running, *WHY)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("MATCH_NOT_QUARANTINED: ")
    assert told(played, "quarantined") == []


def test_what_is_refused_says_why_and_what_is_not_there_is_3(played: Played) -> None:
    over = played.opolyx("admin", "freeze", played.match_id, *WHY)
    unknown = played.opolyx("admin", "freeze", UNKNOWN, *WHY)

    assert (over.returncode, over.stderr.partition(":")[0]) == (1, "MATCH_ENDED")
    assert (unknown.returncode, unknown.stderr.partition(":")[0]) == (3, "MATCH_NOT_FOUND")


def test_for_people_there_is_a_table(played: Played) -> None:
    shown = played.opolyx("admin", "find", "--match", played.match_id).stdout.splitlines()

    assert shown[0].split()[:3] == ["match_id", "rule_set", "status"]
    assert shown[1].split()[:3] == [played.match_id, "opolyx.speed@2", "ended"]


def test_who_is_no_operator_is_not_let_in(played: Played, tmp_path: Any) -> None:
    file = tmp_path / "token"
    file.write_text(played.system.token("ada"))

    done = played.opolyx("admin", "find", "--token-file", str(file))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("NOT_ALLOWED: ")


@pytest.mark.parametrize(
    "words",
    [
        ["find", "--match", "x"],
        ["find", "--status", "lost"],
        ["freeze", UNKNOWN],
        ["freeze", "x", "--reason", "y"],
        ["abort", UNKNOWN, "--reason", "y", "--command-id", "z"],
        ["calls", "--operator", "x"],
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_2(words: list[str]) -> None:
    done = opolyx("admin", *words)

    assert (done.returncode, done.stdout) == (2, "")
