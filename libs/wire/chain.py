"""The chain of a match's records: joining one on, and following it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from libs.kernel.ids import CommandId, MatchId
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.wire.events import read_events
from libs.wire.record import (
    GENESIS,
    Record,
    StoredRecord,
    chain_hash,
    encode,
    open_envelope,
    record_of,
)


class BrokenChainError(ValueError):
    """A record does not join on to the one before it."""


class Chain:
    """The end of a match's stream, to which the next record is joined.

    Attributes:
        match_id: the match.
        fence: of the writer; it may be raised and never falls.
        last_seq, last_hash, at_ms: of the last record, 0, `GENESIS` and 0 before the first.

    """

    def __init__(self, match_id: MatchId, fence: int = 1) -> None:
        self.match_id = match_id
        self.fence = fence
        self.last_seq = 0
        self.last_hash = GENESIS
        self.at_ms = 0

    @classmethod
    def behind(cls, last: Record, last_hash: bytes, fence: int) -> "Chain":
        """Return the end of a stream whose last record is known, for its next writer."""
        chain = cls(last.match_id, fence)
        chain.last_seq, chain.last_hash, chain.at_ms = last.last_seq, last_hash, last.at_ms
        return chain

    def join(
        self, command_id: CommandId, actor: str, at_ms: int, events: Sequence[e.Event]
    ) -> StoredRecord:
        """Write the next record. Time never falls: *at_ms* before the last record's counts as that.

        Raises:
            RecordTooLargeError: it is over 256 KiB; the chain is as before.

        """
        record = self.draft(command_id, actor, at_ms, events)
        self.advance(record, at_ms)
        return record

    def draft(
        self, command_id: CommandId, actor: str, at_ms: int, events: Sequence[e.Event]
    ) -> StoredRecord:
        """Write what would be the next record, as `join` does, and leave the chain as it is."""
        at_ms = max(at_ms, self.at_ms)
        first_seq = self.last_seq + 1
        record = Record(
            self.match_id,
            first_seq,
            self.fence,
            command_id,
            actor,
            at_ms,
            list(events),
            self.last_hash,
        )
        data = encode(record)
        return StoredRecord(first_seq, record.last_seq, chain_hash(self.last_hash, data), data)

    def advance(self, record: StoredRecord, at_ms: int) -> None:
        """Go on over the record that was drafted last, once it is known to be written."""
        assert record.first_seq == self.last_seq + 1, record.first_seq
        self.last_seq, self.last_hash = record.last_seq, record.hash
        self.at_ms = max(at_ms, self.at_ms)


def follow(records: Iterable[StoredRecord]) -> Iterator[Record]:
    """Read records from the first of their match on, each if it joins on to the one before.

    Raises:
        BrokenChainError: a record's place, hash, match, fence or time is wrong.
        UnreadableError: some bytes are no record.
        NewerSchemaError: a record was written by a newer opolyx.

    """
    reader = ChainReader()
    for stored in records:
        yield reader.take(stored)


def rebuild(records: Iterable[StoredRecord]) -> Match:
    """Make a match again from its stored records, checking sequences and hashes on the way.

    Raises:
        BrokenChainError: a record's place or hash is wrong.
        UnreadableError, NewerSchemaError: see `follow`.

    """
    match = Match()
    end = _End()
    for stored in records:
        _, events = end.take(stored)
        apply(match, events)
    return match


class ChainReader:
    """Reads the records of a match as they come, from the first on: what `follow` is made of."""

    def __init__(self) -> None:
        self._end = _End()
        self._before: Record | None = None

    @classmethod
    def at(cls, stored: StoredRecord) -> "ChainReader":
        """Return a reader that begins with this record, wherever in the stream it stands.

        What came before it is taken on its word.

        Raises:
            UnreadableError, NewerSchemaError: see `follow`.

        """
        reader = cls()
        reader._end.last_seq = stored.first_seq - 1
        reader._end.last_hash = open_envelope(stored.data).prev_hash
        return reader

    @property
    def last_seq(self) -> int:
        """The sequence of the last record that was taken, 0 before the first."""
        return self._end.last_seq

    @property
    def last_hash(self) -> bytes:
        """Its hash, `GENESIS` before the first."""
        return self._end.last_hash

    def take(self, stored: StoredRecord) -> Record:
        """Read the next record, if it joins on. Raises what `follow` does."""
        record = record_of(*self._end.take(stored))
        before = self._before
        if before is not None and (
            record.match_id != before.match_id
            or record.fence < before.fence
            or record.at_ms < before.at_ms
        ):
            raise BrokenChainError(f"the record at {record.first_seq} does not go on")
        self._before = record
        return record


class _End:
    """How far a match has been read, and what the next record must join on to."""

    __slots__ = ("last_hash", "last_seq")

    def __init__(self) -> None:
        self.last_seq = 0
        self.last_hash = GENESIS

    def take(self, stored: StoredRecord) -> tuple[Any, list[e.Event]]:
        """Return the next record's envelope and events, if it joins on."""
        first_seq, last_seq, stored_hash, data = stored
        envelope = open_envelope(data)
        if (
            first_seq != self.last_seq + 1
            or envelope.first_seq != first_seq
            or envelope.last_seq != last_seq
            or envelope.prev_hash != self.last_hash
            or chain_hash(self.last_hash, data) != stored_hash
        ):
            raise BrokenChainError(f"the record at {first_seq} does not join on")
        # A slice is a plain list, made at once: several times as fast as to iterate over the field.
        events = read_events(envelope.events[:])
        if len(events) != last_seq - first_seq + 1:
            raise BrokenChainError(f"the record at {first_seq} has {len(events)} events")
        self.last_seq, self.last_hash = last_seq, stored_hash
        return envelope, events
