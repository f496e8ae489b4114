"""A service's database, ready to be used: served, migrated, connected, and seen to be durable."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from libs.store.connections import POOL_SIZE, Connections, check_durability
from libs.store.embedded import SCHEME, serving
from libs.store.migrate import MigrationError, migrate, pending, read_migrations


class PendingMigrationsError(MigrationError):
    """The schema is older than this version: somebody must migrate it first."""


@asynccontextmanager
async def open_database(  # noqa: PLR0913 - what a service settles at its start
    url: str,
    *,
    schema: str,
    migrations: Path,
    size: int = POOL_SIZE,
    migrates: bool = False,
    allow_unsafe: bool = False,
) -> AsyncIterator[Connections]:
    """Yield connections to a database in which a service's schema is up to date.

    *url* is one of `serving`. An embedded database is always migrated, another one if it
    *migrates*. *allow_unsafe* takes a database that may lose what it has confirmed, knowingly.

    Raises:
        EmbeddedServerError: the embedded server cannot be started.
        StoreUnavailableError: the database cannot be reached.
        MigrationError: the schema is not up to date, and why.
        UnsafeStoreError: see `check_durability`.

    """
    async with serving(url) as served:
        connections = await Connections.open(served, name=f"opolyx {schema}", size=size)
        try:
            await _bring_up(served, schema, migrations, migrates=migrates or url.startswith(SCHEME))
            if not allow_unsafe:
                await check_durability(connections)
            yield connections
        finally:
            await connections.close()


async def _bring_up(url: str, schema: str, folder: Path, *, migrates: bool) -> None:
    # Of its own: the lock of a migration belongs to a session.
    connection = await asyncpg.connect(url)
    try:
        wanted = read_migrations(folder)
        if migrates:
            await migrate(connection, schema, wanted)
        elif lacking := await pending(connection, schema, wanted):
            raise PendingMigrationsError(
                f"{schema} lacks {', '.join(migration.name for migration in lacking)}"
            )
    finally:
        await connection.close()
