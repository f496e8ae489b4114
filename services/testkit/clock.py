"""The time of a whole stack, in the hands of a test."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import grpc

from libs.kernel.clock import ManualClock
from libs.rules.match import Match
from services.testkit.errors import ClockStuckError, MisuseError
from services.testkit.watching import Watcher

START_MS: Final = 1_900_000_000_000
"""When every stack with such a clock begins: in 2030."""

PATIENCE_S: Final = 0.2
"""So long nothing may be fired that is due, before the timer is told once more."""

TELLINGS: Final = 150

_S: Final = 1_000
_MINUTE: Final = 60 * _S
_HOUR: Final = 60 * _MINUTE


class VirtualClock:
    """Stands still until the test lets time pass; then all that falls due happens, in order.

    Every service of the stack lives by it. Bots still think as fast as the machine does, and time
    does not pass while one of them has a decision to make.
    """

    def __init__(
        self,
        clock: ManualClock,
        watcher: Watcher,
        tell: Callable[[Sequence[Match]], Awaitable[None]],
    ) -> None:
        """Move *clock*, by what *watcher* hears; *tell* tells the timer what is due."""
        self._clock = clock
        self._tell = tell
        self._watcher = watcher
        self._loop = asyncio.get_running_loop()

    def now_ms(self) -> int:
        """Return the time, in milliseconds since 1970 UTC."""
        return self._clock.now_ms()

    async def advance(
        self, *, hours: float = 0, minutes: float = 0, seconds: float = 0, ms: int = 0
    ) -> None:
        """Let time pass. Every deadline on the way fires when it is due, and those it leads to.

        When it returns, what they caused is durable.

        Raises:
            MisuseError: no time would pass, or it would go back.
            ClockStuckError: something that was due did not happen.

        """
        by_ms = round(hours * _HOUR + minutes * _MINUTE + seconds * _S) + ms
        if by_ms <= 0:
            raise MisuseError(
                f"time passes forwards, such as advance(minutes=10), not by {by_ms} ms"
            )
        if asyncio.get_running_loop() is not self._loop:
            raise MisuseError("the clock belongs to another event loop than this test runs on")
        end_ms = self.now_ms() + by_ms
        while True:
            await self._watcher.bots_done()
            due = self._watcher.next_due()
            if due is None or due[0] > end_ms:
                break
            self._move_to(due[0])
            await self._have_fired(due[1])
        self._move_to(end_ms)

    async def _have_fired(self, name: str) -> None:
        for _ in range(TELLINGS):
            if await self._watcher.until(self._nothing_is_due, PATIENCE_S):
                return
            with suppress(grpc.aio.AioRpcError):
                await self._tell(self._watcher.due(self.now_ms()))
        raise ClockStuckError(f"{name} is due and was not fired")

    def _nothing_is_due(self) -> bool:
        return not self._watcher.due(self.now_ms())

    def _move_to(self, at_ms: int) -> None:
        """Go on to a moment; one that is past changes nothing."""
        self._clock.advance(max(0, at_ms - self.now_ms()))
