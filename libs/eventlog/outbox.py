"""From a service's outbox to the event log: what was committed with a change is told of it."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final, NoReturn, Protocol

from libs.eventlog.ports import Entry, EventLog
from libs.telemetry import metrics, names

LOOK_S: Final = 1.0
"""How often an outbox is looked into when nobody rings: for what a crash, or another replica, left
(start)."""

BATCH_MAX: Final = 256
"""How many entries go into the log at once (start)."""

_WAITING: Final = metrics.gauge(names.OUTBOX_ENTRIES)


class Outbox(Protocol):
    """Entries that are committed, and that the event log does not have yet."""

    def batch(self, limit: int) -> AbstractAsyncContextManager[Sequence[Entry]]:
        """Take the next ones, those of a key in order; they are gone when the block ends well.

        None if there are none, or if another replica has them in hand.
        """
        ...

    async def waiting(self) -> int:
        """Return how many there are."""
        ...


class OutboxPublisher:
    """Empties an outbox, each entry at least once; the first times, those of a key are in order.

    An entry leaves the outbox after it is in the log. A crash in between, or another replica at the
    same time, doubles it, and whoever reads drops that by its sequence.
    """

    def __init__(self, outbox: Outbox, log: EventLog, *, service: str) -> None:
        """Publish for *service*."""
        self._outbox = outbox
        self._log = log
        self._waiting = _WAITING.labels(service)
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
            while await self._publish():
                pass
            self._waiting.set(await self._outbox.waiting())
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._bell.wait()

    async def _publish(self) -> int:
        """Publish a batch; returns how many there were."""
        async with self._outbox.batch(BATCH_MAX) as entries:
            if entries:
                await self._log.append(entries)
            return len(entries)
