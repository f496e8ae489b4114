"""A bot of one's own against a whole system: the same tests on memory, and on PostgreSQL.

`--opolyx-store` says which of them; `test_runs` runs this module on the other one too.
"""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import pytest

from libs.bots.strengths import STRENGTHS
from libs.client import Client, RefusedError
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import GRACE_MS, next_deadline
from libs.rules.legal import LegalCommands
from libs.rules.state import describe
from libs.rules.views import View
from libs.scenarios.commands import command_of
from libs.scenarios.files import read_file
from libs.scenarios.running import run
from libs.scenarios.scenario import Act
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from services.testkit.clock import START_MS, VirtualClock
from services.testkit.dice import Dice
from services.testkit.errors import NotInThisStackError
from services.testkit.matches import MatchFactory, StagedMatch
from services.testkit.seats import Bot
from services.testkit.stack import Stack
from tests.support.repository import ROOT

NO_ROOM: Final = "0190a000-0000-7000-8000-000000000000"

RICH: Final[dict[str, Any]] = {
    "id": "rich",
    "rule_set": "opolyx.classic@2",
    "seats": 2,
    "setup": {"round": 7, "turn": 0, "seats": [{}, {"cash": 12_345}]},
    "draws": {"dice": [[1, 2]]},
    "steps": [],
}
"""A scenario of which the set-up alone matters."""


async def play_steadily(client: Client, match_id: str, seat: int) -> None:
    """Play a seat to the end of its match, as a bot of one's own would."""
    async with client.play(match_id) as table:
        view, legal = View(table.match, seat), LegalCommands(table.match, seat)
        async for _ in table:
            is_mine = not table.has_waiting and seat in table.match.pending_seats()
            command = STRENGTHS["steady"](view, legal) if is_mine else None
            if command is not None:
                await table.submit(command)


async def play_on(match: StagedMatch) -> None:
    """Have whoever must decide do what is listed first; nobody bids."""
    state = await match.state()
    seat = state.pending_seats()[0]
    first = c.Pass(seat) if state.phase == phases.AUCTION else (await match.legal(seat))[0].command
    await match.play(seat, first)


async def test_a_bot_of_ones_own_plays_a_match_to_its_end(match_factory: MatchFactory) -> None:
    match = await match_factory("opolyx.speed@2", ["ada", Bot("novice")])

    await play_steadily(match.clients[0], match.match_id, 0)

    state = await match.state()
    assert state.phase == phases.ENDED
    assert state.winners
    assert {record.first_seq for record in await match.records()}


async def test_a_person_is_the_same_by_name_wherever_they_are(
    opolyx_stack: Stack, match_factory: MatchFactory
) -> None:
    match = await match_factory(seats=["ada", "bob"])
    created = (await match.events())[0]

    assert isinstance(created, e.MatchCreated)
    assert [spec.player for spec in created.seats] == [
        await opolyx_stack.player_id(name) for name in ("ada", "bob")
    ]


async def test_what_is_refused_is_told_by_its_reason(match_factory: MatchFactory) -> None:
    match = await match_factory(seats=["ada", "bob"], dice=Dice(first=1))

    with pytest.raises(RefusedError) as refusal:
        await match.play(0, c.Roll(0))

    assert refusal.value.reason == "NOT_YOUR_TURN"
    assert (await match.legal(1))[0].command == c.Roll(1)


async def test_scripted_dice_send_a_seat_to_jail(
    match_factory: MatchFactory, scripted_dice: type[Dice]
) -> None:
    dice = scripted_dice(first=1, roll=[(1, 1), (2, 2)]).then(roll=[(6, 6)])
    match = await match_factory(seats=["ada", "bob"], dice=dice)

    while not (await match.state()).in_jail[1]:
        await play_on(match)

    rolls = [event for event in await match.events() if isinstance(event, e.DiceRolled)]
    assert [(roll.seat, roll.white_1, roll.white_2) for roll in rolls] == [
        (1, 1, 1),
        (1, 2, 2),
        (1, 6, 6),
    ]
    assert dice.left == 0


async def test_past_its_script_a_match_goes_on_by_its_seed(match_factory: MatchFactory) -> None:
    match = await match_factory(seats=["ada", "bob"], dice=Dice(first=0, roll=[(1, 2)]))

    while (await match.state()).round < 2:
        await play_on(match)

    assert sum(isinstance(event, e.DiceRolled) for event in await match.events()) > 1


