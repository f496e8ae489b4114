"""Commands that are wrong change nothing and say why, as a call and on a stream alike.

Cited: W3-W6; TURN-1, AUC-1, BOARD-2, FAIR-1, SETUP-3, TRADE-1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pytest
from grpc import StatusCode

from libs.kernel.command_ids import fire_id
from libs.kernel.ids import MatchId
from libs.wire.chain import follow
from libs.wire.commands import message_of
from opolyx.match.v1 import command_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import event_pb2
from tests.e2e.giving import ROLL, Command, Given, Scene, give, of, submit, unchanged
from tests.e2e.rig import Refusal, Stage, Table, choice, refusal, refusal_in
from tests.support.calling import Client, new_id

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

FAILED: Final = StatusCode.FAILED_PRECONDITION
INVALID: Final = StatusCode.INVALID_ARGUMENT


@dataclass(frozen=True, slots=True)
class Case:
    """A command that is wrong: how it is refused, and what is given, by whom."""

    code: StatusCode
    told: Callable[[Scene], Refusal]
    given: Callable[[Scene], Given]
    by: Callable[[Scene], Client] = Scene.on_turn.__get__


def unclear(given: Callable[[Scene], Given], *fields: str) -> Case:
    """Return what cannot be understood, by these fields."""
    told = Refusal("INVALID_REQUEST", {"fields": ",".join(fields)}, fields)
    return Case(INVALID, lambda _: told, given)


def against(rule: str, reason: str, code: StatusCode, command: Command, **facts: str) -> Case:
    """Return what a rule refuses, with these facts."""
    told = Refusal(reason, {"rule": rule, **facts})
    return Case(code, lambda _: told, lambda _: of(command))


def nonsense(rule: str, command: Command, field: str, **facts: str) -> Case:
    """Return what only the rules know to be none, by this field of the command."""
    path = f"command.{command.WhichOneof('command')}.{field}"
    told = Refusal("INVALID_REQUEST", {"rule": rule, **facts}, (path,))
    return Case(INVALID, lambda _: told, lambda _: of(command))


def trade(to: int, cash: int) -> Command:
    give = event_pb2.Side(cash=cash)
    return Command(offer_trade=command_pb2.OfferTrade(to=to, give=give))


def stale(expected: int, head: int) -> Refusal:
    return Refusal("STALE_SEQUENCE", {"expected": str(expected), "head": str(head)})


CASES: Final = {
    "out of turn": Case(
        FAILED,
        lambda scene: Refusal("NOT_YOUR_TURN", {"rule": "TURN-1", "turn": str(scene.turn)}),
        lambda _: of(ROLL),
        Scene.off_turn.__get__,
    ),
    "of another phase": against(
        "AUC-1", "WRONG_PHASE", FAILED, Command(bid=command_pb2.Bid()), phase="roll"
    ),
    "on no square": against(
        "BOARD-2",
        "NOT_A_PROPERTY",
        FAILED,
        Command(build=command_pb2.Build(square=-7)),
        square="-7",
    ),
    "a late seed": against(
        "FAIR-1",
        "SEED_TOO_LATE",
        FAILED,
        Command(contribute_seed=command_pb2.ContributeSeed(client_seed=bytes(16))),
        phase="roll",
    ),
    "on no offer": against(
        "TRADE-1",
        "OFFER_NOT_FOUND",
        StatusCode.NOT_FOUND,
        Command(accept_trade=command_pb2.AcceptTrade(offer=1)),
        offer="1",
    ),
    "to nobody": nonsense("TRADE-1", trade(7, 5), "to", to="7"),
    "for less than nothing": nonsense("TRADE-1", trade(0, -5), "give.cash", give_cash="-5"),
    "meant for before": Case(
        StatusCode.ABORTED,
        lambda scene: stale(scene.head.sequence - 1, scene.head.sequence),
        lambda scene: of(ROLL, expected_sequence=scene.head.sequence - 1),
    ),
    "meant for later": Case(
        StatusCode.ABORTED,
        lambda scene: stale(scene.head.sequence + 1, scene.head.sequence),
        lambda scene: of(ROLL, expected_sequence=scene.head.sequence + 1),
    ),
    "meant for never": unclear(lambda _: of(ROLL, expected_sequence=-(2**63)), "expected_sequence"),
    "of nothing": unclear(lambda _: of(Command()), "command"),
    "without its square": unclear(
        lambda _: of(Command(build=command_pb2.Build())), "command.build.square"
    ),
    "without an id": unclear(lambda _: of(ROLL, command_id=""), "command_id"),
    "under an id in capitals": unclear(
        lambda _: of(ROLL, command_id=new_id().upper()), "command_id"
    ),
    "under the id of a deadline": unclear(
        lambda scene: of(ROLL, command_id=fire_id(MatchId(scene.table.match_id), "roll:0:1")),
        "command_id",
    ),
    "that is wrong twice": unclear(
        lambda _: of(ROLL, command_id="mine", expected_sequence=-1), "command_id"
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_wrong_command_says_why_as_a_call_and_on_a_stream(scene: Scene, name: str) -> None:
    """W4."""
    case = CASES[name]
    person, given, told = case.by(scene), case.given(scene), case.told(scene)
    async with unchanged(scene):
        called = await refusal(submit(person, scene.table.match_id, given), case.code)
        stream = await person.play(scene.table.match_id)
        streamed = await give(stream, given)

        assert called == told
        assert refusal_in(streamed.refused) == told


async def test_the_same_again_has_the_same_reply_for_ever(scene: Scene) -> None:
    """W3."""
    match_id, given = scene.table.match_id, of(ROLL, expected_sequence=scene.head.sequence)
    first = await submit(scene.on_turn, match_id, given)
    head = await scene.table.head()
    streamed = await give(await scene.on_turn.play(match_id), given)
    without = await submit(scene.on_turn, match_id, of(ROLL, command_id=given.command_id))

    assert streamed.accepted == without == first
    assert await scene.table.head() == head
    await scene.off_turn.submit(match_id, "surrender")
    assert await submit(scene.on_turn, match_id, given) == first


@pytest.mark.parametrize("command", [Command(buy=command_pb2.Buy()), ROLL], ids=["other", "same"])
async def test_an_id_is_good_for_one_command_of_one_seat(scene: Scene, command: Command) -> None:
    """W3."""
    match_id, given = scene.table.match_id, of(ROLL)
    await submit(scene.on_turn, match_id, given)
    head = await scene.table.head()
    person = scene.off_turn if command == ROLL else scene.on_turn
    again = of(command, command_id=given.command_id)
    called = await refusal(submit(person, match_id, again), INVALID)
    streamed = await give(await person.play(match_id), again)

    assert called == refusal_in(streamed.refused)
    assert called == Refusal("COMMAND_ID_REUSED", {"command_id": given.command_id})
    assert await scene.table.head() == head


async def test_what_was_refused_is_decided_anew(scene: Scene) -> None:
    """W3."""
    match_id, command_id = scene.table.match_id, new_id()
    early = of(ROLL, command_id=command_id, expected_sequence=1)
    await refusal(submit(scene.on_turn, match_id, early), StatusCode.ABORTED)
    accepted = await submit(scene.on_turn, match_id, of(ROLL, command_id=command_id))

    assert accepted.first_sequence == scene.head.sequence + 1


async def test_a_command_that_is_sent_twice_at_once_happens_once(scene: Scene) -> None:
    """W3, W6."""
    match_id, given = scene.table.match_id, of(ROLL)
    replies = await asyncio.gather(*(submit(scene.on_turn, match_id, given) for _ in range(8)))
    records = await scene.table.records()

    assert {reply.SerializeToString() for reply in replies} == {replies[0].SerializeToString()}
    assert records[-1].first_seq == scene.head.sequence + 1
    assert (records[-1].last_seq, records[-1].hash) == (replies[0].sequence, replies[0].chain_hash)


async def test_whoever_goes_away_in_the_middle_finds_the_command_done_once(table: Table) -> None:
    """W3, W5."""
    for number in range(20):
        match = await table.state()
        seat = match.pending_seats()[0]
        person = table.people[seat]
        request = pb.SubmitCommandRequest(
            match_id=table.match_id,
            command_id=new_id(),
            command=message_of(choice(match, seat)),
            expected_sequence=match.sequence,
        )
        call = person.match.SubmitCommand(request, metadata=person.metadata, timeout=10)
        # Nowhere, on the way, at the engine, in the commit, on the way back.
        with suppress(TimeoutError):
            async with asyncio.timeout(number * 0.0005):
                await asyncio.shield(call)
        call.cancel()
        reply = await person.call(person.match.SubmitCommand, request)
        [record] = [r for r in follow(await table.records()) if r.first_seq > match.sequence]

        assert (record.command_id, record.last_seq) == (request.command_id, reply.sequence)


async def test_before_the_start_there_is_nothing_but_seeds(stage: Stage) -> None:
    """SETUP-3."""
    table = await stage.new_table()
    scene = Scene(table, 0, await table.head())
    async with unchanged(scene):
        called = await refusal(submit(scene.on_turn, table.match_id, of(ROLL)), FAILED)
        streamed = await give(await scene.on_turn.play(table.match_id), of(ROLL))

        assert called == refusal_in(streamed.refused)
        assert (called.reason, called.metadata["rule"]) == ("MATCH_NOT_STARTED", "SETUP-3")


async def test_who_is_out_and_what_is_over_takes_no_commands(stage: Stage) -> None:
    table = await stage.table(3)
    ann, bob, cem = table.people
    await cem.submit(table.match_id, "surrender")
    out = await refusal(submit(cem, table.match_id, of(ROLL)), FAILED)
    await bob.submit(table.match_id, "surrender")
    over = await refusal(submit(ann, table.match_id, of(ROLL)), FAILED)

    assert (out.reason, over.reason) == ("SEAT_IS_OUT", "MATCH_ENDED")
    assert "rule" in out.metadata
    assert "rule" in over.metadata
