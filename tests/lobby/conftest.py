from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest

from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.store.migrate import migrate, read_migrations
from tests.lobby.rig import Rig
from tests.support.postgres import database, postgres_server

__all__ = ["database", "postgres_server"]


@pytest.fixture
async def rig(database: str, tmp_path: Path) -> AsyncIterator[Rig]:
    """A lobby on a database of its own, with fake neighbours that are not served yet."""
    connection = await asyncpg.connect(database)
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.close()
    async with AsyncExitStack() as stack:
        made = Rig(database, tmp_path, stack)
        await made.open()
        yield made
