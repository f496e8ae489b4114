"""Deadlines are learned from the match records of the log, each record once (R1, R2)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import asyncpg
import pytest

from libs.eventlog.following import GAP_WAIT_MS, Position
from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import Entry
from libs.eventlog.reading import BrokenStreamError
from libs.eventlog.storage import MemoryLogStorage
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId
from libs.rules.clocks import fires_at, open_deadlines
from libs.store.connections import Connections
from services.timer.armed import Told
from services.timer.followed import Followed
from services.timer.learning import Learning
from services.timer.store import FollowedMatches
from tests.support.matches import Table, play_match
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

Learned = dict[MatchId, tuple[int, Sequence[Told]]]


@pytest.fixture
async def store(shared_database: str) -> AsyncIterator[FollowedMatches]:
    connection = await asyncpg.connect(shared_database)
    await connection.execute("TRUNCATE timer.followed_match")
    await connection.close()
    connections = await Connections.open(shared_database, name="test")
    yield FollowedMatches(connections)
    await connections.close()


@pytest.fixture
def log(clock: ManualClock) -> LocalEventLog:
    return LocalEventLog(MemoryLogStorage(), clock, poll_s=0.05)


@pytest.fixture
def table() -> Table:
    return play_match(records_max=40)


class Reading:
    """A reader that runs: what it learned, and what it fetched."""

    def __init__(self) -> None:
        self.learned: Learned = {}
        self.fetched: list[int] = []


@asynccontextmanager
async def reading(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, source: Table | None = None
) -> AsyncIterator[Reading]:
    found = Reading()

    def learned(match_id: MatchId, sequence: int, deadlines: Sequence[Told]) -> None:
        found.learned[match_id] = sequence, deadlines

    async def fetch(_: MatchId, after_seq: int) -> Sequence[bytes]:
        found.fetched.append(after_seq)
        records = source.records if source is not None else []
        return [record.data for record in records if record.first_seq > after_seq]

    learning = Learning(store=store, learned=learned, fetch=fetch, clock=clock, log=log)
    task = asyncio.create_task(learning.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, BrokenStreamError):
            await task


async def publish(
    log: LocalEventLog, table: Table, first: int = 0, last: int | None = None
) -> None:
    await log.append(
        [
            Entry(topic=MATCH_RECORDS.name, key=table.chain.match_id, value=record.data)
            for record in table.records[first:last]
        ]
    )


def open_in(table: Table) -> list[Told]:
    return [Told(d.deadline_id, fires_at(d)) for d in open_deadlines(table.match)]


async def test_what_is_open_after_the_last_record_is_learned(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, head = table.chain.match_id, table.chain.last_seq
    await publish(log, table)
    async with reading(log, store, clock) as found:
        await until(lambda: found.learned.get(match_id, (0, ()))[0] == head)

    assert found.learned[match_id] == (head, open_in(table))
    assert open_in(table)


async def test_how_far_it_read_is_kept_with_what_followed(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, last = table.chain.match_id, table.records[-1]
    await publish(log, table)
    async with reading(log, store, clock) as found:
        await until(lambda: match_id in found.learned)

    kept = await store.load(match_id)
    assert kept.position == Position(last.last_seq, last.hash)
    assert kept.open() == open_in(table)
    assert await store.going_on() == [(match_id, kept)]


async def test_a_restart_goes_on_where_it_was(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, head = table.chain.match_id, table.chain.last_seq
    await publish(log, table, last=20)
    async with reading(log, store, clock) as found:
        await until(lambda: match_id in found.learned)
    # From the first entry on, as after a crash that took the group's position away.
    again = LocalEventLog(MemoryLogStorage(), clock, poll_s=0.05)
    await publish(again, table)
    async with reading(again, store, clock) as found:
        await until(lambda: found.learned.get(match_id, (0, ()))[0] == head)

    assert found.fetched == []
    assert (await store.load(match_id)).open() == open_in(table)


async def test_a_gap_is_filled_by_the_matchs_engine(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, head = table.chain.match_id, table.chain.last_seq
    await publish(log, table, last=10)
    await publish(log, table, first=30)
    async with reading(log, store, clock, table) as found:
        await until(lambda: match_id in found.learned)
        clock.advance(2_000)
        await until(lambda: found.learned[match_id][0] == head)

    assert found.fetched == [table.records[9].last_seq]
    assert found.learned[match_id] == (head, open_in(table))


async def test_what_comes_twice_counts_once(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, head = table.chain.match_id, table.chain.last_seq
    await publish(log, table)
    await publish(log, table, first=5)
    async with reading(log, store, clock) as found:
        await until(lambda: match_id in found.learned)
        await until(lambda: _all_read(log))

    assert found.learned[match_id] == (head, open_in(table))
    assert found.fetched == []


async def test_a_position_never_goes_back(store: FollowedMatches, table: Table) -> None:
    match_id = table.chain.match_id
    later = Followed(Position(20, bytes(32)), {"roll:0:9": 100})
    await store.save({match_id: later})
    await store.save({match_id: Followed(Position(19, bytes(32)), {"roll:0:8": 50})})

    assert await store.load(match_id) == later


async def test_two_replicas_read_the_same_and_both_know_it(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, head = table.chain.match_id, table.chain.last_seq
    other = LocalEventLog(MemoryLogStorage(), clock, poll_s=0.05)
    for each in (log, other):
        await publish(each, table)
    async with reading(log, store, clock) as one, reading(other, store, clock) as two:
        await until(lambda: one.learned.get(match_id, (0, ()))[0] == head)
        await until(lambda: two.learned.get(match_id, (0, ()))[0] == head)

    assert one.learned == two.learned


async def test_a_replica_that_reads_behind_another_knows_what_that_one_read(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id, head = table.chain.match_id, table.chain.last_seq
    await publish(log, table)
    async with reading(log, store, clock) as found:
        await until(lambda: match_id in found.learned)
    behind = LocalEventLog(MemoryLogStorage(), clock, poll_s=0.05)
    await publish(behind, table, last=1)
    async with reading(behind, store, clock) as found:
        await until(lambda: match_id in found.learned)

    assert found.learned[match_id] == (head, open_in(table))


async def test_a_match_that_is_over_is_not_loaded_again(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock
) -> None:
    table = play_match("opolyx.speed@2", 2, 3)
    match_id, head = table.chain.match_id, table.chain.last_seq
    await publish(log, table)
    async with reading(log, store, clock) as found:
        await until(lambda: found.learned.get(match_id, (0, ()))[0] == head)

    assert found.learned[match_id] == (head, [])
    assert await store.going_on() == []
    assert (await store.load(match_id)).is_over


def _all_read(log: LocalEventLog) -> bool:
    return all(member.lag() == 0 for member in log._groups["timer"])


async def test_a_match_that_was_read_otherwise_is_forgotten(
    log: LocalEventLog, store: FollowedMatches, clock: ManualClock, table: Table
) -> None:
    match_id = table.chain.match_id
    await store.save({match_id: Followed(Position(1, bytes(32)))})
    await publish(log, table)
    async with reading(log, store, clock, table):

        async def is_forgotten() -> bool:
            clock.advance(GAP_WAIT_MS)
            return await store.load(match_id) == Followed()

        await until(is_forgotten)
