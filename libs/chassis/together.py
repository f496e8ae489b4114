"""Work that belongs together: when a part of it ends, so does the rest."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any


async def first_of(*works: Coroutine[Any, Any, object]) -> None:
    """Run *works* until the first of them returns or fails, and cancel the others.

    Unlike a `TaskGroup` it raises what failed as it is, so that a refusal stays one.
    """
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_all(tasks)


async def cancel_all(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel *tasks*, and return when they have ended. What they raise by then is nobody's."""
    cancelled = tuple(tasks)
    for task in cancelled:
        task.cancel()
    if cancelled:
        # Not awaited one by one: a cancellation that is meant for us would be taken for theirs.
        await asyncio.wait(cancelled)
    for task in cancelled:
        if not task.cancelled():
            task.exception()


async def end(task: "asyncio.Task[None]") -> None:
    """Cancel *task* and return when it has ended. Raises what it failed with, if it did."""
    task.cancel()
    # Not awaited itself, or who cancels us could be taken for who cancelled it.
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()
