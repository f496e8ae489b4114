import pytest

from libs.kernel.reasons import Reason
from libs.store.memory import Fault
from libs.wire.record import GENESIS
from tests.match_engine.edge_rig import (
    TWO_BOTS,
    Edge,
    EdgeStore,
    Open,
)
from tests.match_engine.frames import (
    records_to,
    start,
    stored_of,
)


class TestStarting:
    async def test_the_whole_history_comes_and_then_what_is_committed(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        wire = await follow()
        await wire.send(start(match_id))
        started = await wire.read("started")
        head = await edge.head_of(match_id)
        past = await records_to(wire, head)
        await edge.play(match_id, 3)
        live = await records_to(wire, await edge.head_of(match_id))

        assert (started.match_id, started.sequence) == (match_id, 0)
        assert (started.chain_hash, started.head_sequence) == (GENESIS, head)
        assert not started.ended
        assert [*past, *live] == await edge.store.records(match_id, 0)

    async def test_it_begins_after_the_sequence_that_is_asked_for(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        records = await edge.store.records(match_id, 0)
        wire = await follow()
        await wire.send(start(match_id, records[2].last_seq))
        started = await wire.read("started")

        assert (started.sequence, started.chain_hash) == (records[2].last_seq, records[2].hash)
        assert stored_of(await wire.read("record")) == records[3]

    async def test_inside_a_record_that_record_is_sent_whole(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        records = await edge.store.records(match_id, 0)
        longest = max(records[1:], key=lambda record: record.last_seq - record.first_seq)
        assert longest.last_seq > longest.first_seq
        wire = await follow()
        await wire.send(start(match_id, longest.last_seq - 1))
        started = await wire.read("started")

        before = records[records.index(longest) - 1]
        assert (started.sequence, started.chain_hash) == (before.last_seq, before.hash)
        assert stored_of(await wire.read("record")) == longest

    async def test_at_the_head_it_begins_there(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        head = (await edge.store.records(match_id, 0))[-1]
        wire = await follow()
        await wire.send(start(match_id, head.last_seq))
        started = await wire.read("started")
        await edge.play(match_id, 1)
        record = stored_of(await wire.read("record"))

        assert (started.sequence, started.chain_hash) == (head.last_seq, head.hash)
        assert record.first_seq == head.last_seq + 1

    async def test_to_start_again_is_to_follow_it_anew(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 3)
        records = await edge.store.records(match_id, 0)
        wire = await follow()
        await wire.send(start(match_id, records[-1].last_seq))
        await wire.read("started")
        await wire.send(start(match_id))
        again = await wire.read("started")
        got = await records_to(wire, records[-1].last_seq)
        await edge.play(match_id, 1)

        assert again.sequence == 0
        assert got == records
        # Once, though the match was followed twice.
        assert [stored_of(await wire.read("record"))] == await edge.store.records(
            match_id, records[-1].last_seq
        )
        await edge.play(match_id, 1)
        assert (await wire.read("record")).record.last_seq == await edge.head_of(match_id)

    @pytest.mark.parametrize("after", [0, 1])
    async def test_a_match_that_there_is_not_is_told(self, follow: Open, after: int) -> None:
        wire = await follow()
        await wire.send(start("0190a000-0000-7000-8000-000000000000", after))
        stopped = await wire.read("stopped", "started")

        assert stopped.refused.reason == Reason.MATCH_NOT_FOUND

    async def test_a_sequence_beyond_the_head_is_stale(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        head = await edge.head_of(match_id)
        wire = await follow()
        await wire.send(start(match_id, head + 1))
        stopped = await wire.read("stopped", "started")

        assert stopped.refused.reason == Reason.STALE_SEQUENCE
        assert stopped.refused.metadata == {"asked": str(head + 1), "head": str(head)}

    @pytest.mark.parametrize(("match_id", "after"), [("é", 0), ("", 0), (None, -1)])
    async def test_what_cannot_be_followed_is_told_and_hurts_no_other(
        self, edge: Edge, follow: Open, match_id: str | None, after: int
    ) -> None:
        good = await edge.create(TWO_BOTS)
        wire = await follow()
        await wire.send(start(good if match_id is None else match_id, after))
        stopped = await wire.read("stopped", "started")
        await wire.send(start(good))

        assert stopped.refused.reason == Reason.INVALID_REQUEST
        assert (await wire.read("started")).match_id == good

    async def test_a_match_in_quarantine_is_told(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        edge.matches.drop(match_id, Reason.MATCH_QUARANTINED)
        await store.quarantine(match_id, "a test")
        wire = await follow()
        await wire.send(start(match_id))

        assert (await wire.read("stopped")).refused.reason == Reason.MATCH_QUARANTINED

    async def test_another_engines_match_is_told(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        edge.is_ours = False
        wire = await follow()
        await wire.send(start(match_id))

        assert (await wire.read("stopped")).refused.reason == Reason.NOT_OWNER_OF_SHARD

    async def test_a_store_that_is_away_is_told(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        store.fault = Fault.UNAVAILABLE
        wire = await follow()
        await wire.send(start(match_id))
        stopped = await wire.read("stopped")

        assert stopped.refused.reason == Reason.STORE_UNAVAILABLE
        assert stopped.refused.retry_after_ms > 0
