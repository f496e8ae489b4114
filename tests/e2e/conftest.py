from collections.abc import AsyncIterator

import pytest

from tests.e2e.rig import HASTY, Stage, Table, on_stage
from tests.support.system import running_system


@pytest.fixture(scope="session")
async def stage() -> AsyncIterator[Stage]:
    """Return a whole system that runs, one for all tests that leave it running."""
    async with running_system(**HASTY) as system, on_stage(system) as stage:
        yield stage


@pytest.fixture
async def table(stage: Stage) -> Table:
    """Return a match of two people that has just begun."""
    return await stage.table()
