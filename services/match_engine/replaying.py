"""From stored records back to a match; what can be checked is not trusted (W2)."""

import json
from collections import deque
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from libs.kernel.chance import SEED_SIZE, Draws, FairDraws, commitment
from libs.kernel.ids import MatchId
from libs.rules import phases
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.rule_sets import UnknownRuleSetError
from libs.rules.snapshot import load
from libs.store.access import PUBLIC, Access
from libs.store.ports import Head, Snapshot
from libs.wire.chain import BrokenChainError, Chain, ChainReader
from libs.wire.events import UnreadableError
from libs.wire.record import Record, StoredRecord
from services.match_engine.live import RECENT_MAX, Entry, LiveMatch, status_of

SPENT: Final = bytes(SEED_SIZE)
"""Stands for the seed of a match that is over: nothing is drawn any more, and the real one is known
to everybody."""


class DamagedError(Exception):
    """A match does not check out. Says what is wrong, and nothing that is secret."""


class Replay:
    """A match in the making: record after record, each held to the one before it."""

    def __init__(self, match_id: MatchId) -> None:
        """Begin before the first record."""
        self._match_id = match_id
        self._match = Match()
        self._reader = ChainReader()
        self._last: Record | None = None
        self._recent: deque[Entry] = deque(maxlen=RECENT_MAX)

    @classmethod
    def behind(cls, match_id: MatchId, match: Match, stored: StoredRecord) -> "Replay":
        """Begin with the state after a record, which a snapshot has kept.

        Raises:
            DamagedError: it is no record of the match.
            NewerSchemaError: it was written by a newer opolyx.

        """
        replay = cls(match_id)
        replay._match = match
        try:
            replay._reader = ChainReader.at(stored)
        except UnreadableError as error:
            raise DamagedError(str(error)) from error
        replay._read(stored)
        return replay

    @property
    def last_seq(self) -> int:
        """How far it has come."""
        return self._reader.last_seq

    def take(self, stored: StoredRecord) -> None:
        """Go on over the next record.

        Raises:
            DamagedError: it does not join on, or makes no sense.
            NewerSchemaError: it was written by a newer opolyx.
            UnknownRuleSetError: its rules are not known here.

        """
        record = self._read(stored)
        try:
            apply(self._match, record.events)
        except UnknownRuleSetError:
            raise
        except Exception as error:
            # Whatever it is: one match that cannot be replayed must not take the engine with it.
            what = f"the record at {record.first_seq} cannot be replayed: {type(error).__name__}"
            raise DamagedError(what) from error

    def live(
        self,
        fence: int,
        seed: bytes,
        draws_of: Callable[[MatchId, bytes], Draws] = FairDraws,
        access: Access = PUBLIC,
    ) -> LiveMatch:
        """Return the match as it is now, for its writer; *seed* is `SPENT` once it is over.

        It shares nothing that changes with this replay, which may go on.

        Raises:
            DamagedError: the seed is not the one that was committed to.

        """
        match, last = self._match.copy(), self._last
        assert last is not None, "there is a first record"
        draws = draws_of(self._match_id, seed)
        if match.phase != phases.ENDED:
            if commitment(self._match_id, seed) != match.commitment:
                raise DamagedError("the seed is not the one that was committed to")
            if match.phase != phases.SEEDING:
                draws.bind(match.client_seeds)
        chain = Chain.behind(last, self._reader.last_hash, fence)
        return LiveMatch(match, chain, draws, list(self._recent), access)

    def check_end(self, head: Head) -> bool:
        """See that the stream ends as the head says; returns whether the match is over.

        Raises:
            DamagedError: it does not.

        """
        match, last = self._match, self._last
        if last is None or (self._reader.last_seq, self._reader.last_hash) != (head.seq, head.hash):
            raise DamagedError(f"the records end at {self.last_seq}, the head is at {head.seq}")
        if last.fence > head.fence:
            raise DamagedError(f"the last record has fence {last.fence}, the head {head.fence}")
        if status_of(match) is not head.status:
            raise DamagedError(f"the state is {status_of(match)}, the head {head.status}")
        return match.phase == phases.ENDED

    def _read(self, stored: StoredRecord) -> Record:
        try:
            record = self._reader.take(stored)
        except (BrokenChainError, UnreadableError) as error:
            raise DamagedError(str(error)) from error
        if record.match_id != self._match_id:
            raise DamagedError(f"the record at {record.first_seq} is of {record.match_id}")
        self._last = record
        self._recent.append(Entry(stored, record.command_id, None, record.at_ms))
        return record


def match_of(match_id: MatchId, snapshot: Snapshot) -> Match | None:
    """Return the state that a snapshot kept; None if it is not what it should be.

    A snapshot is a cache: one that cannot be used is not worth knowing why.
    """
    if sha256(snapshot.state).digest() != snapshot.state_hash:
        return None
    try:
        match = load(json.loads(snapshot.state))
    except Exception:  # noqa: BLE001 - made by who knows which version: the records tell the truth
        return None
    return match if (match.match_id, match.sequence) == (match_id, snapshot.seq) else None
