import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.store.connections import Connections
from libs.store.migrate import migrate, read_migrations
from tests.support.postgres import postgres_server, shared_database

__all__ = ["postgres_server", "shared_database"]

_EMPTY = f"""
    TRUNCATE {SCHEMA}.entry, {SCHEMA}.partition_end, {SCHEMA}.group_position
"""


@pytest.fixture
async def connections(shared_database: str) -> AsyncIterator[Connections]:
    """Connect to an event log that is empty."""
    connection = await asyncpg.connect(shared_database)
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.execute(_EMPTY)
    await connection.close()
    opened = await Connections.open(shared_database, name="test")
    yield opened
    async with asyncio.timeout(10):
        await opened.close()
