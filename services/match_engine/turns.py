"""Whose turn it is to change a match: one at a time, in order, and to its end (W2, W5)."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from libs.chassis.status import RefusedError, refused
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs
from libs.wire.limits import COMMANDS_WAITING_MAX, LimitName
from libs.wire.requests import MalformedError

T = TypeVar("T")

_log: Final = logs.get()


class Turns:
    """Gives out turns, a queue for each match."""

    def __init__(self) -> None:
        self._queues: dict[MatchId, _Queue] = {}
        self._running: set[asyncio.Task[Any]] = set()

    async def take(self, match_id: MatchId, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do *work* when it is this caller's turn at the match.

        Whoever waits can be cancelled. *work* that has begun cannot: it runs in a task of its own,
        and the next turn comes after it, whatever became of the caller (W5).

        Raises:
            RefusedError: OVERLOADED, too many wait; or what *work* raised.

        """
        queue = self._queues.setdefault(match_id, _Queue())
        if queue.waiting >= COMMANDS_WAITING_MAX:
            raise refused(Reason.OVERLOADED, limit=LimitName.WAITING)
        queue.waiting += 1
        try:
            await queue.lock.acquire()
        finally:
            queue.waiting -= 1
            self._tidy(match_id, queue)
        # Nothing is awaited from here to the task, which gives the lock back.
        task = asyncio.create_task(self._work(match_id, queue, work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_report)
            raise

    async def settle(self) -> None:
        """Wait until nobody has a turn."""
        while self._running:
            await asyncio.wait(self._running)

    async def _work(
        self, match_id: MatchId, queue: "_Queue", work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        try:
            return await work()
        finally:
            queue.lock.release()
            self._tidy(match_id, queue)

    def _tidy(self, match_id: MatchId, queue: "_Queue") -> None:
        """Keep no queue in which nobody is."""
        if not queue.waiting and not queue.lock.locked():
            self._queues.pop(match_id, None)


@dataclass(slots=True)
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


def _report(task: "asyncio.Task[Any]") -> None:
    """Tell of a bug that the caller, who has gone, is not told of."""
    try:
        task.result()
    except (asyncio.CancelledError, RefusedError, MalformedError, StoreUnavailableError):
        pass
    except Exception:  # noqa: BLE001 - nobody else will say what happened
        _log.exception("turn_failed")
