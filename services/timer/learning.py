"""Learns deadlines from the event log too: of matches whose owner never told them (T2, R1, R2)."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.match_reading import follow
from libs.eventlog.ports import Delivery, EventLog
from libs.eventlog.reading import MATCHES_KEPT, Fetch, RecordReader
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.wire.events import UnreadableError, reader_of
from libs.wire.record import open_envelope
from services.timer.armed import Told
from services.timer.followed import KINDS, Followed

GROUP: Final = "timer"

_read: Final = reader_of(KINDS)

Learned = Callable[[MatchId, int, Sequence[Told]], None]
"""Told what is open in a match as of a sequence."""


class Store(Protocol):
    """Keeps how far each match was read. See `services.timer.store.FollowedMatches`."""

    async def load(self, match_id: MatchId) -> Followed:
        """Return how far a match was read; `Followed()` if not at all."""
        ...

    async def forget(self, match_id: MatchId) -> None:
        """Let a match be read from its first record again."""
        ...

    async def save(self, matches: Mapping[MatchId, Followed]) -> None:
        """Keep how far these were read, in one step; none goes back."""
        ...

    async def going_on(self) -> list[tuple[MatchId, Followed]]:
        """Return all matches that are not over."""
        ...


class Learning:
    """A `Handler` of match records: what they set is kept, and told once a batch is read.

    Then and not before: of most deadlines in a batch the next record says that they are over, and
    one transaction does for all. The log's own position follows later still, so a crash in between
    costs doubles and no more.
    """

    def __init__(
        self,
        *,
        store: Store,
        learned: Learned,
        fetch: Fetch,
        clock: Clock,
        log: EventLog,
    ) -> None:
        """Read for *store*, and tell *learned*; gaps are filled by *fetch*."""
        self._store = store
        self._learned = learned
        self._log = log
        self._dead_letters = DeadLetters(log, GROUP)
        self._known: OrderedDict[MatchId, Followed] = OrderedDict()
        self._changed: dict[MatchId, Followed] = {}
        self._reader = RecordReader(
            group=GROUP,
            load=self._load,
            apply=self._apply,
            fetch=fetch,
            clock=clock,
            dead_letters=self._dead_letters,
        )

    async def run(self) -> None:
        """Read the log until cancelled. Raises what `follow` does, and may then be made anew."""
        await follow(
            self._log,
            group=GROUP,
            handler=self,
            dead_letters=self._dead_letters,
            forget=self._store.forget,
        )

    async def handle(self, delivery: Delivery) -> None:
        """See `RecordReader.handle`."""
        await self._reader.handle(delivery)

    async def settle(self) -> bool:
        """Fill gaps, and keep and tell what was learned. See `Handler.settle`."""
        is_settled = await self._reader.settle()
        await self._store.save(self._changed)
        changed, self._changed = self._changed, {}
        for match_id, followed in changed.items():
            self._learned(match_id, followed.position.last_seq, followed.open())
        return is_settled

    async def _load(self, match_id: MatchId) -> Position:
        followed = await self._followed(match_id)
        if followed.deadlines:
            # Another replica may have read further than we will soon be told.
            self._changed[match_id] = followed
        return followed.position

    async def _apply(self, record: ChainedRecord) -> None:
        before = await self._followed(record.match_id)
        if before.position.last_seq >= record.last_seq:
            return  # another replica was quicker, and its effects are what ours would be
        try:
            events = _read(open_envelope(record.data).events[:])
        except UnreadableError as error:
            raise PoisonError(str(error)) from error
        followed = before.after(Position(record.last_seq, record.hash), events)
        self._known[record.match_id] = self._changed[record.match_id] = followed

    async def _followed(self, match_id: MatchId) -> Followed:
        known = self._changed.get(match_id) or self._known.get(match_id)
        self._known[match_id] = known or await self._store.load(match_id)
        self._known.move_to_end(match_id)
        if len(self._known) > MATCHES_KEPT:
            self._known.popitem(last=False)
        return self._known[match_id]
