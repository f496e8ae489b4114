"""The states that are kept now and then (W9)."""

import asyncio
import json
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest

from libs.kernel.chance import FairDraws
from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId
from libs.rules import phases
from libs.rules.match import Match
from libs.rules.rule_sets import RULE_SETS
from libs.rules.snapshot import SCHEMA, load, state_hash
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.ports import Snapshot
from libs.wire.chain import Chain
from libs.wire.record import StoredRecord
from services.match_engine.live import LiveMatch
from services.match_engine.snapshots import WAITING_MAX, Snapshots, snapshot_of
from tests.store.records import AT_MS, SEED, a_match_id, a_record
from tests.support.waiting import until


class Store(MemoryMatchStore):
    """A store that can be away, or silent."""

    def __init__(self) -> None:
        super().__init__(ManualClock(AT_MS), self._next_fault)
        self.fault: Fault | None = None
        self.reached = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def _next_fault(self, method: str) -> Fault | None:
        if method != "put_snapshot":
            return None
        self.reached.set()
        await self.may_answer.wait()
        return self.fault


class Game:
    """A match that goes on by so many events at a time, and tells a listener."""

    def __init__(self, store: Store, snapshots: Snapshots) -> None:
        self.match_id = a_match_id()
        self.live = LiveMatch(_a_state(), Chain(self.match_id), FairDraws(self.match_id, bytes(32)))
        self._store = store
        self._snapshots = snapshots

    async def play(self, events: int) -> StoredRecord:
        chain = self.live.chain
        record = a_record(chain.last_seq + 1, events)
        if not chain.last_seq:
            await self._store.create(self.match_id, record, SEED, None, None)
        chain.advance(record.stored, AT_MS)
        self._snapshots.committed(self.live, record.stored)
        return record.stored


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
async def snapshots(store: Store) -> AsyncIterator[Snapshots]:
    made = Snapshots(store, every=200)
    task = asyncio.create_task(made.run())
    yield made
    task.cancel()


@pytest.fixture
def game(store: Store, snapshots: Snapshots) -> Game:
    return Game(store, snapshots)


async def _kept(store: Store, match_id: MatchId, seq: int) -> Snapshot | None:
    return await store.snapshot(match_id, seq, schema_version=SCHEMA)


async def test_a_state_is_kept_each_time_so_many_events_are_passed(
    game: Game, store: Store
) -> None:
    kept = []
    for _ in range(5):
        last = await game.play(90)  # 90, 180, 270, 360, 450
        await asyncio.sleep(0)
        await until(lambda: not game._snapshots._waiting)
        snapshot = await _kept(store, game.match_id, last.last_seq)
        kept.append(snapshot and snapshot.seq)

    assert kept == [None, None, 270, 270, 450]


async def test_the_last_state_is_kept_whenever_it_comes(game: Game, store: Store) -> None:
    await game.play(5)
    game.live.match.phase = phases.ENDED
    await game.play(1)

    await store.reached.wait()

    await until(lambda: not game._snapshots._waiting)
    snapshot = await _kept(store, game.match_id, 6)
    assert snapshot is not None
    assert snapshot.seq == 6


def test_a_snapshot_loads_as_the_state_that_it_was() -> None:
    match = _a_state()

    snapshot = snapshot_of(match, 7)

    assert snapshot.seq == 7
    assert snapshot.schema_version == SCHEMA
    assert snapshot.rule_set == match.rules.rule_set_id
    assert snapshot.state_hash == state_hash(match) == state_hash(load(json.loads(snapshot.state)))
    assert snapshot.state_hash == sha256(snapshot.state).digest()


async def test_a_store_that_is_away_costs_one_snapshot_and_no_more(
    game: Game, store: Store
) -> None:
    store.fault = Fault.UNAVAILABLE
    await game.play(200)
    await store.reached.wait()
    store.fault = None

    await game.play(200)
    await until(lambda: not game._snapshots._waiting)
    await asyncio.sleep(0)

    snapshot = await _kept(store, game.match_id, 400)
    assert snapshot is not None
    assert snapshot.seq == 400


async def test_of_a_match_the_newest_state_waits_alone(game: Game, store: Store) -> None:
    store.may_answer.clear()
    await Game(store, game._snapshots).play(200)
    await store.reached.wait()
    for _ in range(3):
        await game.play(200)
    waiting = dict(game._snapshots._waiting)
    store.may_answer.set()

    assert [seq for seq, _ in waiting.values()] == [600]


async def test_too_many_are_not_kept_and_hold_nobody_up(store: Store, snapshots: Snapshots) -> None:
    store.may_answer.clear()
    games = [Game(store, snapshots) for _ in range(WAITING_MAX + 10)]
    for game in games:
        await game.play(200)
    waiting = len(snapshots._waiting)
    store.may_answer.set()

    assert waiting <= WAITING_MAX


async def test_a_match_that_has_gone_on_is_no_state_of_an_earlier_record(
    game: Game, snapshots: Snapshots
) -> None:
    earlier = a_record(1, 200).stored
    game.live.chain.advance(earlier, AT_MS)
    game.live.chain.advance(a_record(201).stored, AT_MS)

    snapshots.committed(game.live, earlier)

    assert not snapshots._waiting


def _a_state() -> Match:
    match = Match()
    match.rules = next(iter(RULE_SETS.values()))
    match.board = match.rules.board
    return match
