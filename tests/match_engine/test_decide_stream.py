import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.clock import ManualClock
from libs.kernel.command_ids import bot_id
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.store.memory import Fault, MemoryMatchStore
from libs.wire.commands import message_of
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.caller_pb2 import Caller
from services.match_engine.decide_stream import COMMANDS_MAX
from services.match_engine.turns import QUEUE_MAX
from tests.chassis.answers import answer
from tests.match_engine.edge_rig import (
    NOW_MS,
    PULSE_S,
    Edge,
    Wire,
    a_bot,
    a_command,
    a_person,
    a_player,
    opened,
)
from tests.support.waiting import until

Open = Callable[[], Awaitable[Wire]]


class HeldStore(MemoryMatchStore):
    """A store whose appends can be held up, all of them or those of some matches."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, self._hold)
        self.may_append = asyncio.Event()
        self.may_append.set()
        self.appending = 0
        self.fault: Fault | None = None
        self.has_bug = False

    async def _hold(self, method: str) -> Fault | None:
        if method != "append":
            return None
        if self.has_bug:
            raise ZeroDivisionError
        self.appending += 1
        await self.may_append.wait()
        return self.fault


@pytest.fixture
def store() -> HeldStore:
    return HeldStore(ManualClock(NOW_MS))


@pytest.fixture
async def edge(tmp_path: Path, store: HeldStore) -> AsyncIterator[Edge]:
    async with opened(tmp_path, store) as edge:
        yield edge


@pytest.fixture
async def gateway(edge: Edge) -> AsyncIterator[Open]:
    """Open a Decide stream as the gateway does."""
    async with AsyncExitStack() as stack:

        async def begin() -> Wire:
            wire = Wire(edge.engine_as().Decide())
            stack.push_async_callback(wire.end)
            pulsing = asyncio.create_task(_pulse(wire))
            stack.callback(pulsing.cancel)
            return wire

        yield begin


async def _pulse(wire: Wire) -> None:
    """Give signs of life for as long as the stream is there."""
    while not wire.call.done():
        await asyncio.sleep(PULSE_S)
        await wire.send(pb.DecideRequest(pulse=pb.Pulse(server_time_ms=NOW_MS)))


_tags = count(1)


def frame(
    match_id: str, caller: Caller, command: c.SeatCommand | None, /, **more: Any
) -> pb.DecideRequest:
    values: dict[str, Any] = {
        "tag": next(_tags),
        "match_id": match_id,
        "command_id": a_command(),
        "caller": caller,
        "command": None if command is None else message_of(command),
        "timeout_ms": 60_000,
        **more,
    }
    return pb.DecideRequest(command=pb.DecideRequest.CommandFrame(**values))


class Seats:
    """A match of two people, and frames of theirs."""

    def __init__(self, match_id: MatchId, players: list[str]) -> None:
        self.match_id = match_id
        self._callers = [Caller(player_id=player) for player in players]

    def frame(self, seat: int, command: c.SeatCommand, /, **more: Any) -> pb.DecideRequest:
        return frame(self.match_id, self._callers[seat], command, **more)


async def two_people(edge: Edge) -> Seats:
    players: list[str] = [a_player(), a_player()]
    return Seats(await edge.create([a_person(player) for player in players]), players)


def seed(seat: int = 0) -> c.ContributeSeed:
    return c.ContributeSeed(seat, b"s" * 16)


class TestResults:
    async def test_an_accepted_command_is_durable_and_its_result_says_where(
        self, edge: Edge, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        sent = seats.frame(1, seed())
        await wire.send(sent)
        result = await wire.read("result")

        (stored,) = await edge.store.records(seats.match_id, result.accepted.first_sequence - 1)
        assert result.tag == sent.command.tag
        assert result.accepted.sequence == stored.last_seq
        assert result.accepted.chain_hash == stored.hash
        assert result.accepted.at_ms == NOW_MS
        assert b"seat:1" in stored.data

    async def test_the_same_again_has_the_same_result(self, edge: Edge, gateway: Open) -> None:
        seats, wire = await two_people(edge), await gateway()
        command_id = a_command()
        for _ in range(2):
            await wire.send(seats.frame(0, seed(), command_id=command_id))
        first, again = [await wire.read("result") for _ in range(2)]

        assert first.accepted == again.accepted
        assert first.tag != again.tag

    async def test_what_the_rules_refuse_is_told_with_its_facts(
        self, edge: Edge, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        await wire.send(seats.frame(0, seed()))
        await wire.send(seats.frame(0, seed()))
        await wire.send(seats.frame(0, c.Roll(0)))
        results = [await wire.read("result") for _ in range(3)]

        assert results[0].HasField("accepted")
        assert [result.refused.reason for result in results[1:]] == [
            Reason.SEED_TOO_LATE,
            Reason.MATCH_NOT_STARTED,
        ]
        assert results[1].refused.metadata["rule"] == "FAIR-1"
        assert not results[1].refused.HasField("retry_after_ms")

    async def test_a_stale_sequence_is_refused(self, edge: Edge, gateway: Open) -> None:
        seats, wire = await two_people(edge), await gateway()
        head = (await edge.decider.read(seats.match_id)).chain.last_seq
        await wire.send(seats.frame(0, seed(), expected_sequence=head - 1))
        await wire.send(seats.frame(0, seed(), expected_sequence=head))
        stale, good = [await wire.read("result") for _ in range(2)]

        assert stale.refused.reason == Reason.STALE_SEQUENCE
        assert good.HasField("accepted")

    @pytest.mark.parametrize(
        ("more", "fields"),
        [
            ({"match_id": "x"}, "match_id"),
            ({"match_id": "é"}, "match_id"),
            ({"command_id": ""}, "command_id"),
            ({"command_id": "0190a000-0000-5000-8000-000000000000"}, "command_id"),
            ({"command": None}, "command"),
            ({"expected_sequence": -1}, "expected_sequence"),
        ],
    )
    async def test_what_makes_no_sense_is_told_by_field_and_hurts_no_other(
        self, edge: Edge, gateway: Open, more: dict[str, Any], fields: str
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        await wire.send(seats.frame(0, seed(), **more))
        await wire.send(seats.frame(0, seed()))
        wrong, right = [await wire.read("result") for _ in range(2)]

        assert wrong.refused.reason == Reason.INVALID_REQUEST
        assert wrong.refused.metadata == {"fields": fields}
        assert [violation.field for violation in wrong.refused.violations] == [fields]
        assert right.HasField("accepted")

    async def test_who_has_no_seat_is_told(self, edge: Edge, gateway: Open) -> None:
        seats, wire = await two_people(edge), await gateway()
        callers = [
            Caller(player_id=a_player()),
            Caller(operator_id=a_player()),
            Caller(bot_seat=0),
            Caller(service="timer"),
            Caller(),
        ]
        for caller in callers:
            await wire.send(frame(seats.match_id, caller, seed()))
        results = [await wire.read("result") for _ in callers]

        assert {result.refused.reason for result in results} == {Reason.NOT_SEATED}

    async def test_a_bot_acts_once_under_an_id_of_its_own(self, edge: Edge, gateway: Open) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        live = await edge.decider.read(match_id)
        seat, head = live.match.turn, live.chain.last_seq
        wire = await gateway()
        for _ in range(2):
            sent = frame(
                match_id,
                Caller(bot_seat=seat),
                c.Roll(0),
                command_id=bot_id(match_id, head, seat),
                expected_sequence=head,
            )
            await wire.send(sent)
        first, again = [await wire.read("result") for _ in range(2)]

        assert first.accepted.first_sequence == head + 1
        assert again.accepted == first.accepted

    async def test_an_unknown_match_is_told(self, gateway: Open) -> None:
        wire = await gateway()
        await wire.send(frame("0190a000-0000-7000-8000-000000000000", Caller(bot_seat=0), seed()))

        assert (await wire.read("result")).refused.reason == Reason.MATCH_NOT_FOUND

    async def test_another_engines_match_is_told_with_when_to_try_again(
        self, edge: Edge, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        edge.is_ours = False
        await wire.send(seats.frame(0, seed()))
        refused = (await wire.read("result")).refused

        assert refused.reason == Reason.NOT_OWNER_OF_SHARD
        assert refused.retry_after_ms > 0

    async def test_a_store_that_is_away_is_told(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        store.fault = Fault.UNAVAILABLE
        await wire.send(seats.frame(0, seed()))

        assert (await wire.read("result")).refused.reason == Reason.STORE_UNAVAILABLE

    async def test_a_bug_is_told_as_one_and_hurts_no_other(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        store.has_bug = True
        await wire.send(seats.frame(0, seed()))
        broken = await wire.read("result")
        store.has_bug = False
        await wire.send(seats.frame(0, seed()))

        assert broken.refused.reason == "INTERNAL"
        assert "ZeroDivision" not in broken.refused.text
        assert (await wire.read("result")).HasField("accepted")


class TestOrder:
    async def test_results_of_one_match_come_in_the_order_of_its_commands(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        store.may_append.clear()
        tags = []
        for n in range(QUEUE_MAX + 3):
            # What cannot be understood, or finds the queue full, is refused at once.
            more = {"command_id": "x"} if n % 5 == 4 else {}
            sent = seats.frame(0, seed(), **more)
            tags.append(sent.command.tag)
            await wire.send(sent)
        await until(lambda: store.appending == 1)
        quiet = [await wire.read("pulse", "result") for _ in range(3)]
        store.may_append.set()
        results = [await wire.read("result") for _ in tags]

        assert {type(each).__name__ for each in quiet} == {"Pulse"}
        assert [result.tag for result in results] == tags
        assert results[0].HasField("accepted")
        assert results[4].refused.reason == Reason.INVALID_REQUEST

    async def test_a_slow_match_holds_up_no_other(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        slow, other, wire = await two_people(edge), await two_people(edge), await gateway()
        store.may_append.clear()
        await wire.send(slow.frame(0, seed()))
        await until(lambda: store.appending == 1)
        refused = other.frame(0, c.Roll(0))
        await wire.send(refused)
        first = await wire.read("result")
        store.may_append.set()

        assert first.tag == refused.command.tag
        assert (await wire.read("result")).HasField("accepted")

    async def test_nobody_waits_for_a_command_that_is_queued_too_long(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        store.may_append.clear()
        await wire.send(seats.frame(0, seed(), timeout_ms=100))
        await until(lambda: store.appending == 1)
        await wire.send(seats.frame(1, seed(), timeout_ms=100))
        await wire.send(seats.frame(1, seed(), timeout_ms=60_000))
        await wire.read("pulse")
        await wire.read("pulse")
        edge.clock.advance(101)
        store.may_append.set()
        results = [await wire.read("result") for _ in range(3)]

        # The first was being committed by then, and that is never cut short.
        assert results[0].HasField("accepted")
        assert results[1].refused.reason == Reason.OVERLOADED
        assert results[1].refused.retry_after_ms > 0
        assert results[2].HasField("accepted")

    async def test_a_commit_goes_on_though_the_stream_breaks(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        command_id = a_command()
        store.may_append.clear()
        await wire.send(seats.frame(0, seed(), command_id=command_id))
        await until(lambda: store.appending == 1)
        await wire.end()
        await until(lambda: not edge.streams._open)
        store.may_append.set()
        other = await gateway()
        await other.send(seats.frame(0, seed(), command_id=command_id))

        assert (await other.read("result")).HasField("accepted")
        assert len(await edge.store.records(seats.match_id, 0)) == 2


class TestCredit:
    async def test_the_first_frame_grants_some(self, gateway: Open) -> None:
        wire = await gateway()

        assert (await wire.read("credit", "pulse")).more == COMMANDS_MAX

    async def test_more_commands_than_were_granted_end_the_stream(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        matches = [await two_people(edge) for _ in range(9)]
        wire = await gateway()
        store.may_append.clear()
        for n in range(COMMANDS_MAX):
            await wire.send(matches[n % 9].frame(0, seed()))
        quiet = [await wire.read("pulse", "result") for _ in range(2)]
        await wire.send(matches[0].frame(0, seed()))
        got = await answer(wire.rest())
        store.may_append.set()

        assert {type(each).__name__ for each in quiet} == {"Pulse"}
        assert got.code is StatusCode.INVALID_ARGUMENT
        assert got.told is not None
        assert got.told.reason == Reason.INVALID_REQUEST

    async def test_each_result_gives_one_back(self, edge: Edge, gateway: Open) -> None:
        seats, wire = await two_people(edge), await gateway()
        for _ in range(COMMANDS_MAX + 20):
            await wire.send(seats.frame(0, c.Roll(0)))
            await wire.read("result")

    async def test_a_tag_of_an_unanswered_command_ends_the_stream(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, wire = await two_people(edge), await gateway()
        store.may_append.clear()
        for _ in range(2):
            await wire.send(seats.frame(0, seed(), tag=7))
        got = await answer(wire.rest())
        store.may_append.set()

        assert got.code is StatusCode.INVALID_ARGUMENT
        assert got.told is not None
        assert got.told.metadata == {"fields": "command.tag"}


class TestLife:
    async def test_each_pulse_tells_the_time(self, gateway: Open) -> None:
        wire = await gateway()

        assert (await wire.read("pulse")).server_time_ms == NOW_MS

    async def test_a_gateway_that_says_nothing_is_lost(self, edge: Edge) -> None:
        wire = Wire(edge.engine_as().Decide())
        got = await answer(wire.rest())

        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY

    async def test_who_gives_commands_alone_is_alive(self, edge: Edge) -> None:
        seats = await two_people(edge)
        wire = Wire(edge.engine_as().Decide())
        pulses = 0
        while pulses < 12:
            await wire.send(seats.frame(0, c.Roll(0)))
            pulses += type(await wire.read("pulse", "result")).__name__ == "Pulse"
        await wire.end()

    async def test_an_engine_that_stops_answers_what_it_has(
        self, edge: Edge, store: HeldStore, gateway: Open
    ) -> None:
        seats, other, wire = await two_people(edge), await two_people(edge), await gateway()
        store.may_append.clear()
        await wire.send(seats.frame(0, seed()))
        await until(lambda: store.appending == 1)
        edge.server.draining.set()
        leave = await wire.read("leave", "result")
        await wire.send(other.frame(0, seed()))
        late = await wire.read("result")
        store.may_append.set()
        result = await wire.read("result")
        got = await answer(wire.rest())

        assert leave.reason == Reason.GOING_AWAY
        assert late.refused.reason == Reason.GOING_AWAY
        assert result.HasField("accepted")
        assert got.code is StatusCode.UNAVAILABLE
        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY

    async def test_an_engine_without_its_lease_says_so(self, edge: Edge, gateway: Open) -> None:
        wire = await gateway()
        await wire.read("pulse")
        edge.streams.leave(Reason.NOT_OWNER_OF_SHARD)

        assert (await wire.read("leave")).reason == Reason.NOT_OWNER_OF_SHARD

    @pytest.mark.parametrize("service", ["lobby", "timer", "bot_runner", "progression"])
    async def test_it_is_for_the_gateway_alone(self, edge: Edge, service: str) -> None:
        got = await answer(Wire(edge.engine_as(service).Decide()).rest())

        assert got.code is StatusCode.PERMISSION_DENIED
        assert got.told is not None
        assert got.told.reason == Reason.NOT_ALLOWED
