"""Records on their way to the event log (W8)."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest
from opentelemetry import context as otel
from opentelemetry import propagate

from libs.eventlog.ports import Entry
from libs.eventlog.topics import MATCH_HEADS, MATCH_RECORDS
from libs.kernel.ids import MatchId
from libs.kernel.shards import SHARDS, shard_of
from libs.store.ports import Published, Status
from libs.telemetry import metrics, names
from opolyx.match.v1 import match_pb2
from services.match_engine import publishing
from services.match_engine.publishing import Publisher
from tests.match_engine.publishing_rig import Game, Log, Store
from tests.store.records import a_record
from tests.support.waiting import until

ALL = frozenset(range(SHARDS))
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def game(store: Store) -> Game:
    return Game(store)


@pytest.fixture
def publisher(store: Store, log: Log) -> Publisher:
    return Publisher(store, log, lambda: ALL)


@asynccontextmanager
async def running(publisher: Publisher) -> AsyncIterator[None]:
    """Run a publisher within the block, and to its good end."""
    task = asyncio.create_task(publisher.run())
    try:
        yield
        publisher.finish()
        async with asyncio.timeout(10):
            await task
    finally:
        task.cancel()


async def _play_on(game: Game, publisher: Publisher, records: int) -> None:
    for _ in range(records):
        record = await game.play()
        publisher.committed(game.live, record)


async def test_records_arrive_in_order_as_they_were_stored(
    publisher: Publisher, game: Game, log: Log
) -> None:
    async with running(publisher):
        await _play_on(game, publisher, 5)

    assert await log.of(game) == game.data


async def test_an_entry_says_what_it_is(publisher: Publisher, game: Game, log: Log) -> None:
    async with running(publisher):
        token = otel.attach(propagate.extract({"traceparent": TRACE}))
        await _play_on(game, publisher, 2)
        otel.detach(token)

    last = (await log.read(MATCH_RECORDS.name))[-1]
    assert last.key == game.match_id
    assert dict(last.headers) == {
        "type": "opolyx.record.v1.Record",
        "schema": "1",
        "sequence": "3",
        "traceparent": TRACE,
    }


async def test_matches_share_an_append(publisher: Publisher, store: Store, log: Log) -> None:
    games = [Game(store) for _ in range(20)]
    for game in games:
        await _play_on(game, publisher, 3)

    async with running(publisher):
        pass

    assert len(log.appends) == 1
    assert [await log.of(game) for game in games] == [game.data for game in games]


async def test_the_store_is_told_in_batches_how_far_the_log_is(
    publisher: Publisher, store: Store
) -> None:
    games = [Game(store) for _ in range(20)]
    for game in games:
        await _play_on(game, publisher, 3)

    async with running(publisher):
        pass

    assert [await game.published_seq() for game in games] == [6] * 20
    assert len(store.told) == 1


async def test_an_ended_match_is_complete_once_its_signed_head_is_out(
    publisher: Publisher, game: Game, store: Store, log: Log
) -> None:
    async with running(publisher):
        await _play_on(game, publisher, 2)
        last = await game.play(ends=True)
        publisher.committed(game.live, last)

    (entry,) = await log.read(MATCH_HEADS.name)
    head = match_pb2.SignedHead.FromString(entry.value)
    signed = game.signed(last)
    assert entry.key == head.match_id == game.match_id
    assert (head.sequence, head.chain_hash, head.ended) == (last.last_seq, last.hash, True)
    assert (head.key_id, head.signature) == (signed.key_id, signed.signature)
    assert await log.of(game) == game.data
    assert await store.open_heads(ALL) == []
    assert log.appends[-1] == [entry]


async def test_a_match_is_open_until_its_head_is_out(
    publisher: Publisher, game: Game, store: Store
) -> None:
    await game.play()
    last = await game.play(ends=True)

    await store.set_published([Published(game.match_id, last.last_seq, complete=False)])
    still_open = [head.match_id for head in await store.open_heads(ALL)]
    async with running(publisher):
        pass

    assert still_open == [game.match_id]
    assert await store.open_heads(ALL) == []


async def test_what_was_committed_and_told_to_nobody_is_found(
    publisher: Publisher, game: Game, log: Log, store: Store
) -> None:
    for _ in range(100):
        await game.play()
    last = await game.play(ends=True)

    async with running(publisher):
        pass

    assert await log.of(game) == game.data
    assert await game.published_seq() == last.last_seq
    assert await store.open_heads(ALL) == []


async def test_what_comes_meanwhile_goes_behind_what_was_left_behind(
    publisher: Publisher, game: Game, log: Log
) -> None:
    for _ in range(40):
        await game.play()

    async with running(publisher):
        await _play_on(game, publisher, 3)

    assert await log.of(game) == game.data


async def test_a_match_taken_over_is_published_from_where_the_store_says(
    publisher: Publisher, game: Game, store: Store, log: Log
) -> None:
    async with running(publisher):
        await until(lambda: publisher._scanned == ALL)
        await game.play()
        await game.play()
        await store.set_published([Published(game.match_id, 2, complete=False)])
        await _play_on(game, publisher, 2)

    assert await log.of(game) == game.data[1:]


async def test_play_goes_on_while_the_log_is_away(
    publisher: Publisher, game: Game, log: Log
) -> None:
    log.is_away = True
    async with running(publisher):
        await _play_on(game, publisher, 10)
        await until(lambda: _lag() == 20)
        nothing = await log.of(game)
        log.is_away = False
        await until(lambda: _lag() == 0)

    assert nothing == []
    assert await log.of(game) == game.data


async def test_what_is_too_much_for_the_memory_is_read_from_the_store(
    game: Game, store: Store, log: Log
) -> None:
    publisher = Publisher(store, log, lambda: ALL, buffered_bytes=30)
    log.is_away = True
    async with running(publisher):
        await _play_on(game, publisher, 100)
        kept = publisher._buffered
        log.is_away = False

    assert 0 < kept <= 30
    assert await log.of(game) == game.data
    assert publisher._buffered == 0


async def test_a_store_that_is_away_is_told_later(
    publisher: Publisher, game: Game, store: Store, log: Log
) -> None:
    store.is_away = True
    async with running(publisher):
        await _play_on(game, publisher, 3)
        await until(lambda: bool(log.appends))
        before = await game.published_seq()
        store.is_away = False

    assert before == 0
    assert await game.published_seq() == 6


async def test_what_the_store_has_not_been_told_yet_is_not_published_again(
    publisher: Publisher, game: Game, store: Store, log: Log
) -> None:
    store.is_away = True
    async with running(publisher):
        await _play_on(game, publisher, 3)
        await until(lambda: bool(log.appends))
        await publisher._scan(ALL)
        await _play_on(game, publisher, 1)
        store.is_away = False

    assert await log.of(game) == game.data


async def test_shards_of_others_are_left_to_them(game: Game, store: Store, log: Log) -> None:
    await game.play()
    publisher = Publisher(store, log, frozenset)

    async with running(publisher):
        pass

    assert await log.of(game) == []


async def test_a_shard_that_is_taken_is_looked_into_at_once(
    store: Store, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "SCAN_S", 1_000)
    ours, others = Game(store), Game(store)
    while shard_of(others.match_id) == shard_of(ours.match_id):
        others = Game(store)
    owned = {shard_of(ours.match_id)}
    publisher = Publisher(store, log, lambda: frozenset(owned))
    await others.play()

    async with running(publisher):
        await _play_on(ours, publisher, 1)
        await until(lambda: bool(log.appends))
        before = await log.of(others)
        owned |= ALL
        await _play_on(ours, publisher, 1)
        await until(lambda: others.match_id in _keys(log.appends))

    assert before == []


async def test_a_shard_that_was_lost_costs_no_memory(game: Game, store: Store, log: Log) -> None:
    owned = set(ALL)
    publisher = Publisher(store, log, lambda: frozenset(owned))
    log.is_away = True
    await _play_on(game, publisher, 3)
    owned.clear()

    await publisher._scan(frozenset())

    assert publisher._tails == publisher._behind == {}
    assert publisher._buffered == 0


async def test_every_match_has_its_turn(store: Store, log: Log) -> None:
    publisher = Publisher(store, log, lambda: ALL)
    busy, quiet = Game(store), Game(store)
    await _play_on(busy, publisher, 300)
    await _play_on(quiet, publisher, 1)

    async with running(publisher):
        await until(lambda: quiet.match_id in _keys(log.appends[:1]))

    assert await log.of(busy) == busy.data


async def test_an_unsigned_head_is_no_end(
    publisher: Publisher, game: Game, store: Store, log: Log
) -> None:
    await game.play()
    record = a_record(game.live.chain.last_seq + 1)
    await store.append(game.match_id, 1, 2, record, None, status=Status.ENDED)

    async with running(publisher):
        pass

    assert await log.read(MATCH_HEADS.name) == []
    assert [head.match_id for head in await store.open_heads(ALL)] == [game.match_id]


def _lag() -> float | None:
    return metrics.REGISTRY.get_sample_value(names.OUTBOX_LAG.name)


def _keys(appends: Iterable[Sequence[Entry]]) -> set[MatchId]:
    return {MatchId(entry.key) for entries in appends for entry in entries}
