"""A service begins with a database that is up to date and durable, or not at all."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from libs.store.database import PendingMigrationsError, open_database
from libs.store.ports import StoreUnavailableError, UnsafeStoreError

pytestmark = pytest.mark.postgres


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    (tmp_path / "0001_balls.sql").write_text("CREATE TABLE toys.ball ()")
    return tmp_path


async def test_a_database_that_is_not_up_to_date_is_refused_or_migrated(
    database: str, migrations: Path
) -> None:
    with pytest.raises(PendingMigrationsError, match="0001_balls"):
        async with open_database(database, schema="toys", migrations=migrations):
            pass
    async with open_database(database, schema="toys", migrations=migrations, migrates=True):
        pass

    async with open_database(database, schema="toys", migrations=migrations) as connections:
        assert await connections.fetch("SELECT FROM toys.ball") == []


async def test_a_database_that_is_not_durable_is_refused_unless_that_is_wanted(
    database: str, migrations: Path
) -> None:
    connection = await asyncpg.connect(database)
    name = urlsplit(database).path.removeprefix("/")
    await connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    await connection.close()

    with pytest.raises(UnsafeStoreError):
        async with open_database(database, schema="toys", migrations=migrations, migrates=True):
            pass
    async with open_database(
        database, schema="toys", migrations=migrations, allow_unsafe=True
    ) as connections:
        assert await connections.fetch("SELECT FROM toys.ball") == []


async def test_a_database_that_is_not_there_is_unavailable(
    postgres_server: str, migrations: Path
) -> None:
    nowhere = urlsplit(postgres_server)._replace(path="/nowhere").geturl()

    with pytest.raises(StoreUnavailableError, match="nowhere"):
        async with open_database(nowhere, schema="toys", migrations=migrations):
            pass


@pytest.mark.slow
async def test_an_embedded_database_needs_nothing_but_a_folder(
    server_folder: Path, migrations: Path
) -> None:
    url = f"embedded://{server_folder / 'store'}"

    async with open_database(url, schema="toys", migrations=migrations) as connections:
        assert await connections.fetch("SELECT FROM toys.ball") == []
