import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from opolyx.engine.v1 import engine_service_pb2 as pb
from tests.chassis.answers import answer
from tests.match_engine.edge_rig import (
    NOW_MS,
    TWO_BOTS,
    Edge,
    Open,
    Wire,
)
from tests.match_engine.frames import (
    attendance,
    grant,
    start,
    stop,
)
from tests.support.waiting import until


class TestLife:
    async def test_each_pulse_tells_the_time_and_the_heads_that_have_moved(
        self, edge: Edge, follow: Open
    ) -> None:
        moved, still = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        wire = await follow()
        for match_id in (moved, still):
            await wire.send(start(match_id))
            await wire.read("started")
        first = await wire.read("heads")
        await edge.play(moved, 1)
        head = await edge.head_of(moved)
        beats = [await wire.read("heads") for _ in range(4)]

        told = [(each.match_id, each.sequence) for beat in beats for each in beat.heads]
        assert not first.heads
        assert first.server_time_ms == NOW_MS
        assert told == [(moved, head)]

    async def test_no_head_is_told_of_before_its_record_was_sent(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow(0)
        await wire.send(start(match_id, await edge.head_of(match_id)))
        await wire.read("started")
        await edge.play(match_id, 1)
        before = [await wire.read("heads") for _ in range(3)]
        await wire.send(grant(1))
        await wire.read("record")
        after = [await wire.read("heads") for _ in range(2)]

        assert not [each for beat in before for each in beat.heads]
        assert [each.match_id for beat in after for each in beat.heads] == [match_id]

    async def test_a_gateway_that_says_nothing_is_lost(self, edge: Edge) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = Wire(edge.engine_as().Follow())
        await wire.send(start(match_id))
        got = await answer(wire.rest())

        assert got.code is StatusCode.UNAVAILABLE
        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY
        assert match_id not in edge.pushes._followers

    async def test_a_frame_that_is_newer_than_we_are_is_a_sign_of_life(self, follow: Open) -> None:
        wire = await follow()
        await wire.send(pb.FollowRequest())

        assert (await wire.read("heads")).server_time_ms == NOW_MS

    async def test_an_engine_that_stops_says_so_first(self, edge: Edge, follow: Open) -> None:
        wire = await follow()
        await wire.send(start(await edge.create(TWO_BOTS)))
        await wire.read("record")
        edge.server.draining.set()
        leave = await wire.read("leave")
        got = await answer(wire.rest())

        assert leave.reason == Reason.GOING_AWAY
        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY

    async def test_an_engine_without_its_lease_says_so(self, edge: Edge, follow: Open) -> None:
        wire = await follow()
        await wire.read("heads")
        edge.streams.leave(Reason.NOT_OWNER_OF_SHARD)

        assert (await wire.read("leave")).reason == Reason.NOT_OWNER_OF_SHARD

    async def test_a_stream_that_the_gateway_ends_leaves_nothing_behind(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow()
        await wire.send(start(match_id))
        await wire.send(attendance(match_id, [0]))
        await wire.read("record")
        await until(lambda: bool(edge.pushes._attendance))
        await wire.end()
        await until(lambda: not edge.pushes._followers)

        assert not edge.pushes._attendance

    @pytest.mark.parametrize("service", ["lobby", "timer", "bot_runner", "progression"])
    async def test_it_is_for_the_gateway_alone(self, edge: Edge, service: str) -> None:
        got = await answer(Wire(edge.engine_as(service).Follow()).rest())

        assert got.code is StatusCode.PERMISSION_DENIED
        assert got.told is not None
        assert got.told.reason == Reason.NOT_ALLOWED


class TestAttendance:
    async def test_it_is_told_through_all_gateways(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        one, two = await follow(), await follow()
        for wire in (one, two):
            await wire.send(start(match_id))
            nobody = await wire.read("attendance")
            assert (list(nobody.seats), nobody.spectators) == ([], 0)
        await one.send(attendance(match_id, [3, 1], 2))
        first = [await wire.read("attendance") for wire in (one, two)]
        await two.send(attendance(match_id, [1, 0], 5))
        second = [await wire.read("attendance") for wire in (one, two)]
        await one.send(attendance(match_id, [], 0))
        third = [await wire.read("attendance") for wire in (one, two)]

        assert [(list(each.seats), each.spectators) for each in first] == [([1, 3], 2)] * 2
        assert [(list(each.seats), each.spectators) for each in second] == [([0, 1, 3], 7)] * 2
        assert [(list(each.seats), each.spectators) for each in third] == [([0, 1], 5)] * 2

    async def test_who_comes_later_is_told_who_is_there(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        one, two = await follow(), await follow()
        await one.send(start(match_id))
        await one.send(attendance(match_id, [1]))
        await until(lambda: bool(edge.pushes._attendance))
        await two.send(start(match_id))
        present = await two.read("attendance")

        assert (list(present.seats), present.spectators) == ([1], 0)

    @pytest.mark.parametrize("how", ["stops following", "goes"])
    async def test_who_was_there_by_a_gateway_goes_with_it(
        self, edge: Edge, follow: Open, how: str
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        one, two = await follow(), await follow()
        for wire in (one, two):
            await wire.send(start(match_id))
            await wire.read("attendance")
        await one.send(attendance(match_id, [0], 1))
        await two.read("attendance")
        if how == "goes":
            await one.end()
        else:
            await one.send(stop(match_id))
        gone = await two.read("attendance")

        assert (list(gone.seats), gone.spectators) == ([], 0)

    async def test_it_needs_no_credit_and_the_same_is_not_told_twice(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow(0)
        await wire.send(start(match_id))
        await wire.read("attendance")
        for seats in ([0], [0], [0, 1]):
            await wire.send(attendance(match_id, seats))
        told = [list((await wire.read("attendance")).seats) for _ in range(2)]

        assert told == [[0], [0, 1]] or told[0] == [0, 1]
