"""What operators ask for is written down before it is done, and what became of it after."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from libs.chassis.status import RefusedError
from libs.store.directory import Administration, NewCall
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs

OK: Final = "OK"
"""The outcome of what was done."""

T = TypeVar("T")

_log: Final = logs.get()


class Journal:
    """The calls of operators, in the store."""

    def __init__(self, store: Administration) -> None:
        self._store = store
        self._running: set[asyncio.Task[Any]] = set()

    async def carry_out(self, asked: NewCall, work: Callable[[], Awaitable[T]]) -> T:
        """Write down what is asked for, do it, and write down what became of it.

        What has begun goes on to its end, whether its caller waits for it or not.

        Raises:
            StoreUnavailableError: it could not be written down, and nothing was done; or what
                *work* raised.
            RefusedError: what *work* raised.

        """
        task = asyncio.create_task(self._carry_out(asked, work))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def look(self, asked: NewCall, work: Callable[[], Awaitable[T]]) -> T:
        """Do what changes nothing, and write down that it was done before anybody hears of it.

        Raises:
            StoreUnavailableError: it could not be written down, or what *work* raised.

        """
        seen = await work()
        await self._store.note_call(asked, OK)
        return seen

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may have gone, and the journal says how it ended

    async def _carry_out(self, asked: NewCall, work: Callable[[], Awaitable[T]]) -> T:
        number = await self._store.note_call(asked)
        try:
            done = await work()
        except RefusedError as error:
            await self._settle(number, error.told.reason)
            raise
        await self._settle(number, OK)
        return done

    async def _settle(self, number: int, outcome: str) -> None:
        """Write down an outcome; without it the call is one of which nobody knows what became."""
        try:
            await self._store.settle_call(number, outcome)
        except StoreUnavailableError:
            _log.warning("admin_outcome_not_noted", outcome=outcome)
