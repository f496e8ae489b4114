"""The time by the store's clock, without asking it each time (write protocol, T7)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn

from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs, metrics, names

INTERVAL_S: Final = 10.0
"""How often the clocks are compared (start): in that time no two drift apart by a millisecond that
would matter."""

TRIES: Final = 5
"""How often each comparison asks; the shortest round trip leaves least doubt."""

CATCH_UP: Final = 0.5
"""How fast time passes while the clock is ahead of the store's, and lets that catch up."""

_log: Final = logs.get()
_OFFSET: Final = metrics.gauge(names.CLOCK_OFFSET)


def steady_ms() -> float:
    """Return the milliseconds since some moment, by a clock that nobody sets.

    It goes on while the machine sleeps where the system has such a clock: a laptop that wakes must
    know that its lease is long over.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    seconds = time.monotonic() if clock is None else time.clock_gettime(clock)
    return seconds * 1000


class DatabaseClock:
    """A `Clock` that agrees with the store's, to about half the time of a round trip.

    It never goes back. Where it turns out to be ahead it runs at half speed, so that play does not
    stand still meanwhile; where it is behind, it steps forward. Measure it before it is read.
    """

    def __init__(
        self,
        store_now_ms: Callable[[], Awaitable[int]],
        steady: Callable[[], float] = steady_ms,
    ) -> None:
        """Make the clock of a store whose time *store_now_ms* asks for; *steady* never is set."""
        self._store_now_ms = store_now_ms
        self._steady = steady
        self._offset_ms: float | None = None
        # From here on no time may be told that lies behind: a moment by the steady clock and what
        # was told then.
        self._told_from = (0.0, float("-inf"))

    def now_ms(self) -> int:
        """Return the time now. See `Clock.now_ms`."""
        return int(self._at(self._steady()))

    async def measure(self) -> None:
        """Compare the clocks.

        Raises:
            StoreUnavailableError: the store did not answer; the clock goes on as before.

        """
        offset_ms = min([await self._ask() for _ in range(TRIES)])[1]
        if self._offset_ms is not None:
            now = self._steady()
            self._told_from = (now, self._at(now))
            _OFFSET.set((offset_ms - self._offset_ms) / 1000)
        self._offset_ms = offset_ms

    async def run(self) -> NoReturn:
        """Compare the clocks again and again. A store that is away changes nothing."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            try:
                await self.measure()
            except StoreUnavailableError:
                _log.warning("clock_not_measured")

    async def _ask(self) -> tuple[float, float]:
        """Return how long the store took to tell its time, and how far it is from ours."""
        asked = self._steady()
        store_ms = await self._store_now_ms()
        answered = self._steady()
        # It cut off the fraction of its millisecond, which is half of one on average.
        return answered - asked, store_ms + 0.5 - (asked + answered) / 2

    def _at(self, steady: float) -> float:
        assert self._offset_ms is not None, "the clock was never measured"
        since, told_ms = self._told_from
        return max(steady + self._offset_ms, told_ms + (steady - since) * CATCH_UP)
