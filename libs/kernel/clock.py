"""What time it is: the one place that asks the machine, so that everything else can be told."""

import time
from typing import Final, Protocol

_NANOSECONDS_PER_MS: Final = 1_000_000


class Clock(Protocol):
    """Tells the time in whole milliseconds since 1970 UTC.

    It may be set back by whoever keeps the machine's clock: a match's `at_ms` never falls because
    its writer takes the later of this and the last, not because of anything promised here.
    """

    def now_ms(self) -> int:
        """Return the time now."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now_ms(self) -> int:
        """Return the time now. See `Clock.now_ms`."""
        return time.time_ns() // _NANOSECONDS_PER_MS


class ManualClock:
    """A clock that stands still until it is moved, for tests and simulations."""

    def __init__(self, at_ms: int) -> None:
        self._at_ms = at_ms

    def now_ms(self) -> int:
        """Return the time that was set. See `Clock.now_ms`."""
        return self._at_ms

    def advance(self, by_ms: int) -> None:
        """Let *by_ms* milliseconds pass; negative ones set the clock back."""
        self._at_ms += by_ms
