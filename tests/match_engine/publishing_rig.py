"""A match that is committed, a store and an event log that can be away."""

from collections.abc import Sequence

from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import Delivery, Entry, LogUnavailableError
from libs.eventlog.storage import MemoryLogStorage
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.chance import FairDraws
from libs.kernel.clock import ManualClock
from libs.rules import phases
from libs.rules.match import Match
from libs.store.memory import MemoryMatchStore
from libs.store.ports import Ok, Published, Status, StoreUnavailableError
from libs.wire.chain import Chain
from libs.wire.heads import SignedHead, SigningKey
from libs.wire.record import StoredRecord
from services.match_engine.live import LiveMatch
from tests.store.records import AT_MS, SEED, a_match_id, a_record

KEY = SigningKey(bytes(32), "a-key")


class Log(LocalEventLog):
    """A log that can be away, and that tells in which pieces it was written."""

    def __init__(self) -> None:
        super().__init__(MemoryLogStorage(), ManualClock(AT_MS))
        self.is_away = False
        self.appends: list[list[Entry]] = []

    async def append(self, entries: Sequence[Entry]) -> None:
        if self.is_away:
            raise LogUnavailableError
        self.appends.append(list(entries))
        await super().append(entries)

    async def read(self, topic: str) -> list[Entry]:
        deliveries: list[Delivery] = []
        async with self.subscribe([topic], group="test") as subscription:
            while more := await subscription.fetch(wait_s=0):
                deliveries += more
        return [delivery.entry for delivery in deliveries]

    async def of(self, game: "Game") -> list[bytes]:
        """Return what the log has of a match's records, in order."""
        return [e.value for e in await self.read(MATCH_RECORDS.name) if e.key == game.match_id]


class Store(MemoryMatchStore):
    """A store that can be away for what the publisher tells, and that counts how often it does."""

    def __init__(self) -> None:
        super().__init__(ManualClock(AT_MS))
        self.is_away = False
        self.told: list[list[Published]] = []

    async def set_published(self, positions: Sequence[Published]) -> None:
        if self.is_away:
            raise StoreUnavailableError
        self.told.append(list(positions))
        await super().set_published(positions)


class Game:
    """A match whose records are committed, and told to a publisher by whoever wants to."""

    def __init__(self, store: MemoryMatchStore) -> None:
        self.match_id = a_match_id()
        self.live = LiveMatch(Match(), Chain(self.match_id), FairDraws(self.match_id, bytes(32)))
        self.data: list[bytes] = []
        self._store = store

    async def play(self, events: int = 2, *, ends: bool = False) -> StoredRecord:
        chain = self.live.chain
        record = a_record(chain.last_seq + 1, events)
        stored = record.stored
        if not chain.last_seq:
            assert await self._store.create(self.match_id, record, SEED, None, None) == Ok()
        else:
            signed = self.signed(stored) if ends else None
            status = Status.ENDED if ends else Status.LIVE
            appended = await self._store.append(
                self.match_id, 1, chain.last_seq, record, None, status=status, signed=signed
            )
            assert appended == Ok()
        chain.advance(stored, AT_MS)
        if ends:
            self.live.match.phase = phases.ENDED
        self.data.append(stored.data)
        return stored

    def signed(self, last: StoredRecord) -> SignedHead:
        return KEY.sign(self.match_id, last.last_seq, last.hash, ended=True)

    async def published_seq(self) -> int:
        head = await self._store.head(self.match_id)
        assert head is not None
        return head.published_seq
