"""Waiting for what another process does, without guessing how long it takes."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], bool | Awaitable[bool]], within_s: float = 30.0) -> None:
    """Return as soon as a condition holds; TimeoutError if that takes too long."""
    async with asyncio.timeout(within_s):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await asyncio.sleep(0.02)
