"""Databases for stacks: one for each, on an embedded server that all of a run share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from libs.kernel.chance import fresh_secret
from libs.store.migrate import migrate, read_migrations
from services.console.migrate import schemas


@asynccontextmanager
async def fresh_database(server: str) -> AsyncIterator[str]:
    """Yield the URL of a database on *server*, every schema in place; it is gone afterwards."""
    name = f"opolyx_stack_{fresh_secret(8).hex()}"
    await _execute(server, f"CREATE DATABASE {name}")
    try:
        url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        await _migrate(url)
        yield url
    finally:
        await _execute(server, f"DROP DATABASE {name} WITH (FORCE)")


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for schema, folder in schemas().items():
            await migrate(connection, schema, read_migrations(folder))
    finally:
        await connection.close()


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
