"""An evening of two people by commands alone: a private room, a match, another, what came of it."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import pytest

from services.console.exits import INTERRUPTED
from tests.console.playing_rig import Rig, running_rig

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

RULES = "opolyx.speed@2"
AGAIN = "`rematch` plays again"


class Script:
    """Somebody who plays by `opolyx play` and two pipes."""

    def __init__(self, rig: Rig, *arguments: str) -> None:
        self._process = rig.start("play", *arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def until(self, wanted: str) -> str:
        """Read lines up to the first that has *wanted* in it."""
        assert self._process.stdout is not None
        seen = []
        for line in self._process.stdout:
            seen.append(line)
            if wanted in line:
                return line
        raise AssertionError(f"{wanted!r} never came, but: {''.join(seen)[-3000:]}")

    def type(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(f"{line}\n" for line in lines)
        self._process.stdin.flush()

    def end(self) -> tuple[int, str]:
        """Wait for the end; returns the exit code and what was said on stderr."""
        _, told = self._process.communicate()
        return self._process.returncode, told


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with running_rig() as rig:
        yield rig


def ask(rig: Rig, player: str, *words: str) -> Any:
    """Run a command as somebody, and return what it prints."""
    told = rig.run(*words, "--player", player, "-o", "json")
    assert (told.returncode, told.stderr) == (0, ""), told
    return json.loads(told.stdout)


def refused(rig: Rig, player: str, *words: str) -> tuple[int, str]:
    """Run a command that is refused, and return its exit code and the reason."""
    told = rig.run(*words, "--player", player)
    assert told.stdout == ""
    return told.returncode, told.stderr.split(":")[0]


def seats(room: Any) -> list[str | None]:
    return [seat["name"] or seat["bot"] for seat in room["seats"]]


def play_to_the_end(rig: Rig, *players: str) -> list[str]:
    """Have all of them go on where they are, each by a bot; returns what each was shown."""
    words = ("--auto", "steady", "--player")
    running = [rig.start("play", *words, player) for player in players]
    told = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * len(running), told
    return [out for out, _ in told]


def test_two_people_spend_an_evening(rig: Rig) -> None:
    made = ask(rig, "ann", "rooms", "create", "--rule-set", RULES, "--seats", "3", "--private")
    room = made["room_id"]
    assert refused(rig, "bob", "rooms", "show", room) == (3, "ROOM_NOT_FOUND")
    assert room not in {each["room_id"] for each in ask(rig, "bob", "rooms", "list")}
    code = ask(rig, "ann", "rooms", "invite", room, "--ttl", "30m")["code"]

    assert ask(rig, "bob", "rooms", "accept", code)["room_id"] == room
    ask(rig, "bob", "rooms", "join", room, "--seat", "2")
    moved = ask(rig, "bob", "rooms", "seat", room, "1")
    assert (seats(moved), moved["watching"]) == (["ann", "bob", None], "invited")
    assert refused(rig, "ann", "rooms", "start", room) == (1, "NOT_READY")
    ask(rig, "bob", "rooms", "ready", room)
    started = ask(rig, "ann", "rooms", "start", room)
    match = started["match_id"]
    assert match

    shown = play_to_the_end(rig, "ann", "bob")
    assert all(f"Match {match}: you are " in told for told in shown)
    assert all(f"To play again: opolyx rooms rematch {room} " in told for told in shown)

    again = ask(rig, "bob", "rooms", "rematch", room)
    assert (again["rematch_of"], seats(again)) == (room, [None, "bob", None])
    assert seats(ask(rig, "ann", "rooms", "rematch", room)) == ["ann", "bob", None]
    play_to_the_end(rig, "bob", "ann")

    ask(rig, "ann", "name", "Ann the First")
    look_back(rig, match)


def look_back(rig: Rig, first: str) -> None:
    played = ask(rig, "ann", "matches", "--mine")
    assert [match["match_id"] for match in played][1:] == [first]
    assert {match["outcome"] for match in played} <= {"won", "lost"}
    for match in played:
        assert match["place"] == (1 if match["outcome"] == "won" else 2)
        assert match["started_ms"] < match["ended_ms"]
    # It was a private evening.
    seen = {match["match_id"] for match in ask(rig, "eve", "matches")}
    assert seen.isdisjoint(match["match_id"] for match in played)
    profile = ask(rig, "ann", "profile", "--cards")
    assert profile["name"] == "Ann the First"
    assert [reward["match_id"] for reward in profile["rewards"]] == [
        match["match_id"] for match in played
    ]
    assert len(profile["cards"]) == profile["card_count"]
    board = ask(rig, "bob", "leaderboard", "--around")
    experience = {entry["name"]: entry["experience"] for entry in board}
    assert experience["Ann the First"] == profile["experience"]
    assert "bob" in experience
    assert refused(rig, "eve", "leaderboard", "--around") == (3, "PLAYER_NOT_FOUND")


def test_a_private_room_is_played_and_played_again_by_play_alone(rig: Rig) -> None:
    """Scripts at both tables: each gives one match up, and asks for another by a word."""
    private = ("--private", "--rule-set", RULES, "--player", "dan")
    with Script(rig, *private) as dan:
        [code] = re.findall(r"opolyx play --invite ([a-z2-7]{26}) --player ada", dan.until("join"))
        with Script(rig, "--invite", code, "--player", "erin") as erin:
            first = {script.until("Match ").split()[1] for script in (dan, erin)}
            dan.type("surrender", "yes")
            for script in (dan, erin):
                script.until(AGAIN)
                script.type("4", "rematch")
            second = {script.until("Match ").split()[1] for script in (dan, erin)}
            erin.type("surrender", "yes")
            for script in (dan, erin):
                script.until(AGAIN)
                script.type("quit")
            assert (dan.end(), erin.end()) == ((0, ""), (0, ""))

    assert len(first) == len(second) == 1
    assert first != second


def test_what_stops_waiting_for_a_quick_match_leaves_nobody_in_it(rig: Rig) -> None:
    words = ("--rule-set", "opolyx.classic@2", "--player", "fay")
    with rig.start("quick-match", *words) as process:
        assert process.stderr is not None
        waits = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, told = process.communicate()
    assert re.fullmatch(r"1 of 4 seats are taken; bots come in \d+ s\n", waits)
    assert (process.returncode, out, told) == (INTERRUPTED, "", "")
    # Free for something else.
    room = ask(rig, "fay", "rooms", "create")["room_id"]
    assert ask(rig, "fay", "rooms", "leave", room)["closed_why"] == "empty"


def test_a_quick_match_is_found_and_can_be_played(rig: Rig) -> None:
    found = rig.run("quick-match", "--rule-set", RULES, "--seats", "2", "--player", "gil")
    match = found.stdout.splitlines()[1].split()[0]
    [playing] = ask(rig, "gil", "matches", "--mine")
    over = rig.type("surrender\nyes\n", "--player", "gil")

    assert found.returncode == 0
    assert found.stderr.splitlines()[-1] == f"Into it: opolyx play --match {match} --player gil"
    assert (playing["match_id"], playing["outcome"]) == (match, "playing")
    assert over.returncode == 0
    assert [m["outcome"] for m in ask(rig, "gil", "matches", "--mine")] == ["lost"]


def test_rooms_and_profiles_are_followed(rig: Rig) -> None:
    with rig.start("rooms", "list", "--watch", "-o", "ndjson") as watching:
        room = ask(rig, "ida", "rooms", "create", "--bot-strength", "novice")["room_id"]
        ask(rig, "ida", "rooms", "add-bot", room, "--seat", "3")
        ask(rig, "ida", "rooms", "leave", room)
        changes = changes_of(watching, room)
    followed = rig.run("rooms", "show", room, "--watch", "-o", "ndjson")

    assert [change["change"] for change in changes][0 :: max(1, len(changes) - 1)] == [
        "opened",
        "gone",
    ]
    assert changes[-1]["room"] is None
    assert followed.returncode == 1
    assert [json.loads(line)["state"] for line in followed.stdout.splitlines()] == ["closed"]
    assert followed.stderr == "the room was closed\n"


def changes_of(watching: "subprocess.Popen[str]", room: str) -> list[Any]:
    """Return what is told of a room until it is gone, and end the command."""
    assert watching.stdout is not None
    seen = []
    for line in watching.stdout:
        change = json.loads(line)
        if change["room_id"] == room:
            seen.append(change)
        if seen and seen[-1]["change"] == "gone":
            break
    watching.send_signal(signal.SIGINT)
    assert watching.wait() == INTERRUPTED
    return seen
