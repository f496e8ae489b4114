from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest

from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.store.migrate import migrate, read_migrations
from tests.lobby.rig import Rig
from tests.support.postgres import database, postgres_server, shared_database

__all__ = ["database", "postgres_server", "shared_database"]

_EMPTY = f"""
    TRUNCATE lobby.player, lobby.room, lobby.room_record, lobby.occupancy, lobby.outbox,
        lobby.followed_match, lobby.player_match, lobby.quick_room, lobby.invite, lobby.admission,
        {SCHEMA}.entry, {SCHEMA}.partition_end, {SCHEMA}.group_position
    CASCADE
"""


@pytest.fixture
async def rig(shared_database: str, tmp_path: Path) -> AsyncIterator[Rig]:
    """A lobby whose tables are empty, with neighbours of its own."""
    connection = await asyncpg.connect(shared_database)
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.execute(_EMPTY)
    await connection.close()
    async with AsyncExitStack() as stack:
        made = Rig(shared_database, tmp_path, stack)
        await made.open()
        yield made
