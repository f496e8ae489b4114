import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.wire.limits import COMMANDS_WAITING_MAX
from services.match_engine.decide_stream import COMMANDS_MAX
from tests.chassis.answers import answer
from tests.match_engine.edge_rig import (
    NOW_MS,
    SILENT_MAX,
    Edge,
    EdgeStore,
    Open,
    Wire,
    a_command,
)
from tests.match_engine.frames import (
    seed,
    two_people,
)
from tests.support.waiting import until


class TestOrder:
    async def test_results_of_one_match_come_in_the_order_of_its_commands(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        store.hold("append")
        tags = []
        for n in range(COMMANDS_WAITING_MAX + 3):
            # What cannot be understood, or finds the queue full, is refused at once.
            more = {"command_id": "x"} if n % 5 == 4 else {}
            sent = seats.frame(0, seed(), **more)
            tags.append(sent.command.tag)
            await wire.send(sent)
        await until(store.called("append", 1))
        quiet = [await wire.read("pulse", "result") for _ in range(3)]
        store.let_go("append")
        results = [await wire.read("result") for _ in tags]

        assert {type(each).__name__ for each in quiet} == {"Pulse"}
        assert [result.tag for result in results] == tags
        assert results[0].HasField("accepted")
        assert results[4].refused.reason == Reason.INVALID_REQUEST

    async def test_a_slow_match_holds_up_no_other(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        slow, other, wire = await two_people(edge), await two_people(edge), await decide()
        store.hold("append")
        await wire.send(slow.frame(0, seed()))
        await until(store.called("append", 1))
        refused = other.frame(0, c.Roll(0))
        await wire.send(refused)
        first = await wire.read("result")
        store.let_go("append")

        assert first.tag == refused.command.tag
        assert (await wire.read("result")).HasField("accepted")

    async def test_nobody_waits_for_a_command_that_is_queued_too_long(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        store.hold("append")
        await wire.send(seats.frame(0, seed(), timeout_ms=100))
        await until(store.called("append", 1))
        await wire.send(seats.frame(1, seed(), timeout_ms=100))
        await wire.send(seats.frame(1, seed(), timeout_ms=60_000))
        await wire.read("pulse")
        await wire.read("pulse")
        edge.clock.advance(101)
        store.let_go("append")
        results = [await wire.read("result") for _ in range(3)]

        # The first was being committed by then, and that is never cut short.
        assert results[0].HasField("accepted")
        assert results[1].refused.reason == Reason.OVERLOADED
        assert results[1].refused.retry_after_ms > 0
        assert results[2].HasField("accepted")

    async def test_a_commit_goes_on_though_the_stream_breaks(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        command_id = a_command()
        store.hold("append")
        await wire.send(seats.frame(0, seed(), command_id=command_id))
        await until(store.called("append", 1))
        await wire.end()
        await until(lambda: not edge.streams._open)
        store.let_go("append")
        other = await decide()
        await other.send(seats.frame(0, seed(), command_id=command_id))

        assert (await other.read("result")).HasField("accepted")
        assert len(await edge.store.records(seats.match_id, 0)) == 2


class TestCredit:
    async def test_the_first_frame_grants_some(self, decide: Open) -> None:
        wire = await decide()

        assert (await wire.read("credit", "pulse")).more == COMMANDS_MAX

    async def test_more_commands_than_were_granted_end_the_stream(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        matches = [await two_people(edge) for _ in range(9)]
        wire = await decide()
        store.hold("append")
        for n in range(COMMANDS_MAX):
            await wire.send(matches[n % 9].frame(0, seed()))
        quiet = [await wire.read("pulse", "result") for _ in range(2)]
        await wire.send(matches[0].frame(0, seed()))
        got = await answer(wire.rest())
        store.let_go("append")

        assert {type(each).__name__ for each in quiet} == {"Pulse"}
        assert got.code is StatusCode.INVALID_ARGUMENT
        assert got.told is not None
        assert got.told.reason == Reason.INVALID_REQUEST

    async def test_each_result_gives_one_back(self, edge: Edge, decide: Open) -> None:
        seats, wire = await two_people(edge), await decide()
        for _ in range(COMMANDS_MAX + 20):
            await wire.send(seats.frame(0, c.Roll(0)))
            await wire.read("result")

    async def test_a_tag_of_an_unanswered_command_ends_the_stream(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        store.hold("append")
        for _ in range(2):
            await wire.send(seats.frame(0, seed(), tag=7))
        got = await answer(wire.rest())
        store.let_go("append")

        assert got.code is StatusCode.INVALID_ARGUMENT
        assert got.told is not None
        assert got.told.metadata == {"fields": "command.tag"}


class TestLife:
    async def test_each_pulse_tells_the_time(self, decide: Open) -> None:
        wire = await decide()

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
        while pulses < SILENT_MAX + 5:
            await wire.send(seats.frame(0, c.Roll(0)))
            pulses += type(await wire.read("pulse", "result")).__name__ == "Pulse"
        await wire.end()

    async def test_an_engine_that_stops_answers_what_it_has(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, other, wire = await two_people(edge), await two_people(edge), await decide()
        store.hold("append")
        await wire.send(seats.frame(0, seed()))
        await until(store.called("append", 1))
        edge.server.draining.set()
        leave = await wire.read("leave", "result")
        await wire.send(other.frame(0, seed()))
        late = await wire.read("result")
        store.let_go("append")
        result = await wire.read("result")
        got = await answer(wire.rest())

        assert leave.reason == Reason.GOING_AWAY
        assert late.refused.reason == Reason.GOING_AWAY
        assert result.HasField("accepted")
        assert got.code is StatusCode.UNAVAILABLE
        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY

    async def test_an_engine_without_its_lease_says_so(self, edge: Edge, decide: Open) -> None:
        wire = await decide()
        await wire.read("pulse")
        edge.streams.leave(Reason.NOT_OWNER_OF_SHARD)

        assert (await wire.read("leave")).reason == Reason.NOT_OWNER_OF_SHARD

    @pytest.mark.parametrize("service", ["lobby", "timer", "bot_runner", "progression"])
    async def test_it_is_for_the_gateway_alone(self, edge: Edge, service: str) -> None:
        got = await answer(Wire(edge.engine_as(service).Decide()).rest())

        assert got.code is StatusCode.PERMISSION_DENIED
        assert got.told is not None
        assert got.told.reason == Reason.NOT_ALLOWED
