"""Reads the match records of the log by R1 and R2: each once, in order, whatever the log does."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.following import ChainedRecord, Follower, Position, Verdict, open_record
from libs.eventlog.ports import Delivery
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId, is_uuid
from libs.telemetry import logs, metrics, names
from libs.wire.events import UnreadableError

MATCHES_KEPT: Final = 4_096
"""Of how many matches the position is kept in memory (start); the others are asked for again."""

IDLE_MS: Final = 120_000
"""How long a match may be silent before its position is not kept any more (start)."""

_log: Final = logs.get()

Load = Callable[[MatchId], Awaitable[Position]]
"""Asks the reader's own store how far it has read a match; `Position()` if not at all."""

Apply = Callable[[ChainedRecord], Awaitable[None]]
"""Writes a record's effects and its position (last_seq, hash) in ONE transaction of the reader's
own store (R2). `PoisonError` says that this can never be done, and the match is given up; anything
else that it raises ends the reader, and the record comes again."""

Fetch = Callable[[MatchId, int], Awaitable[Sequence[bytes]]]
"""Asks the engine (ReadEvents) for the records of a match after a sequence: the next ones in order,
as many as it likes, none only if there are none. `UnfetchedError` says that nobody answers."""


class BrokenStreamError(Exception):
    """What the reader has of a match does not go together with what its engine has: an incident.

    The reader's projection of the match must be rebuilt, or its engine be asked what it did.

    Attributes:
        match_id: the match.

    """

    def __init__(self, match_id: MatchId) -> None:
        super().__init__(match_id)
        self.match_id = match_id


class UnfetchedError(Exception):
    """The engine does not answer for a match now. Its gap stays, and is tried again in a while."""


class RecordReader:
    """A `Handler` for match records. One reader of a group; it may be rebuilt at any time."""

    def __init__(  # noqa: PLR0913 - what a reader is made of
        self,
        *,
        group: str,
        load: Load,
        apply: Apply,
        fetch: Fetch,
        clock: Clock,
        dead_letters: DeadLetters,
    ) -> None:
        self._load = load
        self._apply = apply
        self._fetch = fetch
        self._clock = clock
        self._dead_letters = dead_letters
        self._followers: OrderedDict[MatchId, Follower] = OrderedDict()
        # The deliveries whose records wait, by match: dead letters too, if the gap can't be filled.
        self._in_hand: dict[MatchId, list[Delivery]] = {}
        self._applied = metrics.counter(names.RECORDS_APPLIED).labels(group)
        self._gaps = metrics.counter(names.RECORD_GAPS).labels(group)
        dropped = metrics.counter(names.RECORDS_DROPPED)
        self._duplicates = dropped.labels(group, "duplicate")
        self._zombies = dropped.labels(group, "zombie")

    async def handle(self, delivery: Delivery) -> None:
        """Apply a record if its turn has come, drop it if it comes again, or let it wait."""
        try:
            record = open_record(delivery.entry.value)
        except UnreadableError as error:
            raise PoisonError(str(error)) from error
        if record.match_id != delivery.entry.key:
            raise PoisonError("a record under the key of another match")
        if not is_uuid(record.match_id):
            raise PoisonError("a match without a match id")  # no store could have its position
        follower = await self._follower(record.match_id)
        if await self._take(follower, record) is Verdict.WAITS:
            self._in_hand.setdefault(record.match_id, []).append(delivery)
        try:
            await self._take_joining(record.match_id, follower)
        except PoisonError as error:
            # Not this delivery, but one that had waited for it.
            await self._bury(record.match_id, str(error))

    async def settle(self) -> bool:
        """Fill the gaps that have lasted too long. See `Handler.settle`.

        Raises:
            BrokenStreamError: the engine has nothing that joins on.

        """
        for match_id in list(self._in_hand):
            follower = await self._follower(match_id)
            if follower.is_overdue(self._clock.now_ms()):
                await self._try_to_fill(match_id, follower)
        self._let_go(self._clock.now_ms())
        return not self._in_hand

    async def _try_to_fill(self, match_id: MatchId, follower: Follower) -> None:
        try:
            await self._fill(match_id, follower)
        except UnfetchedError as error:
            # Other matches go on meanwhile; nothing is committed before this one does too.
            follower.postpone(self._clock.now_ms())
            _log.warning("gap_not_filled", match_id=match_id, reason=str(error))
        except PoisonError as error:
            await self._bury(match_id, str(error))

    async def _fill(self, match_id: MatchId, follower: Follower) -> None:
        self._gaps.inc()
        while follower.has_gap:
            before = follower.position
            try:
                fetched = [open_record(d) for d in await self._fetch(match_id, before.last_seq)]
            except UnreadableError as error:
                raise PoisonError(f"behind a record that is none: {error}") from error
            for record in fetched:
                await self._take(follower, record)
            if not fetched:
                # The engine decides what there is: what waits was never committed.
                for record in follower.give_up():
                    self._drop_zombie(record)
            await self._take_joining(match_id, follower)
            if follower.position == before and follower.has_gap:
                raise BrokenStreamError(match_id)
        _log.info("gap_filled", match_id=match_id, last_seq=follower.position.last_seq)

    async def _take(self, follower: Follower, record: ChainedRecord) -> Verdict:
        verdict = follower.offer(record, self._clock.now_ms())
        match verdict:
            case Verdict.NEXT:
                await self._apply(record)
                follower.accept(record)
                self._applied.inc()
            case Verdict.DUPLICATE:
                self._duplicates.inc()
            case Verdict.ZOMBIE:
                self._drop_zombie(record)
            case Verdict.WAITS:
                pass
        return verdict

    async def _take_joining(self, match_id: MatchId, follower: Follower) -> None:
        while (record := follower.take_joining(self._clock.now_ms())) is not None:
            await self._take(follower, record)
        if not follower.has_gap:
            self._in_hand.pop(match_id, None)

    def _drop_zombie(self, record: ChainedRecord) -> None:
        self._zombies.inc()
        _log.error(
            "zombie_dropped",
            match_id=record.match_id,
            first_seq=record.first_seq,
            last_seq=record.last_seq,
        )

    async def _bury(self, match_id: MatchId, reason: str) -> None:
        """Give the match up: what waits goes to the dead topic, and what comes will follow."""
        for delivery in self._in_hand.pop(match_id, ()):
            await self._dead_letters.bury(delivery, reason)
        self._followers.pop(match_id, None)

    async def _follower(self, match_id: MatchId) -> Follower:
        follower = self._followers.get(match_id)
        if follower is None:
            follower = self._followers[match_id] = Follower(await self._load(match_id))
            self._evict()
        self._followers.move_to_end(match_id)
        return follower

    def _let_go(self, now_ms: int) -> None:
        """Keep no positions of matches that are over, or might as well be."""
        while self._followers:
            match_id, follower = next(iter(self._followers.items()))
            if match_id in self._in_hand or now_ms - follower.heard_ms < IDLE_MS:
                return
            del self._followers[match_id]

    def _evict(self) -> None:
        if len(self._followers) > MATCHES_KEPT:
            idle = next((m for m in self._followers if m not in self._in_hand), None)
            if idle is not None:
                del self._followers[idle]
