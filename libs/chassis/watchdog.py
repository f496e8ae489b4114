"""Noticing what takes too long, at next to no cost as long as nothing does."""

import asyncio
from collections.abc import Callable


class Watchdog:
    """Barks once when what it watches has taken too long, and then rests.

    For what happens all the time and goes well: `asyncio.timeout` sets a timer of the loop and
    removes it again each time, here one timer looks now and then how long it has been.
    """

    def __init__(self, within_s: float, bark: Callable[[], object]) -> None:
        """Rest; *bark* is called by the loop, *within_s* seconds after `watch`."""
        self._within_s = within_s
        self._bark = bark
        self._loop = asyncio.get_running_loop()
        self._since_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Begin to count the time, or begin anew."""
        self._since_s = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._since_s + self._within_s, self._look)

    def rest(self) -> None:
        """Stop counting: it went well, or nobody waits for it any more."""
        self._since_s = None

    def close(self) -> None:
        """Rest for good."""
        self._since_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._since_s is None:
            return
        due_s = self._since_s + self._within_s
        if self._loop.time() < due_s:
            self._timer = self._loop.call_at(due_s, self._look)
            return
        self._since_s = None
        self._bark()
