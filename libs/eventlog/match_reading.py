"""How services follow matches by the log: of each record once what matters to them (R1-R3)."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, NoReturn, Protocol

from libs.eventlog.consumer import Handler, consume
from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.ports import Delivery, EventLog
from libs.eventlog.reading import BrokenStreamError, Fetch, RecordReader
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.rules import events as e
from libs.telemetry import logs
from libs.wire.events import UnreadableError, reader_of
from libs.wire.record import open_envelope

KEEP_S: Final = 1.0
"""How often positions that moved over records without an effect are written (start)."""

_log: Final = logs.get()


class Projection(Protocol):
    """What a service makes of matches, in its own store, with how far it has read each."""

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match has been read; `Position()` if not at all."""
        ...

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        """Write what *events* of a record do, with its position, in ONE transaction (R2).

        They are those of the kinds that are asked for, and there are some. False says that they do
        nothing here, and that nothing was written. Idempotent: another replica may have been
        faster.

        Raises:
            PoisonError, UnreadableError: this can never be done.

        """
        ...

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Move matches on over records that did nothing; one that is further stays there.

        Not empty. It need not outlive a crash.
        """
        ...

    async def forget(self, match_id: MatchId) -> None:
        """Let a match be read from its first record again."""
        ...


class MatchReader:
    """Reads all matches for one service, on which few of their records have an effect.

    A record that does nothing moves the position alone, which is kept in memory and written once a
    second, however many there are: the log's own position follows only then, so a crash costs
    doubles and no more. A `Handler`.
    """

    def __init__(  # noqa: PLR0913 - what a reader is made of
        self,
        *,
        log: EventLog,
        group: str,
        kinds: Collection[type[e.Event]],
        projection: Projection,
        fetch: Fetch,
        clock: Clock,
        keep_s: float = KEEP_S,
    ) -> None:
        """Read *log* for *projection*, to which events of these *kinds* matter."""
        self._log = log
        self._group = group
        self._read = reader_of(kinds)
        self._projection = projection
        self._fetch = fetch
        self._clock = clock
        self._keep_s = keep_s
        # Kept however often `run` begins anew: it knows whose entries must follow a dead letter.
        self._dead_letters = DeadLetters(log, group)
        self._unwritten: dict[MatchId, Position] = {}
        self._kept_at_s = 0.0
        self._reader = self._fresh_reader()

    async def run(self) -> NoReturn:
        """Read until cancelled; after an error it may be run again. Raises what `follow` does."""
        self._unwritten.clear()
        self._reader = self._fresh_reader()
        await follow(
            self._log,
            group=self._group,
            handler=self,
            dead_letters=self._dead_letters,
            forget=self._projection.forget,
        )

    async def handle(self, delivery: Delivery) -> None:
        """See `Handler.handle`."""
        await self._reader.handle(delivery)

    async def settle(self) -> bool:
        """See `Handler.settle`."""
        is_settled = await self._reader.settle()
        now_s = asyncio.get_running_loop().time()
        if self._unwritten and now_s >= self._kept_at_s + self._keep_s:
            await self._projection.move(self._unwritten)
            self._unwritten.clear()
            self._kept_at_s = now_s
        return is_settled and not self._unwritten

    def _fresh_reader(self) -> RecordReader:
        return RecordReader(
            group=self._group,
            load=self._load,
            apply=self._apply,
            fetch=self._fetch,
            clock=self._clock,
            dead_letters=self._dead_letters,
        )

    async def _load(self, match_id: MatchId) -> Position:
        return self._unwritten.get(match_id) or await self._projection.position(match_id)

    async def _apply(self, record: ChainedRecord) -> None:
        try:
            events = self._read(open_envelope(record.data).events[:])
            is_written = bool(events) and await self._projection.apply(record, events)
        except UnreadableError as error:
            raise PoisonError(str(error)) from error
        if is_written:
            self._unwritten.pop(record.match_id, None)
        else:
            self._unwritten[record.match_id] = Position(record.last_seq, record.hash)


async def follow(
    log: EventLog,
    *,
    group: str,
    handler: Handler,
    dead_letters: DeadLetters,
    forget: Callable[[MatchId], Awaitable[None]],
) -> NoReturn:
    """Have *handler* read the records of all matches until cancelled.

    A match that was not read as its engine has it is forgotten by *forget*, so that it is read from
    its first record the next time; only then is that raised.

    Raises:
        BrokenStreamError: such a match was found.
        Exception: what `consume` raises, and the reader's store.

    """
    try:
        await consume(
            log, [MATCH_RECORDS.name], group=group, handler=handler, dead_letters=dead_letters
        )
    except BrokenStreamError as error:
        _log.error("match_read_anew", match_id=error.match_id)
        await forget(error.match_id)
        raise
