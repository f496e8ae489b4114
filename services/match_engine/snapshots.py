"""Keeps the state of each match now and then, so that it loads faster (write protocol, W9).

A snapshot proves nothing: whoever loads one checks it, and without it the records are replayed. So
nobody waits for one, and when there are too many to keep some are not.
"""

import asyncio
import json
from hashlib import sha256
from typing import Final, NoReturn

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.match import Match
from libs.rules.snapshot import SCHEMA, dump
from libs.store.ports import MatchStore, Snapshot, StoreUnavailableError
from libs.telemetry import logs
from libs.wire.record import StoredRecord
from services.match_engine.live import LiveMatch

WAITING_MAX: Final = 64
"""How many matches may wait to be written down; it is only the state that is kept meanwhile."""

_log: Final = logs.get()


class Snapshots:
    """The listener that takes snapshots. One for an engine; `run` does the work."""

    def __init__(self, store: MatchStore, *, every: int) -> None:
        """Keep in *store* the state of a match each time it passes *every* events, and its last."""
        self._store = store
        self._every = every
        # A later state takes an earlier one's place: of one match, only the newest is of use.
        self._waiting: dict[MatchId, tuple[int, Match]] = {}
        self._something = asyncio.Event()

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:
        """Have the match's state kept if it is time."""
        first, last = record.first_seq - 1, record.last_seq
        if last // self._every == first // self._every and not live.is_over:
            return
        if last != live.chain.last_seq:
            return  # the match has gone on: it is not the state of this record
        if len(self._waiting) >= WAITING_MAX and live.match_id not in self._waiting:
            _log.info("snapshot_dropped", match_id=live.match_id, reason="overload")
            return
        # A match in memory is never changed (W4): this is its state for good.
        self._waiting[live.match_id] = last, live.match
        self._something.set()

    def dropped(self, match_id: MatchId, reason: Reason) -> None:
        """Change nothing: the state was true at its sequence, whoever plays on."""

    async def run(self) -> NoReturn:
        """Keep what waits, one after the other, until cancelled."""
        while True:
            await self._something.wait()
            self._something.clear()
            while self._waiting:
                match_id = next(iter(self._waiting))
                await self._keep(match_id, *self._waiting.pop(match_id))

    async def _keep(self, match_id: MatchId, seq: int, match: Match) -> None:
        try:
            await self._store.put_snapshot(match_id, snapshot_of(match, seq))
        except StoreUnavailableError:
            _log.info("snapshot_dropped", match_id=match_id, reason="store_unavailable")


def snapshot_of(match: Match, seq: int) -> Snapshot:
    """Return what is kept of a match after *seq*: its state as JSON, and the hash of that text.

    It is the canonical text, so that the hash is also that of the state (`state_hash`).
    """
    state = json.dumps(dump(match), sort_keys=True, separators=(",", ":")).encode()
    return Snapshot(
        seq=seq,
        rule_set=match.rules.rule_set_id,
        schema_version=SCHEMA,
        state=state,
        state_hash=sha256(state).digest(),
    )
