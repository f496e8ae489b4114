"""The store of matches in memory, with faults on demand: for simulations and tests.

It is held to the same contract as the one in PostgreSQL.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from enum import Enum, auto

from libs.kernel.clock import Clock
from libs.kernel.ids import CommandId, MatchId
from libs.store.access import Label
from libs.store.memory_directory import MemoryDirectory
from libs.store.memory_stream import MemoryStream
from libs.store.ports import (
    RECORDS_MAX,
    Appended,
    Conflict,
    Created,
    Dup,
    Fenced,
    Head,
    Loaded,
    Looked,
    NewRecord,
    Ok,
    Published,
    SealedSeed,
    Snapshot,
    Status,
    StoreUnavailableError,
    Unknown,
    Wake,
)
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord


class Fault(Enum):
    """What goes wrong with one call."""

    LOST_REQUEST = auto()
    """It never arrives, and its sender cannot know."""

    LOST_REPLY = auto()
    """It is done, and its sender does not hear of it."""

    CONFLICT = auto()
    """An append or a look finds the head elsewhere, though it is not; no fault for other calls."""

    UNAVAILABLE = auto()
    """It cannot be sent, and its sender knows."""


Faults = Callable[[str], Awaitable[Fault | None]]
"""Asked before each call, by the name of the method, what goes wrong with it.

