"""What runs beside the calls of clients, for as long as a service does."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from libs.chassis.process import keep_running


class Background:
    """A group of tasks: one that fails ends whoever has it open, and all end with it.

    Open it before the server whose handlers need it: then it outlasts their last calls.
    """

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run *work*, which may end before the others."""
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run *work*, and again where it fails for a while. See `keep_running`."""
        self.start(keep_running(name, work))

    async def __aenter__(self) -> Self:
        """Begin."""
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Cancel what runs still, and wait for it."""
        for task in tuple(self._running):
            task.cancel()
        await self._group.__aexit__(kind, error, traceback)