async def test_a_decision_that_is_not_made_is_made_when_its_time_is_over(
    match_factory: MatchFactory, virtual_clock: VirtualClock
) -> None:
    """CLOCK-1, CLOCK-2."""
    match = await match_factory(seats=["ada", "bob"], dice=Dice(first=0))
    deadline = next_deadline(await match.state())
    assert deadline is not None
    left_ms = deadline.due + GRACE_MS - virtual_clock.now_ms()

    await virtual_clock.advance(ms=left_ms - 1)
    assert (await match.state()).deadline == deadline
    await virtual_clock.advance(ms=1)

    missed = [event for event in await match.events() if isinstance(event, e.DecisionTimedOut)]
    assert missed == [e.DecisionTimedOut(0, phases.ROLL, GRACE_MS)]
    assert virtual_clock.now_ms() == START_MS + left_ms


async def test_in_ten_minutes_whoever_never_plays_is_surrendered(
    match_factory: MatchFactory, virtual_clock: VirtualClock
) -> None:
    """CLOCK-3."""
    match = await match_factory(seats=["ada", "bob"], dice=Dice(first=0))

    await virtual_clock.advance(minutes=10)

    events = await match.events()
    left = [event for event in events if isinstance(event, e.SeatSurrendered)]
    assert [(event.seat, event.forced) for event in left] == [(0, True)]
    assert (await match.state()).winners == (1,)
    assert {event.lateness for event in events if isinstance(event, e.DecisionTimedOut)} == {
        GRACE_MS
    }


async def test_bots_have_done_their_thinking_before_time_passes(
    match_factory: MatchFactory, virtual_clock: VirtualClock
) -> None:
    match = await match_factory(seats=["ada", Bot("steady")], dice=Dice(first=1))

    await virtual_clock.advance(minutes=5)

    missed = [event for event in await match.events() if isinstance(event, e.DecisionTimedOut)]
    assert {event.seat for event in missed} == {0}


@pytest.mark.parametrize(
    "name",
    [
        "a-jackpot-bet-on-one-number-pays-6-times-the-stake-or-loses-it",
        "an-x-of-an-earlier-roll-jumps-after-the-further-roll",
        "jail-in-revision-2-bail-after-the-roll-moves-by-that-roll",
        "mortgaging-pays-half-and-redeeming-costs-a-tenth-more",
    ],
)
async def test_a_scenario_leads_to_the_same_in_a_whole_system(
    match_factory: MatchFactory, virtual_clock: VirtualClock, name: str
) -> None:
    path = ROOT / "tests" / "rules" / "scenarios" / f"{name}.json"
    scenario = read_file(path)
    people = ["ada", "bob", "cyd", "dan"][: scenario.seats]
    match = await match_factory(seats=people, scenario=path)

    for step in scenario.steps:
        if isinstance(step, Act) and step.refused is None:
            await match.play(step.seat, command_of(step.seat, step.name, step.fields))

    state = describe(await match.state(), virtual_clock.now_ms())
    assert state == run(scenario).state


async def test_a_match_that_begins_in_the_midst_goes_on_with_its_bots_and_its_clock(
    match_factory: MatchFactory, virtual_clock: VirtualClock, tmp_path: Path
) -> None:
    path = tmp_path / "rich.json"
    path.write_text(json.dumps(RICH), encoding="utf-8")
    match = await match_factory(seats=[Bot("steady"), "bob"], scenario=path)

    await virtual_clock.advance(minutes=1)

    state, events = await match.state(), await match.events()
    assert state.cash[1] == 12_345
    assert state.round == 7
    assert [event.seat for event in events if isinstance(event, e.DiceRolled)][:1] == [0]


async def test_what_a_stack_lacks_is_said_and_what_it_has_is_there(opolyx_stack: Stack) -> None:
    client = opolyx_stack.client("ada")
    request = lobby_pb.GetRoomRequest(room_id=NO_ROOM)

    with pytest.raises(RefusedError) as refusal:
        await client.call(client.lobby.GetRoom, request)

    on_memory = opolyx_stack.store == "memory"
    assert refusal.value.reason == ("NOT_IN_THIS_STACK" if on_memory else "ROOM_NOT_FOUND")
    with pytest.raises(NotInThisStackError) if on_memory else nullcontext():
        opolyx_stack.require("lobby")
    opolyx_stack.require("match_engine")
