"""Reader rule R1: which records of a match are new, which come again, and which must wait.

Pure: a `Follower` is told of records and of the time, and says what to do with them.
"""

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

from libs.kernel.ids import MatchId
from libs.wire.events import UnreadableError
from libs.wire.record import GENESIS, HASH_SIZE, chain_hash, open_envelope

GAP_WAIT_MS: Final = 2_000
"""How long a gap may fill by itself before its records are fetched (start)."""

WAITING_MAX: Final = 256
"""How many records of a match may wait for an earlier one (start)."""

HASHES_KEPT: Final = 64
"""Of how many past records a zombie is told from a double."""


class ChainedRecord(NamedTuple):
    """A record's bytes, and what joins them to the match's other records."""

    match_id: MatchId
    first_seq: int
    last_seq: int
    prev_hash: bytes
    hash: bytes
    data: bytes


def open_record(data: bytes) -> ChainedRecord:
    """Read of a record what R1 needs; its events stay bytes.

    Raises:
        UnreadableError: these bytes are no record.
        NewerSchemaError: a newer opolyx wrote it.

    """
    envelope = open_envelope(data)
    prev_hash = envelope.prev_hash
    first_seq, last_seq = envelope.first_seq, envelope.last_seq
    if len(prev_hash) != HASH_SIZE or not 1 <= first_seq <= last_seq:
        raise UnreadableError("a record without its place in the chain")
    return ChainedRecord(
        MatchId(envelope.match_id),
        first_seq,
        last_seq,
        prev_hash,
        chain_hash(prev_hash, data),
        data,
    )


@dataclass(frozen=True, slots=True)
class Position:
    """How far a match has been read: what the next record must join on to."""

    last_seq: int = 0
    last_hash: bytes = GENESIS


class Verdict(Enum):
    """What a record is to a reader."""

    NEXT = auto()
    """It joins on: write its effects, then tell the follower by `accept`."""
    DUPLICATE = auto()
    """It was accepted before."""
    ZOMBIE = auto()
    """At its place another was accepted: it belongs to no chain, or ours does not. An incident."""
    WAITS = auto()
    """Something before it is missing. It is kept here, and comes back by `take_joining`."""


class Follower:
    """Follows one match's records, in whatever order and however often they come.

    Attributes:
        heard_ms: when the last record was offered, in milliseconds since 1970 UTC.

    """

    __slots__ = ("_hashes", "_position", "_seen_to", "_waiting", "_waiting_since_ms", "heard_ms")

    def __init__(self, position: Position) -> None:
        self.heard_ms = 0
        self._position = position
        self._seen_to = position.last_seq
        self._hashes = OrderedDict([(position.last_seq, position.last_hash)])
        self._waiting: dict[int, ChainedRecord] = {}
        self._waiting_since_ms = 0

    @property
    def position(self) -> Position:
        """How far it has accepted."""
        return self._position

    @property
    def has_gap(self) -> bool:
        """Whether there are records further on than it has accepted."""
        return self._seen_to > self._position.last_seq

    def offer(self, record: ChainedRecord, now_ms: int) -> Verdict:
        """Say what *record* is. Only one that waits is remembered, and of those not too many.

        Where too many wait the rest is let go, but not forgotten: there is a gap until they came.
        """
        self.heard_ms = now_ms
        if record.first_seq <= self._position.last_seq:
            known = self._hashes.get(record.last_seq, record.hash)
            is_another = known != record.hash or record.last_seq > self._position.last_seq
            return Verdict.ZOMBIE if is_another else Verdict.DUPLICATE
        if self._joins(record):
            return Verdict.NEXT
        if not self.has_gap:
            self._waiting_since_ms = now_ms
        self._seen_to = max(self._seen_to, record.last_seq)
        if len(self._waiting) < WAITING_MAX:
            self._waiting.setdefault(record.first_seq, record)
        return Verdict.WAITS

    def accept(self, record: ChainedRecord) -> None:
        """Go on after *record*, whose effects are written."""
        assert self._joins(record), record.first_seq
        self._position = Position(record.last_seq, record.hash)
        self._hashes[record.last_seq] = record.hash
        if len(self._hashes) > HASHES_KEPT:
            self._hashes.popitem(last=False)

    def take_joining(self, now_ms: int) -> ChainedRecord | None:
        """Take out a record that waited and now has its turn, or is behind by now; else None."""
        if not self._waiting:
            return None
        first_seq = min(self._waiting)
        waiting = self._waiting[first_seq]
        if first_seq > self._position.last_seq and not self._joins(waiting):
            return None
        del self._waiting[first_seq]
        # What waits on waits for another gap, whose time begins now.
        self._waiting_since_ms = now_ms
        return waiting

    def is_overdue(self, now_ms: int) -> bool:
        """Tell whether a gap has lasted so long, or so much waits, that it must be filled."""
        if not self.has_gap:
            return False
        waited_ms = now_ms - self._waiting_since_ms
        return waited_ms >= GAP_WAIT_MS or len(self._waiting) >= WAITING_MAX

    def postpone(self, now_ms: int) -> None:
        """Let a gap that could not be filled wait for as long again."""
        self._waiting_since_ms = now_ms

    def give_up(self) -> list[ChainedRecord]:
        """Forget whatever waits, and return it: no gap is left."""
        given_up = list(self._waiting.values())
        self._waiting.clear()
        self._seen_to = self._position.last_seq
        return given_up

    def _joins(self, record: ChainedRecord) -> bool:
        position = self._position
        return record.first_seq == position.last_seq + 1 and record.prev_hash == position.last_hash
