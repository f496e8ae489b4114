"""Reads of one match: what is durable, at its head or before (write protocol, self-fencing).

Each goes by way of `Decider.read`, which refuses them all while this engine's lease is stale.
"""

import asyncio
from collections.abc import Iterator
from typing import Final, NamedTuple

from libs.chassis.status import RefusedError, refused
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.match import Match
from libs.store.directory import EngineStore
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord
from libs.wire.requests import MalformedError, Violation
from services.match_engine.callers import Caller, check_sees, is_operator
from services.match_engine.deciding import Decider
from services.match_engine.history import History, PastEvent
from services.match_engine.live import LiveMatch
from services.match_engine.pushes import Pushed, Pushes
from services.match_engine.seeing import Seeing
from services.match_engine.signing import SigningKeys

PATIENCE_S: Final = 1.0
"""How long a read waits for a sequence that the match has not got to yet (start)."""

PAGE_BYTES_MAX: Final = 1024 * 1024 - 1024
"""How large the records of a page are at most, but for the first: 1 MiB, with all about them."""

_FRAMING: Final = 128
"""What a record takes in a page besides its bytes, at most: its hash, its place, its tags."""


class Moment(NamedTuple):
    """A match at a sequence; *chain_hash* is empty inside a record."""

    match: Match
    sequence: int
    chain_hash: bytes


class Page(NamedTuple):
    """Some records; *next_after* is where the next page begins, None if this is the last.

    Those of a match in quarantine are as they are stored, and may make no sense.
    """

    records: list[StoredRecord]
    head_sequence: int
    next_after: int | None
    is_quarantined: bool = False


class Reading:
    """What can be asked about a match that this engine owns.

    Every method raises `RefusedError`: MATCH_NOT_FOUND, MATCH_QUARANTINED, NOT_OWNER_OF_SHARD, and
    STALE_SEQUENCE where the match has not got to what is asked for; and `StoreUnavailableError`.
    """

    def __init__(
        self, decider: Decider, store: EngineStore, pushes: Pushes, keys: SigningKeys
    ) -> None:
        self._decider = decider
        self._store = store
        self._history = History(store)
        self._pushes = pushes
        self._keys = keys
        self._seeing = Seeing(store)

    async def now(
        self, caller: Caller, match_id: MatchId, *, min_sequence: int | None = None
    ) -> Moment:
        """Return the match at its head, waiting a moment until that is at *min_sequence*."""
        live = await self._live(caller, match_id, min_sequence or 0)
        return Moment(live.match, live.chain.last_seq, live.chain.last_hash)

    async def then(
        self, caller: Caller, match_id: MatchId, sequence: int, *, min_sequence: int | None = None
    ) -> Moment:
        """Return the match as it was at a sequence, from 1."""
        now = await self.now(caller, match_id, min_sequence=max(min_sequence or 0, sequence))
        if now.sequence == sequence:
            return now
        match = await self._history.match_at(match_id, sequence)
        return Moment(match, sequence, await self._history.hash_at(match_id, sequence))

    async def event(self, caller: Caller, match_id: MatchId, sequence: int) -> PastEvent:
        """Return an event, from 1, with the match as it was just before."""
        await self._live(caller, match_id, sequence)
        return await self._history.event_at(match_id, sequence)

    async def page(  # noqa: PLR0913 - as it is asked for
        self,
        caller: Caller,
        match_id: MatchId,
        after: int,
        *,
        limit: int,
        last_sequence: int | None,
        min_sequence: int,
        is_decoded: bool,
    ) -> Page:
        """Return the records behind *after*: at least one if there are any, not too many bytes.

        None begins after *last_sequence*. With *is_decoded* each counts twice. Operators may read
        what is in quarantine too: that is when it is needed most.
        """
        live: LiveMatch | None = None
        try:
            live = await self._live(caller, match_id, max(min_sequence, after))
        except RefusedError as error:
            if error.told.reason != Reason.MATCH_QUARANTINED or not is_operator(caller):
                raise
        head = await self._stored_head(match_id) if live is None else live.chain.last_seq
        end = head if last_sequence is None else min(head, last_sequence)
        found = None if live is None else live.recent(after)
        if found is None:
            found = await self._store.records(match_id, after, limit)
        wanted = [record for record in found[:limit] if record.first_seq <= end]
        records = list(_within(wanted, 2 if is_decoded else 1))
        position = records[-1].last_seq if records else after
        has_more = bool(records) and position < end
        return Page(records, head, position if has_more else None, is_quarantined=live is None)

    async def head(
        self, caller: Caller, match_id: MatchId, *, sequence: int | None, min_sequence: int
    ) -> SignedHead:
        """Return the signed head, as it is or as it was at a sequence where a record ends.

        Raises:
            MalformedError: *sequence* lies inside a record.

        """
        live = await self._live(caller, match_id, max(min_sequence, sequence or 0))
        last_seq, last_hash, is_over = live.chain.last_seq, live.chain.last_hash, live.is_over
        if sequence is None or sequence == last_seq:
            if is_over:
                head = await self._store.head(match_id)
                if head is not None and head.signed is not None:
                    return head.signed
            return self._keys.sign(match_id, last_seq, last_hash, ended=is_over)
        hash_then = await self._history.hash_at(match_id, sequence)
        if not hash_then:
            raise MalformedError([Violation("sequence", "lies inside a record")])
        return self._keys.sign(match_id, sequence, hash_then, ended=False)

    async def _live(self, caller: Caller, match_id: MatchId, at_least: int) -> LiveMatch:
        async with self._seeing.veiled(caller, match_id):
            live = await self._decider.read(match_id)
        check_sees(caller, live)
        if live.chain.last_seq < at_least and not live.is_over:
            await self._wait(match_id, at_least)
            live = await self._decider.read(match_id)
        if live.chain.last_seq < at_least:
            raise refused(Reason.STALE_SEQUENCE, asked=at_least, head=live.chain.last_seq)
        return live

    async def _stored_head(self, match_id: MatchId) -> int:
        head = await self._store.head(match_id)
        assert head is not None, match_id
        return head.seq

    async def _wait(self, match_id: MatchId, sequence: int) -> None:
        """Return when the match has got to a sequence or its end, has gone, or takes too long."""
        waiter = _Waiter(sequence)
        self._pushes.follow(match_id, waiter)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await waiter.is_done.wait()
        except TimeoutError:
            pass
        finally:
            self._pushes.unfollow(match_id, waiter)


class _Waiter:
    """Waits until a match has got to a sequence, or to its end. A `Follower`."""

    def __init__(self, sequence: int) -> None:
        self._sequence = sequence
        self.is_done = asyncio.Event()

    def committed(self, record: Pushed) -> None:
        """See `Follower.committed`."""
        if record.last_seq >= self._sequence or record.is_last:
            self.is_done.set()

    def dropped(self, reason: Reason) -> None:  # noqa: ARG002 - whoever reads anew finds out why
        """See `Follower.dropped`."""
        self.is_done.set()

    def attended(self) -> None:
        """See `Follower.attended`."""


def _within(records: list[StoredRecord], copies: int) -> Iterator[StoredRecord]:
    """Yield as many records as a page may hold, and at least one."""
    size = 0
    for record in records:
        size += copies * (len(record.data) + _FRAMING)
        if size > PAGE_BYTES_MAX and record is not records[0]:
            return
        yield record
