import asyncio

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from libs.wire.chain import follow as follow_chain
from services.match_engine.catching_up import PAGE
from services.match_engine.followed import WAITING_MAX
from services.match_engine.live import RECENT_MAX, LiveMatch
from services.match_engine.snapshots import snapshot_of
from tests.chassis.answers import answer
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
    stored_of,
)
from tests.support.waiting import until


class TestCatchingUp:
    async def test_what_memory_no_longer_holds_comes_from_the_store(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 2 * RECENT_MAX)
        wire = await follow()
        await wire.send(start(match_id))
        got = await records_to(wire, await edge.head_of(match_id))

        assert got == await edge.store.records(match_id, 0)
        assert len(got) > 2 * RECENT_MAX
        assert store.count("records") > 1

    @pytest.mark.parametrize("moment", ["records", "records found"])
    async def test_nothing_is_missed_or_doubled_where_the_match_goes_on_meanwhile(
        self, edge: Edge, store: EdgeStore, follow: Open, moment: str
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 3 * PAGE)
        wire = await follow()
        store.hold(moment)
        await wire.send(start(match_id))
        for page in range(1, 5):
            # It reads; the match goes on before, or after, what it has asked for is looked up.
            await until(store.called(moment, page))
            await edge.play(match_id, PAGE // 2)
            store.let_go(moment)
            store.hold(moment)
        store.let_go(moment)
        # And while the last pages are on their way.
        await edge.play(match_id, 5)
        head = await edge.head_of(match_id)
        got = await records_to(wire, head)
        await edge.play(match_id, 1)
        got += await records_to(wire, await edge.head_of(match_id))

        assert got == await edge.store.records(match_id, 0)
        assert len(list(follow_chain(got))) == len(got)

    async def test_nothing_is_missed_where_the_match_is_loaded_anew_meanwhile(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        live = await _just_loaded(edge)
        wire = await follow()
        store.hold("records found")
        reads = store.count("records found")
        await wire.send(start(live.match_id))
        await until(store.called("records found", reads + 1))
        held = store.let_others_by("records found")
        edge.matches.reload(live)
        await edge.play(live.match_id, 2)
        held.set()
        got = await records_to(wire, await edge.head_of(live.match_id))

        assert got == await store.records(live.match_id, 0)

    async def test_a_record_that_the_store_has_first_is_no_sequence_beyond_the_head(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        live = await _just_loaded(edge)
        head = live.chain.last_seq
        wire = await follow()
        store.hold("appended")
        appends = store.count("appended")
        playing = asyncio.create_task(edge.play(live.match_id, 1))
        await until(store.called("appended", appends + 1))
        await wire.send(start(live.match_id))
        before = await records_to(wire, head)
        quiet = [await wire.read("record", "stopped", "heads") for _ in range(2)]
        store.let_go("appended")
        await playing
        rest = await records_to(wire, await edge.head_of(live.match_id))

        assert {type(frame).__name__ for frame in quiet} == {"Heads"}
        assert [*before, *rest] == await store.records(live.match_id, 0)

    async def test_a_match_that_is_dropped_while_it_waits_for_credit_is_let_go_of(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 2 * PAGE)
        wire = await follow(1)
        await wire.send(start(match_id))
        await wire.read("record")
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        stopped = await wire.read("stopped", "record")
        await wire.send(start(match_id))

        assert stopped.refused.reason == Reason.NOT_OWNER_OF_SHARD
        assert (await wire.read("started")).match_id == match_id

    async def test_a_match_that_goes_on_as_fast_as_it_is_read_is_joined(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 2 * PAGE)
        wire = await follow()
        await wire.send(start(match_id))
        got = []
        for _ in range(150):
            got.append(stored_of(await wire.read("record")))
            await edge.play(match_id, 1)
        got += await records_to(wire, await edge.head_of(match_id))

        assert got == await edge.store.records(match_id, 0)

    async def test_whoever_catches_up_holds_up_nobody_else(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        behind, other = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        await edge.play(behind, RECENT_MAX + PAGE)
        wire = await follow()
        store.hold("records")
        await wire.send(start(behind))
        await until(store.called("records", 1))
        await wire.send(start(other))
        await wire.read("started")
        await edge.play(other, 1)
        await edge.play(behind, 1)
        records = [await wire.read("record") for _ in range(2)]
        store.let_go("records")

        assert {record.match_id for record in records} == {other}
        assert (await wire.read("started")).match_id == behind

    async def test_history_is_read_no_faster_than_there_is_credit(
        self, edge: Edge, store: EdgeStore, follow: Open
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 4 * PAGE)
        wire = await follow(1)
        await wire.send(start(match_id))
        await wire.read("record")
        for _ in range(5):
            await wire.read("heads")  # and nothing else: it waits for credit
        reads = store.count("records")
        await wire.send(grant(100_000))
        rest = await records_to(wire, await edge.head_of(match_id))

        assert reads == 1
        assert len(rest) == len(await edge.store.records(match_id, 0)) - 1


class TestCredit:
    async def test_a_record_is_sent_for_each_credit(self, edge: Edge, follow: Open) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        wire = await follow(0)
        await wire.send(start(match_id))
        first = [await wire.read("started", "record", "attendance") for _ in range(2)]
        await wire.send(grant(2))
        granted = [await wire.read("record") for _ in range(2)]
        quiet = [await wire.read("record", "heads") for _ in range(3)]

        assert [type(frame).__name__ for frame in first] == ["Started", "Attendance"]
        assert [record.record.first_seq for record in granted] == [
            record.first_seq for record in (await edge.store.records(match_id, 0))[:2]
        ]
        assert {type(frame).__name__ for frame in quiet} == {"Heads"}

    async def test_a_reader_for_whom_too_much_waits_is_let_go_of(
        self, edge: Edge, follow: Open
    ) -> None:
        match_id, other = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        head = await edge.head_of(match_id)
        wire = await follow(0)
        await wire.send(start(match_id, head))
        await wire.read("started")
        await edge.play(match_id, WAITING_MAX - 1)
        quiet = [await wire.read("stopped", "record", "heads") for _ in range(3)]
        await edge.play(match_id, 1)
        stopped = await wire.read("stopped", "record")
        await wire.send(grant(100_000))
        await wire.send(start(other))
        other_record = await wire.read("record")
        await wire.send(start(match_id, head))
        again = await records_to(wire, await edge.head_of(match_id))

        assert {type(frame).__name__ for frame in quiet} == {"Heads"}
        assert stopped.match_id == match_id
        assert stopped.refused.reason == Reason.SLOW_READER
        assert stopped.refused.retry_after_ms > 0
        assert other_record.match_id == other
        assert again == await edge.store.records(match_id, head)

    async def test_who_waits_for_credit_takes_turns(self, edge: Edge, follow: Open) -> None:
        busy, quiet = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        heads = {match_id: await edge.head_of(match_id) for match_id in (busy, quiet)}
        wire = await follow(0)
        for match_id, head in heads.items():
            await wire.send(start(match_id, head))
            await wire.read("started")
        await edge.play(busy, 10)
        await edge.play(quiet, 1)
        await wire.send(grant(2))

        assert {(await wire.read("record")).match_id for _ in range(2)} == {busy, quiet}

    async def test_credit_below_nothing_ends_the_stream(self, follow: Open) -> None:
        wire = await follow()
        await wire.send(grant(-1))
        got = await answer(wire.rest())

        assert got.code is StatusCode.INVALID_ARGUMENT
        assert got.told is not None
        assert got.told.reason == Reason.INVALID_REQUEST


async def _just_loaded(edge: Edge) -> LiveMatch:
    """Return a match that was loaded by its snapshot: few of its records are in memory."""
    match_id = await edge.create(TWO_BOTS)
    await edge.play(match_id, PAGE // 2)
    live = await edge.decider.read(match_id)
    await edge.store.put_snapshot(match_id, snapshot_of(live.match, live.chain.last_seq))
    edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
    return await edge.decider.read(match_id)
