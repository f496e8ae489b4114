from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.rig import Rig
from tests.support.postgres import database, postgres_server

__all__ = ["database", "postgres_server"]

OpenRig = Callable[..., Awaitable[Rig]]


@pytest.fixture
async def open_rig(tmp_path: Path) -> AsyncIterator[OpenRig]:
    """Open a gateway with settings of its section: `await open_rig(queue_max=8)`."""
    async with AsyncExitStack() as stack:

        async def start(**section: Any) -> Rig:
            rig = Rig(tmp_path, stack, **section)
            await rig.open()
            return rig

        yield start


@pytest.fixture
async def rig(open_rig: OpenRig) -> Rig:
    return await open_rig()
