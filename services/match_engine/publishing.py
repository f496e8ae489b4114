"""Brings the records to the event log: in order, each at least once, and in nobody's way (W8).

Play never waits for the log. What it is owed is found in the store, where a commit and the duty to
publish it are the same thing; what is kept here in memory only spares the reading.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from libs.chassis.process import Restarts
from libs.eventlog.ports import Entry, EventLog, LogUnavailableError
from libs.eventlog.topics import MATCH_HEADS, MATCH_RECORDS, SCHEMA, SEQUENCE, TYPE
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import shard_of
from libs.store.ports import Head, MatchStore, StoreUnavailableError
from libs.telemetry import logs, metrics, names, traces
from libs.wire.heads import SignedHead
from libs.wire.record import VERSION, StoredRecord
from opolyx.match.v1 import match_pb2
from opolyx.record.v1 import record_pb2
from services.match_engine.live import LiveMatch
from services.match_engine.tails import Queued, Tail

LINGER_S: Final = 0.1
"""How long records wait for company (start): each append is a commit of its own here, and some more
at each of its readers, while play wants to commit too; and nobody at a table waits for the log."""

SCAN_S: Final = 3.0
"""How often the store is asked what is committed and not published (start)."""

TELL_S: Final = 1.0
"""How often the store is told how far the log is (start)."""

BATCH_ENTRIES: Final = 256
BATCH_BYTES: Final = 1 << 20
"""How much one append to the log holds at most, or a little more."""

RECORDS_MAX: Final = 32
"""How many records of one match go into one append: the others' turn comes soon."""

BUFFERED_BYTES: Final = 32 << 20
"""How much is kept in memory; what is beyond that is read from the store when its turn comes."""

_RECORD: Final = record_pb2.Record.DESCRIPTOR.full_name
_HEAD: Final = match_pb2.SignedHead.DESCRIPTOR.full_name

_log: Final = logs.get()
_LAG: Final = metrics.gauge(names.OUTBOX_LAG)


class _Part(NamedTuple):
    """What one append holds of one match: up to *seq*, or the signed head."""

    tail: Tail
    seq: int
    entries: list[Entry]
    is_head: bool = False


