import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import shard_of
from libs.store.memory import Fault, MemoryMatchStore
from libs.wire.chain import follow
from libs.wire.record import GENESIS, StoredRecord
from opolyx.engine.v1 import engine_service_pb2 as pb
from services.match_engine.catching_up import PAGE
from services.match_engine.followed import WAITING_MAX
from services.match_engine.live import RECENT_MAX
from tests.chassis.answers import answer
from tests.match_engine.edge_rig import NOW_MS, PULSE_S, Edge, Wire, a_bot, opened
from tests.support.waiting import until

TWO_BOTS = [a_bot(), a_bot()]

Watch = Callable[..., Awaitable[Wire]]


class SlowStore(MemoryMatchStore):
    """A store whose reads of records can be held up."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, self._hold)
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.reads = 0
        self.is_away = False

    async def _hold(self, method: str) -> Fault | None:
        if self.is_away:
            return Fault.UNAVAILABLE
        if method == "records":
            self.reads += 1
            await self.may_read.wait()
        return None


@pytest.fixture
def store() -> SlowStore:
    return SlowStore(ManualClock(NOW_MS))


@pytest.fixture
async def edge(tmp_path: Path, store: SlowStore) -> AsyncIterator[Edge]:
    async with opened(tmp_path, store) as edge:
        yield edge


@pytest.fixture
async def gateway(edge: Edge) -> AsyncIterator[Watch]:
    """Open a Follow stream as the gateway does, with so much credit."""
    async with AsyncExitStack() as stack:

        async def begin(credit: int = 100_000) -> Wire:
            wire = Wire(edge.engine_as().Follow())
            stack.push_async_callback(wire.end)
            if credit:
                await wire.send(pb.FollowRequest(credit=pb.Credit(more=credit)))
            pulsing = asyncio.create_task(_pulse(wire))
            stack.callback(pulsing.cancel)
            return wire

        yield begin


async def _pulse(wire: Wire) -> None:
    """Give signs of life for as long as the stream is there."""
    while not wire.call.done():
        await asyncio.sleep(PULSE_S)
        await wire.send(pb.FollowRequest(pulse=pb.Pulse(server_time_ms=NOW_MS)))


def start(match_id: str, after: int = 0) -> pb.FollowRequest:
    return pb.FollowRequest(start=pb.FollowRequest.Start(match_id=match_id, after_sequence=after))


def stop(match_id: str) -> pb.FollowRequest:
    return pb.FollowRequest(stop=pb.FollowRequest.Stop(match_id=match_id))


def attendance(match_id: str, seats: list[int], spectators: int = 0) -> pb.FollowRequest:
    present = pb.Attendance(match_id=match_id, seats=seats, spectators=spectators)
    return pb.FollowRequest(attendance=present)


def stored_of(frame: Any) -> StoredRecord:
    record = frame.record
    return StoredRecord(record.first_seq, record.last_seq, record.hash, record.data)


async def records_to(wire: Wire, sequence: int) -> list[StoredRecord]:
    """Read records until one ends at a sequence."""
    records: list[StoredRecord] = []
    while not records or records[-1].last_seq < sequence:
        records.append(stored_of(await wire.read("record")))
    return records


async def head_of(edge: Edge, match_id: MatchId) -> int:
    return (await edge.decider.read(match_id)).chain.last_seq


class TestStarting:
    async def test_the_whole_history_comes_and_then_what_is_committed(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        wire = await gateway()
        await wire.send(start(match_id))
        started = await wire.read("started")
        head = await head_of(edge, match_id)
        past = await records_to(wire, head)
        await edge.play(match_id, 3)
        live = await records_to(wire, await head_of(edge, match_id))

        assert (started.match_id, started.sequence) == (match_id, 0)
        assert (started.chain_hash, started.head_sequence) == (GENESIS, head)
        assert not started.ended
        assert [*past, *live] == await edge.store.records(match_id, 0)

    async def test_it_begins_after_the_sequence_that_is_asked_for(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        records = await edge.store.records(match_id, 0)
        wire = await gateway()
        await wire.send(start(match_id, records[2].last_seq))
        started = await wire.read("started")

        assert (started.sequence, started.chain_hash) == (records[2].last_seq, records[2].hash)
        assert stored_of(await wire.read("record")) == records[3]

    async def test_inside_a_record_that_record_is_sent_whole(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        records = await edge.store.records(match_id, 0)
        longest = max(records[1:], key=lambda record: record.last_seq - record.first_seq)
        assert longest.last_seq > longest.first_seq
        wire = await gateway()
        await wire.send(start(match_id, longest.last_seq - 1))
        started = await wire.read("started")

        before = records[records.index(longest) - 1]
        assert (started.sequence, started.chain_hash) == (before.last_seq, before.hash)
        assert stored_of(await wire.read("record")) == longest

    async def test_at_the_head_it_begins_there(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        head = (await edge.store.records(match_id, 0))[-1]
        wire = await gateway()
        await wire.send(start(match_id, head.last_seq))
        started = await wire.read("started")
        await edge.play(match_id, 1)
        record = stored_of(await wire.read("record"))

        assert (started.sequence, started.chain_hash) == (head.last_seq, head.hash)
        assert record.first_seq == head.last_seq + 1

    async def test_to_start_again_is_to_follow_it_anew(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 3)
        records = await edge.store.records(match_id, 0)
        wire = await gateway()
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
        assert (await wire.read("record")).record.last_seq == await head_of(edge, match_id)

    @pytest.mark.parametrize("after", [0, 1])
    async def test_a_match_that_there_is_not_is_told(self, gateway: Watch, after: int) -> None:
        wire = await gateway()
        await wire.send(start("0190a000-0000-7000-8000-000000000000", after))
        stopped = await wire.read("stopped", "started")

        assert stopped.refused.reason == Reason.MATCH_NOT_FOUND

    async def test_a_sequence_beyond_the_head_is_stale(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        head = await head_of(edge, match_id)
        wire = await gateway()
        await wire.send(start(match_id, head + 1))
        stopped = await wire.read("stopped", "started")

        assert stopped.refused.reason == Reason.STALE_SEQUENCE
        assert stopped.refused.metadata == {"after": str(head + 1), "head": str(head)}

    @pytest.mark.parametrize(("match_id", "after"), [("é", 0), ("", 0), (None, -1)])
    async def test_what_cannot_be_followed_is_told_and_hurts_no_other(
        self, edge: Edge, gateway: Watch, match_id: str | None, after: int
    ) -> None:
        good = await edge.create(TWO_BOTS)
        wire = await gateway()
        await wire.send(start(good if match_id is None else match_id, after))
        stopped = await wire.read("stopped", "started")
        await wire.send(start(good))

        assert stopped.refused.reason == Reason.INVALID_REQUEST
        assert (await wire.read("started")).match_id == good

    async def test_a_match_in_quarantine_is_told(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        edge.matches.drop(match_id, Reason.MATCH_QUARANTINED)
        await store.quarantine(match_id, "a test")
        wire = await gateway()
        await wire.send(start(match_id))

        assert (await wire.read("stopped")).refused.reason == Reason.MATCH_QUARANTINED

    async def test_another_engines_match_is_told(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        edge.is_ours = False
        wire = await gateway()
        await wire.send(start(match_id))

        assert (await wire.read("stopped")).refused.reason == Reason.NOT_OWNER_OF_SHARD

    async def test_a_store_that_is_away_is_told(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        store.is_away = True
        wire = await gateway()
        await wire.send(start(match_id))
        stopped = await wire.read("stopped")

        assert stopped.refused.reason == Reason.STORE_UNAVAILABLE
        assert stopped.refused.retry_after_ms > 0


class TestCatchingUp:
    async def test_what_memory_no_longer_holds_comes_from_the_store(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 2 * RECENT_MAX)
        wire = await gateway()
        await wire.send(start(match_id))
        got = await records_to(wire, await head_of(edge, match_id))

        assert got == await edge.store.records(match_id, 0)
        assert len(got) > 2 * RECENT_MAX
        assert store.reads > 1

    async def test_nothing_is_missed_or_doubled_where_the_match_goes_on_meanwhile(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 3 * PAGE)
        wire = await gateway()
        store.may_read.clear()
        await wire.send(start(match_id))
        while store.reads < 4:
            # It reads; the match goes on before it gets what it has asked for.
            await until(_more_than(store, store.reads))
            await edge.play(match_id, PAGE // 2)
            store.may_read.set()
            store.may_read.clear()
        store.may_read.set()
        # And while the last pages are on their way.
        await edge.play(match_id, 5)
        head = await head_of(edge, match_id)
        got = await records_to(wire, head)
        await edge.play(match_id, 1)
        got += await records_to(wire, await head_of(edge, match_id))

        assert got == await edge.store.records(match_id, 0)
        assert len(list(follow(got))) == len(got)

    async def test_a_match_that_goes_on_as_fast_as_it_is_read_is_joined(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 2 * PAGE)
        wire = await gateway()
        await wire.send(start(match_id))
        got = []
        for _ in range(150):
            got.append(stored_of(await wire.read("record")))
            await edge.play(match_id, 1)
        got += await records_to(wire, await head_of(edge, match_id))

        assert got == await edge.store.records(match_id, 0)

    async def test_whoever_catches_up_holds_up_nobody_else(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        behind, other = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        await edge.play(behind, RECENT_MAX + PAGE)
        wire = await gateway()
        store.may_read.clear()
        await wire.send(start(behind))
        await until(lambda: store.reads > 0)
        await wire.send(start(other))
        await wire.read("started")
        await edge.play(other, 1)
        await edge.play(behind, 1)
        records = [await wire.read("record") for _ in range(2)]
        store.may_read.set()

        assert {record.match_id for record in records} == {other}
        assert (await wire.read("started")).match_id == behind

    async def test_history_is_read_no_faster_than_there_is_credit(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + 4 * PAGE)
        wire = await gateway(credit=1)
        await wire.send(start(match_id))
        await wire.read("record")
        for _ in range(5):
            await wire.read("heads")  # and nothing else: it waits for credit
        reads = store.reads
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=100_000)))
        rest = await records_to(wire, await head_of(edge, match_id))

        assert reads == 1
        assert len(rest) == len(await edge.store.records(match_id, 0)) - 1


class TestCredit:
    async def test_a_record_is_sent_for_each_credit(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, 5)
        wire = await gateway(credit=0)
        await wire.send(start(match_id))
        first = [await wire.read("started", "record", "attendance") for _ in range(2)]
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=2)))
        granted = [await wire.read("record") for _ in range(2)]
        quiet = [await wire.read("record", "heads") for _ in range(3)]

        assert [type(frame).__name__ for frame in first] == ["Started", "Attendance"]
        assert [record.record.first_seq for record in granted] == [
            record.first_seq for record in (await edge.store.records(match_id, 0))[:2]
        ]
        assert {type(frame).__name__ for frame in quiet} == {"Heads"}

    async def test_a_reader_for_whom_too_much_waits_is_let_go_of(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id, other = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        head = await head_of(edge, match_id)
        wire = await gateway(credit=0)
        await wire.send(start(match_id, head))
        await wire.read("started")
        await edge.play(match_id, WAITING_MAX - 1)
        quiet = [await wire.read("stopped", "record", "heads") for _ in range(3)]
        await edge.play(match_id, 1)
        stopped = await wire.read("stopped", "record")
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=100_000)))
        await wire.send(start(other))
        other_record = await wire.read("record")
        await wire.send(start(match_id, head))
        again = await records_to(wire, await head_of(edge, match_id))

        assert {type(frame).__name__ for frame in quiet} == {"Heads"}
        assert stopped.match_id == match_id
        assert stopped.refused.reason == Reason.SLOW_READER
        assert stopped.refused.retry_after_ms > 0
        assert other_record.match_id == other
        assert again == await edge.store.records(match_id, head)

    async def test_who_waits_for_credit_takes_turns(self, edge: Edge, gateway: Watch) -> None:
        busy, quiet = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        heads = {match_id: await head_of(edge, match_id) for match_id in (busy, quiet)}
        wire = await gateway(credit=0)
        for match_id, head in heads.items():
            await wire.send(start(match_id, head))
            await wire.read("started")
        await edge.play(busy, 10)
        await edge.play(quiet, 1)
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=2)))

        assert {(await wire.read("record")).match_id for _ in range(2)} == {busy, quiet}

    async def test_credit_below_nothing_ends_the_stream(self, gateway: Watch) -> None:
        wire = await gateway()
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=-1)))
        got = await answer(wire.rest())

        assert got.code is StatusCode.INVALID_ARGUMENT
        assert got.told is not None
        assert got.told.reason == Reason.INVALID_REQUEST


class TestEnding:
    async def test_the_last_record_is_marked_and_then_it_is_over(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway()
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

    async def test_a_match_that_is_over_is_told_to_its_end(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + PAGE)
        await edge.play_to_the_end(match_id)
        wire = await gateway()
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
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play_to_the_end(match_id)
        wire = await gateway()
        await wire.send(start(match_id, await head_of(edge, match_id)))
        started = await wire.read("started")
        stopped = await wire.read("stopped", "record")

        assert started.ended
        assert stopped.refused.reason == Reason.MATCH_ENDED

    async def test_the_end_waits_for_the_last_record_that_waits_for_credit(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway(credit=0)
        await wire.send(start(match_id, await head_of(edge, match_id)))
        await wire.read("started")
        await edge.play_to_the_end(match_id)
        quiet = [await wire.read("stopped", "heads") for _ in range(3)]
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=1)))

        assert {type(frame).__name__ for frame in quiet} == {"Heads"}
        assert (await wire.read("record", "stopped")).last
        assert (await wire.read("stopped")).refused.reason == Reason.MATCH_ENDED

    async def test_what_is_stopped_is_followed_no_longer(self, edge: Edge, gateway: Watch) -> None:
        match_id, other = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        wire = await gateway()
        await wire.send(start(match_id, await head_of(edge, match_id)))
        await wire.read("started")
        await wire.send(stop(match_id))
        await wire.send(start(other))
        await wire.read("record")
        await edge.play(match_id, 1)
        await edge.play(other, 1)

        assert (await wire.read("record")).match_id == other
        assert match_id not in edge.pushes._followers

    async def test_a_match_that_is_dropped_is_told_without_waiting_for_credit(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway(credit=0)
        await wire.send(start(match_id))
        await wire.read("started")
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        stopped = await wire.read("stopped")

        assert stopped.refused.reason == Reason.NOT_OWNER_OF_SHARD
        assert match_id not in edge.pushes._followers

    async def test_a_match_that_is_dropped_while_it_is_caught_up_with_is_told(
        self, edge: Edge, store: SlowStore, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        await edge.play(match_id, RECENT_MAX + PAGE)
        wire = await gateway()
        store.may_read.clear()
        await wire.send(start(match_id))
        await until(lambda: store.reads > 0)
        edge.is_ours = False
        edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
        stopped = await wire.read("stopped", "started")
        store.may_read.set()

        assert stopped.refused.reason == Reason.NOT_OWNER_OF_SHARD

    async def test_a_shard_that_is_lost_is_told_of_matches_that_are_not_in_memory(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway()
        await wire.send(start(match_id))
        await wire.read("record")
        edge.matches._loaded.clear()  # as if it had been put out of memory unheard
        edge.is_ours = False

        assert (await wire.read("stopped")).refused.reason == Reason.NOT_OWNER_OF_SHARD
        assert 0 <= shard_of(match_id) < 64

    async def test_missed_records_are_caught_up_with(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway()
        await wire.send(start(match_id))
        await wire.read("record")
        followers = edge.pushes._followers.pop(match_id)
        await edge.play(match_id, 2)
        edge.pushes._followers[match_id] = followers
        await edge.play(match_id, 1)
        got = await records_to(wire, await head_of(edge, match_id))
        await edge.play(match_id, 1)
        got += await records_to(wire, await head_of(edge, match_id))

        assert got == (await edge.store.records(match_id, 0))[1:]


class TestLife:
    async def test_each_pulse_tells_the_time_and_the_heads_that_have_moved(
        self, edge: Edge, gateway: Watch
    ) -> None:
        moved, still = await edge.create(TWO_BOTS), await edge.create(TWO_BOTS)
        wire = await gateway()
        for match_id in (moved, still):
            await wire.send(start(match_id))
            await wire.read("started")
        first = await wire.read("heads")
        await edge.play(moved, 1)
        head = await head_of(edge, moved)
        beats = [await wire.read("heads") for _ in range(4)]

        told = [(each.match_id, each.sequence) for beat in beats for each in beat.heads]
        assert not first.heads
        assert first.server_time_ms == NOW_MS
        assert told == [(moved, head)]

    async def test_no_head_is_told_of_before_its_record_was_sent(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway(credit=0)
        await wire.send(start(match_id, await head_of(edge, match_id)))
        await wire.read("started")
        await edge.play(match_id, 1)
        before = [await wire.read("heads") for _ in range(3)]
        await wire.send(pb.FollowRequest(credit=pb.Credit(more=1)))
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

    async def test_a_frame_that_is_newer_than_we_are_is_a_sign_of_life(
        self, gateway: Watch
    ) -> None:
        wire = await gateway()
        await wire.send(pb.FollowRequest())

        assert (await wire.read("heads")).server_time_ms == NOW_MS

    async def test_an_engine_that_stops_says_so_first(self, edge: Edge, gateway: Watch) -> None:
        wire = await gateway()
        await wire.send(start(await edge.create(TWO_BOTS)))
        await wire.read("record")
        edge.server.draining.set()
        leave = await wire.read("leave")
        got = await answer(wire.rest())

        assert leave.reason == Reason.GOING_AWAY
        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY

    async def test_an_engine_without_its_lease_says_so(self, edge: Edge, gateway: Watch) -> None:
        wire = await gateway()
        await wire.read("heads")
        edge.streams.leave(Reason.NOT_OWNER_OF_SHARD)

        assert (await wire.read("leave")).reason == Reason.NOT_OWNER_OF_SHARD

    async def test_a_stream_that_the_gateway_ends_leaves_nothing_behind(
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway()
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
    async def test_it_is_told_through_all_gateways(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        one, two = await gateway(), await gateway()
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

    async def test_who_comes_later_is_told_who_is_there(self, edge: Edge, gateway: Watch) -> None:
        match_id = await edge.create(TWO_BOTS)
        one, two = await gateway(), await gateway()
        await one.send(start(match_id))
        await one.send(attendance(match_id, [1]))
        await until(lambda: bool(edge.pushes._attendance))
        await two.send(start(match_id))
        present = await two.read("attendance")

        assert (list(present.seats), present.spectators) == ([1], 0)

    @pytest.mark.parametrize("how", ["stops following", "goes"])
    async def test_who_was_there_by_a_gateway_goes_with_it(
        self, edge: Edge, gateway: Watch, how: str
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        one, two = await gateway(), await gateway()
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
        self, edge: Edge, gateway: Watch
    ) -> None:
        match_id = await edge.create(TWO_BOTS)
        wire = await gateway(credit=0)
        await wire.send(start(match_id))
        await wire.read("attendance")
        for seats in ([0], [0], [0, 1]):
            await wire.send(attendance(match_id, seats))
        told = [list((await wire.read("attendance")).seats) for _ in range(2)]

        assert told == [[0], [0, 1]] or told[0] == [0, 1]


def _more_than(store: SlowStore, reads: int) -> Callable[[], bool]:
    return lambda: store.reads > reads
