"""What the lobby does by itself: publishes its records, and frees whoever is out of a match."""

import asyncio
from contextlib import suppress
from typing import Final

from libs.eventlog.consumer import consume
from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.ports import Delivery, EventLog
from libs.eventlog.reading import BrokenStreamError, Fetch, RecordReader
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId, is_uuid
from libs.rules import events as e
from libs.telemetry import logs, metrics, names
from libs.wire.events import UnreadableError, reader_of
from libs.wire.record import open_envelope
from services.lobby.ports import Occupancy, Outbox

GROUP: Final = "lobby"
"""The consumer group of the lobby, of all its replicas together."""

LOOK_S: Final = 1.0
"""How often the outbox is looked into when nobody calls: for what another replica left (start)."""

_OUT: Final = (e.SeatBankrupted, e.SeatSurrendered)
_OVER: Final = (e.MatchEnded, e.MatchAborted)
_read_freeing: Final = reader_of((*_OUT, *_OVER))
"""Reads those of a record's events that free somebody; nearly no record has any."""

_log: Final = logs.get()
_WAITING: Final = metrics.gauge(names.LOBBY_OUTBOX)


class Publisher:
    """Brings the outbox into the event log, in order, at least once."""

    def __init__(self, outbox: Outbox, log: EventLog) -> None:
        self._outbox = outbox
        self._log = log
        self._called = asyncio.Event()

    def call(self) -> None:
        """Say that there is something new."""
        self._called.set()

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            self._called.clear()
            while await self._publish():
                pass
            _WAITING.set(await self._outbox.waiting())
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._called.wait()

    async def _publish(self) -> int:
        """Publish a batch and return how many there were."""
        async with self._outbox.batch() as entries:
            if entries:
                # A crash between this and the end of the block doubles them: readers drop those by
                # their sequence.
                await self._log.append(entries)
            return len(entries)


class MatchWatcher:
    """A `Handler` of match records, by which whoever is out of a match is free (SETUP-2)."""

    def __init__(
        self, occupancy: Occupancy, fetch: Fetch, clock: Clock, dead_letters: DeadLetters
    ) -> None:
        self._occupancy = occupancy
        # Of records without effects: written together before the group's position is committed
        # (R2), since most records free nobody. Lost in a crash, they come again.
        self._unwritten: dict[MatchId, Position] = {}
        self._reader = RecordReader(
            group=GROUP,
            load=self._load,
            apply=self._apply,
            fetch=fetch,
            clock=clock,
            dead_letters=dead_letters,
        )

    async def handle(self, delivery: Delivery) -> None:
        """See `Handler.handle`."""
        await self._reader.handle(delivery)

    async def settle(self) -> bool:
        """See `Handler.settle`."""
        is_settled = await self._reader.settle()
        if self._unwritten:
            await self._occupancy.move(self._unwritten)
            self._unwritten.clear()
        return is_settled

    async def _load(self, match_id: MatchId) -> Position:
        if not is_uuid(match_id):
            raise PoisonError("a match without a match id")
        unwritten = self._unwritten.get(match_id)
        return unwritten or await self._occupancy.position(match_id)

    async def _apply(self, record: ChainedRecord) -> None:
        try:
            events = _read_freeing(open_envelope(record.data).events[:])
        except UnreadableError as error:
            raise PoisonError(str(error)) from error
        position = Position(record.last_seq, record.hash)
        is_over = any(isinstance(event, _OVER) for event in events)
        out = [event.seat for event in events if isinstance(event, _OUT)]
        if events:
            await self._occupancy.free(record.match_id, None if is_over else out, position)
            self._unwritten.pop(record.match_id, None)
        else:
            self._unwritten[record.match_id] = position


async def watch_matches(log: EventLog, occupancy: Occupancy, fetch: Fetch, clock: Clock) -> None:
    """Read the records of all matches until cancelled.

    A match that was not read as its engine has it is read again from its first record the next
    time, which frees nobody who is not free.

    Raises:
        BrokenStreamError: such a match was found.
        Exception: what `consume` raises, and the store.

    """
    dead_letters = DeadLetters(log, GROUP)
    watcher = MatchWatcher(occupancy, fetch, clock, dead_letters)
    try:
        await consume(
            log, [MATCH_RECORDS.name], group=GROUP, handler=watcher, dead_letters=dead_letters
        )
    except BrokenStreamError as error:
        _log.error("match_read_anew", match_id=error.match_id)
        await occupancy.forget(error.match_id)
        raise