To await something first delays the call on its way: others may overtake it.
"""


class MemoryMatchStore(MemoryDirectory):
    """An `EngineStore` that lasts as long as the process."""

    def __init__(self, clock: Clock, faults: Faults | None = None) -> None:
        """Make an empty store; *clock* is what `now_ms` tells."""
        super().__init__(clock)
        self._faults = faults

    def seen_through(self, faults: Faults) -> "MemoryMatchStore":
        """Return this store as it looks to somebody whose calls suffer these faults."""
        other = MemoryMatchStore(self._clock, faults)
        other._streams = self._streams
        other._quarantined = self._quarantined
        other._calls = self._calls
        return other

    async def create(
        self,
        match_id: MatchId,
        record: NewRecord,
        seed: SealedSeed,
        wake_at_ms: int | None,
        label: Label | None,
    ) -> Created:
        """Begin a match. See `MatchStore.create`."""
        assert record.stored.first_seq == 1, record.stored.first_seq
        fault = await self._fault("create")
        if fault is Fault.LOST_REQUEST:
            return Unknown()
        outcome: Created
        stream = self._streams.get(match_id)
        if stream is None:
            self._streams[match_id] = MemoryStream(match_id, record, seed, wake_at_ms, label)
            outcome = Ok()
        else:
            outcome = stream.replies.get(record.command_id) or Conflict()
        return Unknown() if fault is Fault.LOST_REPLY else outcome

    async def append(  # noqa: PLR0913 - the port of the write protocol
        self,
        match_id: MatchId,
        fence: int,
        expected_seq: int,
        record: NewRecord,
        wake_at_ms: int | None,
        *,
        status: Status = Status.LIVE,
        signed: SignedHead | None = None,
    ) -> Appended:
        """Append a record. See `MatchStore.append`."""
        first_seq = record.stored.first_seq
        assert first_seq == expected_seq + 1, (first_seq, expected_seq)
        fault = await self._fault("append")
        if fault is Fault.LOST_REQUEST:
            return Unknown()
        stream = self._streams.get(match_id)
        if stream is None or fault is Fault.CONFLICT:
            return Conflict()
        outcome = stream.append(
            fence, expected_seq, record, wake_at_ms, status=status, signed=signed
        )
        return Unknown() if fault is Fault.LOST_REPLY else outcome

    async def fence_and_load(self, match_id: MatchId, *, schema_version: int) -> Loaded | None:
        """Become the match's writer, and read it. See `MatchStore.fence_and_load`."""
        fault = await self._fault("fence_and_load")
        if fault is Fault.LOST_REQUEST:
            raise StoreUnavailableError("no answer")
        stream = self._streams.get(match_id)
        loaded = None
        if stream is not None:
            reason, _ = self._quarantined.get(match_id, (None, 0))
            loaded = stream.fence(schema_version, reason)
        if fault is Fault.LOST_REPLY:
            raise StoreUnavailableError("no answer")
        return loaded

    async def look(
        self, match_id: MatchId, fence: int, expected_seq: int, wake_at_ms: int | None
    ) -> Looked:
        """Set the wake-up bound after a look. See `MatchStore.look`."""
        fault = await self._fault("look")
        if fault is Fault.LOST_REQUEST:
            return Unknown()
        stream = self._streams.get(match_id)
        if stream is None or fault is Fault.CONFLICT:
            return Conflict()
        refused = stream.guard(fence, expected_seq)
        if refused is None:
            stream.wake_at_ms = wake_at_ms
        return Unknown() if fault is Fault.LOST_REPLY else refused or Ok()

    async def find_command(self, match_id: MatchId, command_id: CommandId) -> Dup | None:
        """Return an accepted command's reply. See `MatchStore.find_command`."""
        stream = await self._read("find_command", match_id)
        return None if stream is None else stream.replies.get(command_id)

    async def head(self, match_id: MatchId) -> Head | None:
        """Return a match's head. See `MatchStore.head`."""
        stream = await self._read("head", match_id)
        return None if stream is None else stream.head

    async def open_heads(self, shards: Collection[int]) -> list[Head]:
        """Return what goes on or is not wholly published. See `MatchStore.open_heads`."""
        await self._answer("open_heads")
        return [
            stream.head
            for _, stream in sorted(self._streams.items())
            if stream.shard in shards and not stream.complete
        ]

    async def match_ids(self, after: MatchId | None = None, limit: int = 1000) -> list[MatchId]:
        """Return a page of ids. See `MatchStore.match_ids`."""
        await self._answer("match_ids")
        ids = sorted(self._streams)
        return [match_id for match_id in ids if after is None or match_id > after][:limit]

    async def records(
        self, match_id: MatchId, after_seq: int, limit: int = RECORDS_MAX
    ) -> list[StoredRecord]:
        """Return records from a sequence on. See `MatchStore.records`."""
        stream = await self._read("records", match_id)
        return stream.records(after_seq, limit) if stream else []

    async def snapshot(
        self, match_id: MatchId, seq: int, *, schema_version: int
    ) -> Snapshot | None:
        """Return the newest snapshot at or before *seq*. See `MatchStore.snapshot`."""
        stream = await self._read("snapshot", match_id)
        return None if stream is None else stream.snapshot(seq, schema_version)

    async def put_snapshot(self, match_id: MatchId, snapshot: Snapshot) -> None:
        """Keep a snapshot. See `MatchStore.put_snapshot`."""
        stream = await self._read("put_snapshot", match_id)
        if stream is not None:
            stream.put_snapshot(snapshot)

    async def seed(self, match_id: MatchId) -> SealedSeed | None:
        """Return a match's sealed seed. See `MatchStore.seed`."""
        stream = await self._read("seed", match_id)
        return None if stream is None else stream.seed

    async def wakes_due(self, shards: Collection[int], by_ms: int, limit: int) -> list[Wake]:
        """Return the matches to be looked at. See `MatchStore.wakes_due`."""
        await self._answer("wakes_due")
        due = [
            (stream.wake_at_ms, match_id)
            for match_id, stream in self._streams.items()
            if stream.shard in shards
            and stream.wake_at_ms is not None
            and stream.wake_at_ms <= by_ms
        ]
        return [Wake(match_id, wake_at_ms) for wake_at_ms, match_id in sorted(due)[:limit]]

    async def set_published(self, positions: Sequence[Published]) -> None:
        """Move published positions on. See `MatchStore.set_published`."""
        await self._answer("set_published")
        for position in positions:
            if position.match_id in self._streams:
                self._streams[position.match_id].publish(position)

    async def admit(self, match_id: MatchId, fence: int, player_id: str) -> Ok | Fenced:
        """Add a guest. See `MatchStore.admit`."""
        stream = await self._read("admit", match_id)
        return (stream.admit(fence, player_id) if stream else Fenced()) or Ok()

    async def now_ms(self) -> int:
        """Return the time by the clock given. See `MatchStore.now_ms`."""
        await self._answer("now_ms")
        return self._clock.now_ms()

    async def _read(self, method: str, match_id: MatchId) -> MemoryStream | None:
        await self._answer(method)
        return self._streams.get(match_id)

    async def _answer(self, method: str) -> None:
        """Let a call through that does no harm if it is made again: any fault is no answer."""
        fault = await self._fault(method)
        if fault in (Fault.LOST_REQUEST, Fault.LOST_REPLY):
            raise StoreUnavailableError("no answer")

    async def _fault(self, method: str) -> Fault | None:
        fault = await self._faults(method) if self._faults is not None else None
        if fault is Fault.UNAVAILABLE:
            raise StoreUnavailableError("no connection")
        return fault
