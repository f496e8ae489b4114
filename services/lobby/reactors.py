"""What the lobby does by itself: publishes its records, and frees whoever is out of a match."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.ports import EventLog
from libs.rules import events as e
from libs.telemetry import metrics, names
from services.lobby.ports import Occupancy, Outbox

LOOK_S: Final = 1.0
"""How often the outbox is looked into when nobody calls: for what another replica left (start)."""

_OUT: Final = (e.SeatBankrupted, e.SeatSurrendered)
_OVER: Final = (e.MatchEnded, e.MatchAborted)
FREEING: Final = (*_OUT, *_OVER)
"""The events that free somebody; nearly no record has any."""

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


class Freeing:
    """A `Projection` of matches: whoever is out of one is free (SETUP-2)."""

    def __init__(self, occupancy: Occupancy) -> None:
        self._occupancy = occupancy
        self.position = occupancy.position
        self.move = occupancy.move
        self.forget = occupancy.forget

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        """Free whom *events* put out, or everybody at the end. See `Projection.apply`."""
        is_over = any(isinstance(event, _OVER) for event in events)
        out = [event.seat for event in events if isinstance(event, _OUT)]
        position = Position(record.last_seq, record.hash)
        await self._occupancy.free(record.match_id, None if is_over else out, position)
        return True
