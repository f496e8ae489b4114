"""The matches in this engine's memory, and how they get there (write protocol, W2)."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from libs.chassis.sealing import GivenUpError, UnsealableError
from libs.chassis.status import refused
from libs.kernel.chance import Draws, FairDraws
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import shard_of
from libs.rules.evolve import apply
from libs.rules.rule_sets import UnknownRuleSetError
from libs.rules.snapshot import SCHEMA
from libs.store.directory import EngineStore
from libs.store.ports import Loaded, Snapshot
from libs.telemetry import logs, metrics, names
from libs.wire.events import NewerSchemaError
from libs.wire.record import StoredRecord, decode
from services.match_engine.live import Entry, Listener, LiveMatch
from services.match_engine.replaying import SPENT, DamagedError, Replay, match_of
from services.match_engine.seeds import Seeds

CAPACITY: Final = 10_000
"""How many matches are kept in memory (start)."""

OVER_SHARE: Final = 100
"""One place of so many is for a match that is over (start): people look at those for a moment, and
whoever looks later loads them again."""

BREATH: Final = 100
"""How many records are replayed before others get their turn of the loop."""

_NOT_FOR_US: Final = (NewerSchemaError, UnknownRuleSetError, UnsealableError)
"""A match that another release, or one with other keys, may be able to read."""

_log: Final = logs.get()
_ACTIVE: Final = metrics.gauge(names.MATCHES_ACTIVE)
_REHYDRATE: Final = metrics.histogram(names.REHYDRATE)


class Matches:
    """What is in memory: matches of shards that are ours, each as its last record left it.

    Bounded: the match that was not used for longest gives way, and of those that are over much
    sooner: those that go on are used by their deadlines.
    """

    def __init__(
        self,
        store: EngineStore,
        seeds: Seeds,
        owns: Callable[[int], bool],
        *,
        capacity: int = CAPACITY,
        draws_of: Callable[[MatchId, bytes], Draws] = FairDraws,
    ) -> None:
        """Begin with none; *owns* tells whether a shard is ours and our lease fresh.

        *draws_of* makes the chance of a match that is loaded.
        """
        self._store = store
        self._seeds = seeds
        self._owns = owns
        self._capacity = capacity
        self._over_max = max(capacity // OVER_SHARE, 1)
        self._draws_of = draws_of
        self._loaded: OrderedDict[MatchId, LiveMatch] = OrderedDict()
        # Those of them that are over, least recently used first.
        self._over: OrderedDict[MatchId, None] = OrderedDict()
        # Matches that are to be loaded anew, as the listeners were last told of each.
        self._outdated: dict[MatchId, LiveMatch] = {}
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Let *listener* hear of every record and every loss; in the order of these calls."""
        self._listeners.append(listener)

    def loaded(self) -> list[LiveMatch]:
        """Return what is in memory, least recently used first."""
        return list(self._loaded.values())

    def check_owned(self, match_id: MatchId) -> None:
        """Go on if the match is this engine's to serve.

        Raises:
            RefusedError: NOT_OWNER_OF_SHARD.

        """
        if not self._owns(shard_of(match_id)):
            raise refused(Reason.NOT_OWNER_OF_SHARD)

    def find(self, match_id: MatchId) -> LiveMatch | None:
        """Return a match if it is in memory, and ours. Counts as a use."""
        live = self._loaded.get(match_id)
        if live is None or not self._owns(live.shard):
            return None
        self._loaded.move_to_end(match_id)
        if match_id in self._over:
            self._over.move_to_end(match_id)
        return live

    async def get(self, match_id: MatchId) -> LiveMatch:
        """Return a match, loading it under a new fence if need be (W2). For who has its turn.

        Raises:
            RefusedError: NOT_OWNER_OF_SHARD, MATCH_NOT_FOUND, MATCH_QUARANTINED; STORE_UNAVAILABLE
                for a match that another release, or one with other keys, may be able to read.
            StoreUnavailableError: the store did not answer.

        """
        self.check_owned(match_id)
        return self.find(match_id) or await self._load(match_id)

    async def release(self, match_id: MatchId) -> int:
        """Take a match out of quarantine if all of it checks out, from its first record on.

        Returns the sequence of its head. For who has its turn.

        Raises:
            RefusedError: MATCH_NOT_FOUND, MATCH_NOT_QUARANTINED; MATCH_QUARANTINED, it stays, with
                what is wrong as `cause`; otherwise as in `get`.
            StoreUnavailableError: the store did not answer.

        """
        self.check_owned(match_id)
        if await self._store.head(match_id) is None:
            raise refused(Reason.MATCH_NOT_FOUND)
        if not await self._store.quarantined(only=match_id):
            raise refused(Reason.MATCH_NOT_QUARANTINED)
        # It may be in memory, if somebody else has put it into quarantine.
        self.drop(match_id, Reason.MATCH_QUARANTINED)
        loaded = await self._store.fence_and_load(match_id, schema_version=SCHEMA)
        assert loaded is not None, match_id
        try:
            records = await self._records(match_id, loaded.head.seq)
            await self._checked(loaded, await _over(Replay(match_id), records))
        except DamagedError as error:
            raise refused(Reason.MATCH_QUARANTINED, cause=str(error)) from error
        except _NOT_FOR_US as error:
            raise refused(Reason.STORE_UNAVAILABLE) from error
        await self._store.release(match_id)
        _log.warning("match_released", match_id=match_id, last_seq=loaded.head.seq)
        return loaded.head.seq

    def add(self, live: LiveMatch, record: StoredRecord) -> None:
        """Keep a match that was created just now, by *record*; whoever created it is its writer."""
        if self._owns(live.shard):
            self._keep(live)
            self.tell(live, record)

    def tell(self, live: LiveMatch, record: StoredRecord) -> None:
        """Tell the listeners of the last record of a match, unless the match was dropped."""
        if self._loaded.get(live.match_id) is live:
            for listener in self._listeners:
                listener.committed(live, record)
            self._retire(live)

    def reload(self, live: LiveMatch) -> None:
        """Forget a match that may have moved on, to load it anew at its next turn (W6).

        It is still ours: the listeners hear then of what was committed in between.
        """
        if self._loaded.get(live.match_id) is live:
            del self._loaded[live.match_id]
            self._over.pop(live.match_id, None)
            self._outdated[live.match_id] = live
            _ACTIVE.set(len(self._loaded))

    def drop(self, match_id: MatchId, reason: Reason) -> None:
        """Forget a match, and tell the listeners why. Nothing happens if it is not in memory."""
        live = self._loaded.pop(match_id, None) or self._outdated.pop(match_id, None)
        self._over.pop(match_id, None)
        if live is not None:
            _ACTIVE.set(len(self._loaded))
            for listener in self._listeners:
                listener.dropped(match_id, reason)

    def drop_all(self, reason: Reason) -> None:
        """Forget every match."""
        for match_id in [*self._loaded, *self._outdated]:
            self.drop(match_id, reason)

    def _keep(self, live: LiveMatch) -> None:
        self._loaded[live.match_id] = live
        while len(self._loaded) > self._capacity:
            # Whoever follows it comes again, and it is loaded again.
            self.drop(next(iter(self._loaded)), Reason.NOT_OWNER_OF_SHARD)
        self._retire(live)
        _ACTIVE.set(len(self._loaded))

    def _retire(self, live: LiveMatch) -> None:
        """Take note of a match that may be over; the one that has been for longest gives way."""
        if live.is_over:
            self._over[live.match_id] = None
            if len(self._over) > self._over_max:
                self.drop(next(iter(self._over)), Reason.NOT_OWNER_OF_SHARD)

    async def _load(self, match_id: MatchId) -> LiveMatch:
        began_s = time.perf_counter()
        try:
            live = await self._replay(match_id)
        except DamagedError as error:
            await self._store.quarantine(match_id, str(error))
            _log.error("match_quarantined", match_id=match_id, reason=str(error))
            self.drop(match_id, Reason.MATCH_QUARANTINED)
            raise refused(Reason.MATCH_QUARANTINED) from error
        except _NOT_FOR_US as error:
            _log.error("match_left_alone", match_id=match_id, error=type(error).__name__)
            raise refused(Reason.STORE_UNAVAILABLE) from error
        # The shard may have been lost meanwhile, and with it what the listeners were told.
        self.check_owned(match_id)
        before = self._outdated.pop(match_id, None)
        if before is not None:
            self._tell_since(before, live)
        self._keep(live)
        _REHYDRATE.observe(time.perf_counter() - began_s)
        return live

    async def _replay(self, match_id: MatchId) -> LiveMatch:
        loaded = await self._store.fence_and_load(match_id, schema_version=SCHEMA)
        if loaded is None:
            raise refused(Reason.MATCH_NOT_FOUND)
        if loaded.quarantined is not None:
            raise refused(Reason.MATCH_QUARANTINED)
        return await self._checked(loaded, await self._replayed(loaded))

    async def _checked(self, loaded: Loaded, replay: Replay) -> LiveMatch:
        """Return the match that a replay has come to, if that is what the head says."""
        head = loaded.head
        is_over = replay.check_end(head)
        seed = SPENT if is_over else await self._seed(head.match_id)
        return replay.live(head.fence, seed, self._draws_of, loaded.access)

    async def _replayed(self, loaded: Loaded) -> Replay:
        """Go over the records that were loaded, or over all of them if the snapshot is wrong."""
        head, snapshot = loaded.head, loaded.snapshot
        if snapshot is None:
            return await _over(Replay(head.match_id), loaded.records)
        try:
            replay = await _over(await self._behind(head.match_id, snapshot), loaded.records)
            replay.check_end(head)
        except DamagedError as error:
            _log.warning("snapshot_ignored", match_id=head.match_id, reason=str(error))
            records = await self._records(head.match_id, head.seq)
            return await _over(Replay(head.match_id), records)
        return replay

    async def _behind(self, match_id: MatchId, snapshot: Snapshot) -> Replay:
        """Begin with a snapshot and the record that it follows, which the next one must join."""
        match = match_of(match_id, snapshot)
        behind = await self._store.records(match_id, snapshot.seq - 1, limit=1)
        if match is None or not behind or behind[0].last_seq != snapshot.seq:
            raise DamagedError("the snapshot is not what it should be")
        return Replay.behind(match_id, match, behind[0])

    async def _records(self, match_id: MatchId, head_seq: int) -> list[StoredRecord]:
        """Read all records up to the head as it was when the fence was raised."""
        records: list[StoredRecord] = []
        while page := await self._store.records(match_id, records[-1].last_seq if records else 0):
            records += page
        return [record for record in records if record.last_seq <= head_seq]

    async def _seed(self, match_id: MatchId) -> bytes:
        sealed = await self._store.seed(match_id)
        if sealed is None:
            raise DamagedError("there is no seed")
        try:
            return self._seeds.unseal(match_id, sealed)
        except GivenUpError as error:
            raise DamagedError(f"its seed cannot be opened: {error}") from error

    def _tell_since(self, before: LiveMatch, live: LiveMatch) -> None:
        """Tell the listeners what was committed since they were last told of a match (W6, W7).

        They see the match as it was after each record, as ever.
        """
        untold = live.recent(before.chain.last_seq)
        if untold is None:
            for listener in self._listeners:
                listener.dropped(live.match_id, Reason.NOT_OWNER_OF_SHARD)
            return
        for stored in untold:
            record = decode(stored.data)
            match = apply(before.match.copy(), record.events)
            before.advance(match, Entry(stored, record.command_id, None, record.at_ms))
            seen = live if stored is untold[-1] else before
            for listener in self._listeners:
                listener.committed(seen, stored)


async def _over(replay: Replay, records: Sequence[StoredRecord]) -> Replay:
    for number, record in enumerate(records, start=1):
        replay.take(record)
        if number % BREATH == 0:
            await asyncio.sleep(0)
    return replay
