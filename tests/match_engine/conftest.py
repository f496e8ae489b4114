"""What the tests of the match engine share: databases, and an engine's edge over real gRPC."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from services.match_engine import pulses
from tests.match_engine.edge_rig import (
    NOW_MS,
    SILENT_MAX,
    Edge,
    EdgeStore,
    Open,
    opened,
    opener,
)
from tests.support.postgres import database, postgres_server, server_folder, shared_database

__all__ = ["database", "postgres_server", "server_folder", "shared_database"]


@pytest.fixture
async def edge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Edge]:
    # Pulses are fast here, and a busy machine must not be taken for one that is lost.
    monkeypatch.setattr(pulses, "SILENT_MAX", SILENT_MAX)
    async with opened(tmp_path) as edge:
        yield edge


@pytest.fixture
def store(edge: Edge) -> EdgeStore:
    """Return the store of the edge."""
    return edge.store


@pytest.fixture
async def decide(edge: Edge) -> AsyncIterator[Open]:
    """Open Decide streams as the gateway does."""
    pulse = pb.DecideRequest(pulse=pb.Pulse(server_time_ms=NOW_MS))
    async with opener(lambda: edge.engine_as().Decide(), lambda: pulse) as begin:
        yield begin


@pytest.fixture
async def follow(edge: Edge) -> AsyncIterator[Open]:
    """Open Follow streams as the gateway does: `await follow()`, or with so much credit."""

    def credit(more: int | None) -> pb.FollowRequest | None:
        more = 100_000 if more is None else more
        return pb.FollowRequest(credit=pb.Credit(more=more)) if more else None

    pulse = pb.FollowRequest(pulse=pb.Pulse(server_time_ms=NOW_MS))
    async with opener(lambda: edge.engine_as().Follow(), lambda: pulse, credit) as begin:
        yield begin
