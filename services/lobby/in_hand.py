"""Work that goes on beside the calls, for each thing at most once."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

K = TypeVar("K")


class InHand(Generic[K]):
    """What is being worked on in this process."""

    def __init__(self, work: Callable[[K], Coroutine[Any, Any, None]]) -> None:
        """Do *work*, which handles what the world may do to it."""
        self._work = work
        self._tasks: dict[K, asyncio.Task[None]] = {}

    def begin(self, key: K) -> asyncio.Task[None]:
        """Begin to work on *key*, or join in if that goes on already.

        Whoever waits for the task may go: it goes on without them.
        """
        task = self._tasks.get(key)
        if task is None or task.done():
            task = self._tasks[key] = asyncio.create_task(self._work(key))
        return task

    async def run(self, due: Callable[[], Awaitable[Iterable[K]]], *, again_s: float) -> None:
        """Begin what is *due*, which is asked every *again_s* seconds, until cancelled.

        Then all that goes on ends.
        """
        try:
            while True:
                for key in await due():
                    self.begin(key)
                await asyncio.sleep(again_s)
                self._reap()
        finally:
            for task in self._tasks.values():
                task.cancel()
            self._tasks.clear()

    def _reap(self) -> None:
        """Forget what is done, and see that nothing failed that cannot fail."""
        for key, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[key]
                task.result()
