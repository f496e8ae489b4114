from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.sections import PeerSettings
from libs.kernel.clock import ManualClock
from tests.support.postgres import database, postgres_server, shared_database
from tests.timer.rig import NOW_MS, Assignment, FakeEngine, all_shards, serving

__all__ = ["database", "postgres_server", "shared_database"]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def assignment() -> Assignment:
    return Assignment()


@pytest.fixture
async def engine_address(
    tmp_path: Path, clock: ManualClock, engine: FakeEngine, assignment: Assignment
) -> AsyncIterator[str]:
    """Serve the one engine, which has all shards."""
    async with AsyncExitStack() as stack:
        laid = Foundation(NodeSettings(data_folder=tmp_path), clock)
        address = await stack.enter_async_context(serving(laid, engine, assignment))
        assignment.give(all_shards(address))
        yield address


@pytest.fixture
def foundation(tmp_path: Path, clock: ManualClock, engine_address: str) -> Foundation:
    """Lay what a timer stands on that knows the one engine."""
    peers = PeerSettings(match_engines=engine_address)
    return Foundation(NodeSettings(data_folder=tmp_path, peers=peers), clock)
