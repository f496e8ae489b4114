from collections.abc import AsyncIterator

import pytest

from tests.e2e.giving import Scene
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


@pytest.fixture
async def scene(table: Table) -> Scene:
    match = await table.match()
    return Scene(table, match.turn, await table.head())


@pytest.fixture(scope="session")
async def mortal() -> AsyncIterator[Stage]:
    """Return a whole system that may be stopped and started again, and is soon tired of callers."""
    limits = {
        "OPOLYX_GATEWAY__RATE__PER_S": "2",
        "OPOLYX_GATEWAY__RATE__BURST": "150",
        "OPOLYX_GATEWAY__COMMAND_RATE__PER_S": "1",
        "OPOLYX_GATEWAY__COMMAND_RATE__BURST": "60",
    }
    async with running_system(**{**HASTY, **limits}) as system, on_stage(system) as stage:
        yield stage