class Publisher:
    """The listener that publishes what was committed. One for an engine; `run` does the work."""

    def __init__(
        self,
        store: MatchStore,
        log: EventLog,
        shards: Callable[[], frozenset[int]],
        *,
        buffered_bytes: int = BUFFERED_BYTES,
    ) -> None:
        """Publish to *log* what *store* has of the matches whose *shards* are served here."""
        self._store = store
        self._event_log = log
        self._shards = shards
        self._scanned: frozenset[int] = frozenset()
        self._buffered_max = buffered_bytes
        self._buffered = 0
        self._tails: dict[MatchId, Tail] = {}
        # Those of whom something is to be published, in the order of their turns.
        self._behind: dict[MatchId, Tail] = {}
        self._untold: dict[MatchId, Tail] = {}
        self._something = asyncio.Event()
        self._is_ending = False
        self._scan_at = self._tell_at = 0.0  # by the clock of the loop; at once

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:
        """Have a record published, behind those of its match that are not."""
        match_id = live.match_id
        tail = self._tails.get(match_id)
        if tail is None:
            # Only of a match that begins is it known that nothing is published before.
            tail = self._tails[match_id] = Tail(match_id, 0 if record.first_seq == 1 else None)
        tail.saw(live.chain.last_seq, is_over=live.is_over)
        size = len(record.data)
        if tail.end == record.first_seq - 1 and self._buffered + size <= self._buffered_max:
            tail.queue.append(Queued(record, traces.carrier()))
            self._buffered += size
        self._behind[match_id] = tail
        self._something.set()

    def dropped(self, match_id: MatchId, reason: Reason) -> None:
        """Change nothing: the log is owed what was committed, whoever plays on."""

    def finish(self) -> None:
        """Let `run` publish what is left, tell the store, and return."""
        self._is_ending = True
        self._something.set()

    async def run(self) -> None:
        """Publish until `finish` is called, however often log and store are away meanwhile."""
        backoff = Restarts()
        attempt = 0
        while True:
            try:
                await self._round()
            except (LogUnavailableError, StoreUnavailableError) as error:
                attempt += 1
                delay_s = backoff.delay_s(attempt)
                _log.warning(
                    "publishing_delayed",
                    attempt=attempt,
                    delay_s=delay_s,
                    error=type(error).__name__,
                )
                await asyncio.sleep(delay_s)
                continue
            attempt = 0
            if self._is_ending and not self._behind and not self._untold:
                return
            await self._pause()

    async def _round(self) -> None:
        """Scan if it is time, publish one batch, and tell the store if it is time."""
        now_s = asyncio.get_running_loop().time()
        _LAG.set(sum(tail.lag for tail in self._behind.values()))
        shards = self._shards()
        # Shards that were just taken may hold what their engine before could not publish.
        if now_s >= self._scan_at or not shards <= self._scanned:
            await self._scan(shards)
            self._scanned, self._scan_at = shards, now_s + SCAN_S
        parts = await self._next_parts()
        if parts:
            await self._event_log.append([entry for part in parts for entry in part.entries])
        for part in parts:
            self._take(part)
        if now_s >= self._tell_at or (self._is_ending and not self._behind):
            await self._tell()
            self._tell_at = now_s + TELL_S

    async def _pause(self) -> None:
        if not self._behind and not self._is_ending:
            self._something.clear()
            wait_s = min(self._scan_at, self._tell_at) - asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(max(wait_s, 0)):
                    await self._something.wait()
            except TimeoutError:
                return
        if not self._is_ending:
            await asyncio.sleep(LINGER_S)

    # What the store knows.

    async def _scan(self, shards: frozenset[int]) -> None:
        """Compare heads with published positions, of matches that just ended too.

        It finds what was committed by an engine that died, or that was paused and then fenced.
        """
        heads = await self._store.open_heads(shards)
        found = sum(self._compare(head) for head in heads)
        if found:
            _log.info("unpublished_found", count=found)
        is_open = {head.match_id for head in heads}
        for match_id, tail in list(self._tails.items()):
            is_elsewhere = shard_of(match_id) not in shards
            is_idle = match_id not in self._behind and match_id not in self._untold
            if is_elsewhere or (is_idle and match_id not in is_open):
                self._forget(tail)

    def _compare(self, head: Head) -> bool:
        """Take note of a match's head; returns whether it owes what nobody here knew of."""
        tail = self._tails.get(head.match_id)
        is_new = tail is None
        if tail is None:
            tail = self._tails[head.match_id] = Tail(head.match_id, head.published_seq)
        tail.saw(head.seq, is_over=head.status.is_over)
        self._buffered -= tail.advance(head.published_seq)
        is_news = tail.is_behind and head.match_id not in self._behind
        if tail.is_behind:
            self._behind[head.match_id] = tail
        return is_news and (is_new or tail.lag > 0)

    async def _tell(self) -> None:
        """Tell the store how far the log is, of all matches at once."""
        telling, self._untold = self._untold, {}
        positions = [tail.position for tail in telling.values()]
        if not positions:
            return
        try:
            await self._store.set_published(positions)
        except StoreUnavailableError:
            self._untold = telling | self._untold
            raise
        for tail in telling.values():
            if tail.is_complete:
                self._forget(tail)

    def _forget(self, tail: Tail) -> None:
        self._buffered -= sum(len(queued.record.data) for queued in tail.queue)
        tail.queue.clear()
        for known in (self._tails, self._behind, self._untold):
            known.pop(tail.match_id, None)

    # What the log gets.

    async def _next_parts(self) -> list[_Part]:
        parts: list[_Part] = []
        entries = size = 0
        for tail in list(self._behind.values()):
            part = await self._part(tail)
            if part is None:
                continue
            parts.append(part)
            entries += len(part.entries)
            size += sum(len(entry.value) for entry in part.entries)
            if entries >= BATCH_ENTRIES or size >= BATCH_BYTES:
                break
        return parts

    async def _part(self, tail: Tail) -> _Part | None:
        """Return what comes next of a match, out of the queue or the store."""
        if tail.published is None:
            await self._learn(tail)
        published = tail.published or 0
        if published >= tail.head:
            if tail.is_behind:
                return await self._head_part(tail)
            self._behind.pop(tail.match_id)
            return None
        queued: Sequence[Queued] = [*tail.queue][:RECORDS_MAX]
        if not queued:
            found = await self._store.records(tail.match_id, published, RECORDS_MAX)
            queued = [Queued(record, {}) for record in found]
        entries = [_record_entry(tail.match_id, one) for one in queued]
        return _Part(tail, queued[-1].record.last_seq, entries)

    async def _learn(self, tail: Tail) -> None:
        """Find out how far a match is published that another engine played before."""
        head = await self._store.head(tail.match_id)
        assert head is not None, "it has a record"
        tail.saw(head.seq, is_over=head.status.is_over)
        self._buffered -= tail.advance(head.published_seq)

    async def _head_part(self, tail: Tail) -> _Part | None:
        """Return the signed head of a match whose records the log has all."""
        head = await self._store.head(tail.match_id)
        assert head is not None, "it has a record"
        if head.seq > tail.head:
            tail.saw(head.seq, is_over=True)
            return None
        if head.signed is None:
            # Nobody who appends can do that (W10). It stays open, for whoever looks into it.
            _log.error("head_unsigned", match_id=tail.match_id, last_seq=head.seq)
            self._behind.pop(tail.match_id)
            return None
        return _Part(tail, head.seq, [_head_entry(tail.match_id, head.signed)], is_head=True)

    def _take(self, part: _Part) -> None:
        """Take note of what the log has got. Those of whom more is left have their turn last."""
        tail = part.tail
        self._buffered -= tail.advance(part.seq)
        tail.is_complete = tail.is_complete or part.is_head
        self._untold[tail.match_id] = tail
        del self._behind[tail.match_id]
        if tail.is_behind:
            self._behind[tail.match_id] = tail


def _record_entry(match_id: MatchId, queued: Queued) -> Entry:
    """Return the very bytes that were hashed and stored, for the log (I7)."""
    headers = {TYPE: _RECORD, SCHEMA: str(VERSION), SEQUENCE: str(queued.record.first_seq)}
    return Entry(
        topic=MATCH_RECORDS.name,
        key=match_id,
        value=queued.record.data,
        headers={**queued.trace, **headers},
    )


def _head_entry(match_id: MatchId, signed: SignedHead) -> Entry:
    value = match_pb2.SignedHead(
        match_id=match_id,
        sequence=signed.last_seq,
        chain_hash=signed.hash,
        ended=signed.ended,
        key_id=signed.key_id,
        signature=signed.signature,
    )
    return Entry(
        topic=MATCH_HEADS.name,
        key=match_id,
        value=value.SerializeToString(deterministic=True),
        headers={TYPE: _HEAD, SCHEMA: "1"},
    )
