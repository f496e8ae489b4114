"""Events of progress into the event log: those of a player in order, each at least once."""

import asyncio
from contextlib import suppress
from typing import Final, NoReturn

from libs.eventlog.ports import Entry, EventLog
from libs.eventlog.topics import PROGRESSION_EVENTS, SCHEMA, SEQUENCE, TYPE
from libs.telemetry import metrics, names
from opolyx.progression.v1 import progression_event_pb2 as pb
from services.progression.outbox import Outbox, Unpublished

LOOK_S: Final = 1.0
"""How often the publisher looks for what nobody told it of, such as what a crash left behind."""

BATCH: Final = 256
"""How many events go into the log at once (start)."""

_LAG: Final = metrics.gauge(names.PROGRESSION_OUTBOX)


class Publisher:
    """Empties the outbox. Several replicas may do so at once.

    An event leaves the outbox after it is in the log, and a player's events are read from the
    first one that waits on. So whatever is doubled, by a crash or by another replica, the first
    time that each event is in the log is after those before it.
    """

    def __init__(self, outbox: Outbox, log: EventLog) -> None:
        self._outbox = outbox
        self._log = log
        self._bell = asyncio.Event()

    def ring(self) -> None:
        """Say that something was committed."""
        self._bell.set()

    async def run(self) -> NoReturn:
        """Publish what there is, and what comes, until cancelled.

        Raises:
            LogUnavailableError, StoreUnavailableError: nothing is lost; begin again.

        """
        while True:
            self._bell.clear()
            while waiting := await self._outbox.waiting(BATCH):
                await self._log.append([_entry(each) for each in waiting])
                await self._outbox.done(waiting)
            _LAG.set(await self._outbox.size())
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._bell.wait()


def _entry(event: Unpublished) -> Entry:
    headers = {
        TYPE: pb.ProgressionEvent.DESCRIPTOR.full_name,
        SCHEMA: "1",
        SEQUENCE: str(event.sequence),
    }
    return Entry(
        topic=PROGRESSION_EVENTS.name, key=event.player_id, value=event.data, headers=headers
    )
