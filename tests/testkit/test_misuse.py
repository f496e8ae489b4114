"""Whoever asks for what cannot be is told at once, and told what can."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import pytest

from libs.rules import commands as c
from libs.rules.clocks import GRACE_MS
from libs.rules.events import DecisionTimedOut
from services.match_engine.arming import Arming
from services.testkit import clock as clock_module
from services.testkit.clock import VirtualClock
from services.testkit.dice import Dice
from services.testkit.errors import ClockStuckError, KitError, MisuseError
from services.testkit.matches import MatchFactory
from services.testkit.seats import Bot
from services.testkit.stack import Stack, running_stack
from services.testkit.watching import Watcher

POOR: Final = """
{
    "id": "x", "rule_set": "opolyx.classic@2", "seats": 2, "steps": [],
    "setup": {"seats": [{"cash": -1}]}
}
"""


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"rule_set": "chess", "seats": ["ada", "bob"]}, "no rule set is called 'chess'"),
        ({"seats": ["ada"]}, "seats, not 1"),
        ({"seats": "ada"}, "seats is a list"),
        ({"seats": ["ada", "ada"]}, "'ada' has two seats"),
        ({"seats": ["ada", ""]}, "a person's name or a Bot, not ''"),
        ({"seats": ["ada", 7]}, "a person's name or a Bot, not 7"),
        ({"seats": ["ada", "bob"], "dice": Dice(first=2)}, "seat 2 cannot be first of 2"),
        ({"seats": ["ada", "bob"], "dice": Dice(third=["bus"])}, "rolls no third die"),
        (
            {"rule_set": "opolyx.classic@1", "seats": ["ada", "bob"], "dice": Dice(jackpot=[6])},
            "has no jackpot die",
        ),
        ({"seats": ["ada", "bob"], "scenario": "nowhere.json"}, "nowhere.json is no scenario"),
    ],
)
async def test_a_match_that_cannot_be_is_not_made(
    match_factory: MatchFactory, asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(MisuseError, match=told):
        await match_factory(**asked)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "x", "rule_set": "opolyx.classic@2", "seats": 3, "steps": []}', "has 3 seats"),
        (POOR, "no match could stand so: setup.seats.0.cash"),
        ("{", "is no scenario"),
    ],
)
async def test_a_situation_that_cannot_be_is_not_begun(
    match_factory: MatchFactory, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "it.json").write_text(text, encoding="utf-8")

    with pytest.raises(MisuseError, match=told):
        await match_factory(seats=["ada", "bob"], scenario=tmp_path / "it.json")


async def test_a_scenario_keeps_its_rule_set(match_factory: MatchFactory, tmp_path: Path) -> None:
    text = '{"id": "x", "rule_set": "opolyx.classic@2", "seats": 2, "steps": []}'
    (tmp_path / "it.json").write_text(text, encoding="utf-8")

    with pytest.raises(MisuseError, match=r"is of opolyx.classic@2, not of opolyx.speed@2"):
        await match_factory("opolyx.speed@2", ["ada", "bob"], scenario=tmp_path / "it.json")


async def test_a_seat_is_played_by_its_own_and_by_nobody_else(match_factory: MatchFactory) -> None:
    match = await match_factory(seats=["ada", Bot()], dice=Dice(first=0))

    for asked, told in (
        (match.play(1, c.Roll(1)), "seat 1 is a bot's"),
        (match.legal(1), "seat 1 is a bot's"),
        (match.play(2, c.Roll(2)), "seat 2 is not there"),
        (match.play(0, c.Roll(1)), "is of seat 1, not of seat 0"),
        (match.play(0, cast("c.Roll", "roll")), "a command is such as"),
    ):
        with pytest.raises(MisuseError, match=told):
            await asked


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (lambda: Dice(first=-1), "first is a seat"),
        (lambda: Dice(roll=[(0, 1)]), "a die shows 1 to 6, not 0"),
        (lambda: Dice(roll=[(1, 7)]), "a die shows 1 to 6, not 7"),
        (lambda: Dice(roll=[(1, True)]), "a die shows 1 to 6, not True"),
        (lambda: Dice(roll=cast("Any", [(1,)])), "a roll is two white dice"),
        (lambda: Dice(roll=cast("Any", [3])), "a roll is two white dice"),
        (lambda: Dice(third=[4]), "the third die shows"),
        (lambda: Dice(jackpot=[0]), "the jackpot die shows 1 to 6"),
        (lambda: Bot("deep blue"), "no bot is called 'deep blue'; there are novice"),
    ],
)
def test_dice_and_bots_are_those_that_there_are(script: Callable[[], object], told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        script()


def test_what_is_added_wrongly_adds_nothing() -> None:
    dice = Dice(roll=[(1, 2)])

    with pytest.raises(MisuseError):
        dice.then(roll=[(3, 4)], jackpot=[9])

    assert dice.left == 1


@pytest.mark.parametrize("by", [{}, {"minutes": 0}, {"seconds": -1}, {"minutes": 1, "ms": -60_000}])
async def test_time_only_passes_forwards(virtual_clock: VirtualClock, by: dict[str, int]) -> None:
    before = virtual_clock.now_ms()

    with pytest.raises(MisuseError, match="time passes forwards"):
        await virtual_clock.advance(**by)

    assert virtual_clock.now_ms() == before


async def test_the_machines_clock_is_not_moved(opolyx_stack: Stack) -> None:
    with pytest.raises(MisuseError, match="name virtual_clock as well"):
        _ = opolyx_stack.clock


async def test_a_stack_knows_its_services_and_roles(opolyx_stack: Stack) -> None:
    with pytest.raises(MisuseError, match="no service is called 'chat'; there are timer"):
        opolyx_stack.require("chat")
    with pytest.raises(MisuseError, match="a role is operator or spectator, not 'king'"):
        opolyx_stack.client("ada", "king")


async def test_another_event_loop_is_no_place_for_a_stack(
    opolyx_stack: Stack, virtual_clock: VirtualClock
) -> None:
    async def use() -> None:
        for asked in (opolyx_stack.check_loop, lambda: opolyx_stack.client("ada")):
            with pytest.raises(MisuseError, match="another event loop"):
                asked()
        with pytest.raises(MisuseError, match="another event loop"):
            await virtual_clock.advance(seconds=1)

    await asyncio.to_thread(asyncio.run, use())


async def test_a_timer_that_is_told_late_fires_in_time_all_the_same(
    match_factory: MatchFactory, virtual_clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Arming, "tell", lambda *_: None)
    match = await match_factory(seats=["ada", "bob"], dice=Dice(first=0))

    await virtual_clock.advance(minutes=2)

    missed = [event for event in await match.events() if isinstance(event, DecisionTimedOut)]
    assert [event.lateness for event in missed] == [GRACE_MS]


async def test_what_is_due_and_does_not_happen_is_named(
    match_factory: MatchFactory, virtual_clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = await match_factory(seats=["ada", "bob"], dice=Dice(first=0))
    # As it would be if what happens never came to be known.
    monkeypatch.setattr(clock_module, "PATIENCE_S", 0.01)
    monkeypatch.setattr(clock_module, "TELLINGS", 1)
    monkeypatch.setattr(Watcher, "see", lambda *_: None)

    with pytest.raises(ClockStuckError, match=rf"roll:0:\d+ of match {match.match_id} is due"):
        await virtual_clock.advance(minutes=2)


async def test_a_stack_that_cannot_start_says_why() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KitError, match="did not start") as failed:
            async with running_stack(settings=[f"OPOLYX_GATEWAY__PORT={port}"]):
                pass

    assert f"cannot listen on 127.0.0.1:{port}" in str(failed.value)
