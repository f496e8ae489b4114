"""The database that the tests of progression share, empty for each of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from libs.chassis.sealing import Sealer
from libs.eventlog import postgres
from libs.store.connections import Connections
from libs.store.migrate import migrate, read_migrations
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN, Rig
from tests.support.builders import CLASSIC_2
from tests.support.engine import Engine, serving
from tests.support.postgres import postgres_server, shared_database

__all__ = ["postgres_server", "shared_database"]

_EMPTY = """
    TRUNCATE progression.match_position, progression.open_match, progression.profile,
        progression.player_event, progression.outbox, progression.reward, progression.card,
        event_log.entry, event_log.partition_end, event_log.group_position
"""


@pytest.fixture
async def emptied(shared_database: str) -> str:
    """Return the URL of a database where nobody has earned anything and nothing was logged."""
    connection = await asyncpg.connect(shared_database)
    await migrate(connection, postgres.SCHEMA, read_migrations(postgres.MIGRATIONS))
    await connection.execute(_EMPTY)
    await connection.close()
    return shared_database


@pytest.fixture
async def connections(emptied: str) -> AsyncIterator[Connections]:
    opened = await Connections.open(emptied, name="test")
    yield opened
    async with asyncio.timeout(10):
        await opened.close()


@pytest.fixture
def sealer(tmp_path: Path) -> Sealer:
    return Sealer.open(tmp_path / "keys")


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with serving(Engine()) as served:
        yield served


@pytest.fixture
def rig(connections: Connections, sealer: Sealer) -> Rig:
    return Rig(connections, sealer)


@pytest.fixture(scope="module")
def match() -> Played:
    """A match that pays both people, and lets ANN's level drop a card."""
    return played(CLASSIC_2, 3, [ANN, BEN], lambda match: match.experience(0) >= 300)
