from libs.kernel.reasons import Reason
from opolyx.engine.v1 import engine_service_pb2 as pb
from services.match_engine.catching_up import PAGE
from services.match_engine.live import RECENT_MAX
from tests.match_engine.edge_rig import (
    TWO_BOTS,
    Edge,
    EdgeStore,
    Open,
)
from tests.match_engine.frames import (
    grant,
    records_to,
    start,
    stop,
    stored_of,
)
from tests.support.waiting import until


class TestEnding:
    async def test_the_last_record_is_marked_and_then_it_is_over(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow()
        await wire.send(start(match_id))
        first = await wire.read("record")
        await edge.play(match_id, 1)
        second = await wire.read("record")
        await edge.play_to_the_end(match_id)
        last = await wire.read("record")
        stopped = await wire.read("stopped")

        assert [first.last, second.last, last.last] == [False, False, True]
        assert stopped.match_id == match_id
        assert stopped.refused.reason == Reason.MATCH_ENDED

    async def test_a_match_that_is_over_is_told_to_its_end(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + PAGE)
        await edge.play_to_the_end(match_id)
        wire = await follow()
        await wire.send(start(match_id))
        started = await wire.read("started")
        frames = [await wire.read("record", "stopped")]
        while isinstance(frames[-1], pb.FollowResponse.RecordFrame):
            frames.append(await wire.read("record", "stopped"))

        assert started.ended
        assert [stored_of(frame) for frame in frames[:-1]] == await edge.store.records(match_id, 0)
        assert [frame.last for frame in frames[:-1]] == [False] * (len(frames) - 2) + [True]
        assert frames[-1].refused.reason == Reason.MATCH_ENDED

    async def test_at_the_head_of_a_match_that_is_over_there_is_nothing(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play_to_the_end(match_id)
        wire = await follow()
        await wire.send(start(match_id, await edge.head_of(match_id)))
        started = await wire.read("started")
        stopped = await wire.read("stopped", "record")

        assert started.ended
        assert stopped.refused.reason == Reason.MATCH_ENDED

    async def test_the_end_waits_for_the_last_record_that_waits_for_credit(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow(0)
        await wire.send(start(match_id, await edge.head_of(match_id)))
        await wire.read("started")
        await edge.play_to_the_end(match_id)
        quiet = [await wire.read("stopped", "heads") for _ in range(3)]
        await wire.send(grant(1))

        assert {type(frame).__name__ for frame in quiet} == {"Heads"}
        assert (await wire.read("record", "stopped")).last
        assert (await wire.read("stopped")).refused.reason == Reason.MATCH_ENDED

    async def test_what_is_stopped_is_followed_no_longer(self, edge: Edge, follow: Open) -> None:
        match_id, other = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        wire = await follow()
        await wire.send(start(match_id, await edge.head_of(match_id)))
        await wire.read("started")
        await wire.send(stop(match_id))
        await wire.send(start(other))
        await wire.read("record")
        await edge.play(match_id, 1)
        await edge.play(other, 1)

        assert (await wire.read("record")).match_id == other
        assert match_id not in edge.pushes._followers

    async def test_a_match_that_is_dropped_is_told_without_waiting_for_credit(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow(0)
        await wire.send(start(match_id))
        await wire.read("started")
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        stopped = await wire.read("stopped")

        assert stopped.refused.reason == Reason.NOT_OWNER_OF_SHARD
        assert match_id not in edge.pushes._followers

    async def test_a_match_that_is_dropped_while_it_is_caught_up_with_is_told(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + PAGE)
        wire = await follow()
        store.hold("records")
        await wire.send(start(match_id))
        await until(store.called("records", 1))
        edge.is_ours = False
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        stopped = await wire.read("stopped", "started")
        store.let_go("records")

        assert stopped.refused.reason == Reason.NOT_OWNER_OF_SHARD

    async def test_a_shard_that_is_lost_is_told_of_matches_that_are_not_in_memory(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow()
        await wire.send(start(match_id))
        await wire.read("record")
        edge.matches._loaded.clear()  # as if it had been put out of memory unheard
        edge.is_ours = False

        assert (await wire.read("stopped")).refused.reason == Reason.NOT_OWNER_OF_SHARD

    async def test_missed_records_are_caught_up_with(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await follow()
        await wire.send(start(match_id))
        await wire.read("record")
        followers = edge.pushes._followers.pop(match_id)
        await edge.play(match_id, 2)
        edge.pushes._followers[match_id] = followers
        await edge.play(match_id, 1)
        got = await records_to(wire, await edge.head_of(match_id))
        await edge.play(match_id, 1)
        got += await records_to(wire, await edge.head_of(match_id))

        assert got == (await edge.store.records(match_id, 0))[1:]
