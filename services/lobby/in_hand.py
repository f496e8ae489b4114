"""Work that goes on beside the calls, for each thing at most once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

K = TypeVar("K")


class InHand(Generic[K]):
    """What is being worked on in this process."""

    def __init__(self, work: Callable[[K], Awaitable[None]]) -> None:
        """Do *work*, which handles what the world may do to it."""
        self._work = work
        self._tasks: dict[K, asyncio.Task[None]] = {}

    def begin(self, key: K) -> asyncio.Task[None]:
        """Begin to work on *key*, or join in if that goes on already.

        Whoever waits for the task may go: it goes on without them.
        """
        task = self._tasks.get(key)
        if task is None or task.done():
            task = self._tasks[key] = asyncio.create_task(self._do(key))
        return task

    def reap(self) -> None:
        """Forget what is done. Raises what it failed with, which cannot fail."""
        for key, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[key]
                task.result()

    def cancel(self) -> None:
        """End all of it."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    async def _do(self, key: K) -> None:
        await self._work(key)
