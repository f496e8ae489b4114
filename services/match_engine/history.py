"""A match at any moment of its past, from its snapshots and records (write protocol, W9)."""

from typing import Final, NamedTuple

from libs.kernel.ids import MatchId
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.snapshot import SCHEMA
from libs.store.ports import MatchStore
from libs.wire.record import StoredRecord, decode
from opolyx.record.v1 import event_pb2, record_pb2
from services.match_engine.replaying import match_of

PAGE: Final = 100
"""How many records are replayed at a time; then others have their turn."""


class PastEvent(NamedTuple):
    """An event, the match as it was just before it, and the event as it is recorded."""

    before: Match
    event: e.Event
    message: event_pb2.Event


class History:
    """Reads what happened. Whoever asks has seen to it that the match has got there."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store

    async def match_at(self, match_id: MatchId, sequence: int) -> Match:
        """Return the match after its event of that number, inside a record perhaps; 0 is unborn."""
        match = await self._nearest(match_id, sequence)
        while match.sequence < sequence:
            page = await self._store.records(match_id, match.sequence, PAGE)
            assert page, (match_id, match.sequence, sequence)
            for stored in page:
                apply(match, decode(stored.data).events[: sequence - match.sequence])
        return match

    async def record_at(self, match_id: MatchId, sequence: int) -> StoredRecord:
        """Return the record that holds the event of that number."""
        (stored,) = await self._store.records(match_id, sequence - 1, 1)
        return stored

    async def hash_at(self, match_id: MatchId, sequence: int) -> bytes:
        """Return the hash of the chain at a sequence, empty inside a record."""
        stored = await self.record_at(match_id, sequence)
        return stored.hash if stored.last_seq == sequence else b""

    async def event_at(self, match_id: MatchId, sequence: int) -> PastEvent:
        """Return the event of that number."""
        before = await self.match_at(match_id, sequence - 1)
        stored = await self.record_at(match_id, sequence)
        place = sequence - stored.first_seq
        message = record_pb2.Record.FromString(stored.data).events[place]
        return PastEvent(before, decode(stored.data).events[place], message)

    async def _nearest(self, match_id: MatchId, sequence: int) -> Match:
        """Return the match as the last good snapshot has it, or unborn."""
        snapshot = await self._store.snapshot(match_id, sequence, schema_version=SCHEMA)
        return (snapshot and match_of(match_id, snapshot)) or Match()
