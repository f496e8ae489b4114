"""A store in PostgreSQL, near by its socket and far through a line that can be held or cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from libs.store.connections import Connections
from libs.store.postgres import PostgresMatchStore
from tests.store.rig import Rig
from tests.support.proxy import Proxy, Streams

COMMITTED = b"Z\x00\x00\x00\x05I"
"""ReadyForQuery, idle: how PostgreSQL ends the answer to a statement, after its commit."""


class PostgresRig(Rig):
    """See `Rig`. *connections* and *line* are what the stores rest on."""

    def __init__(self, connections: Connections, line: Connections, proxy: Proxy) -> None:
        self.store = PostgresMatchStore(connections)
        self.far = PostgresMatchStore(line)
        self.connections = connections
        self.line = line
        self.proxy = proxy

    def hold(self) -> None:
        self.proxy.hold()

    async def until_holding(self) -> None:
        await self.proxy.until_holding()

    def let_go(self) -> None:
        self.proxy.let_go()

    def lose_reply(self) -> None:
        self.proxy.cut_before_reply(COMMITTED)


@asynccontextmanager
async def postgres_rig(database: str, *, timeout_s: float = 20.0) -> AsyncIterator[PostgresRig]:
    """Open a rig on a database; the far store has one connection, that gives up after a time."""
    async with Proxy(lambda: _connect(database)) as proxy:
        connections = await Connections.open(database, name="near", size=10)
        through = far_url(database, proxy.port)
        line = await Connections.open(through, name="far", size=1, timeout_s=timeout_s)
        try:
            yield PostgresRig(connections, line, proxy)
        finally:
            proxy.let_go()
            await connections.close()
            await line.close()


def far_url(database: str, port: int) -> str:
    """Return the URL of a database through a port of the loopback."""
    parts = urlsplit(database)
    return f"postgres://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable"


async def _connect(database: str) -> Streams:
    parts = urlsplit(database)
    query = parse_qs(parts.query)
    if "host" in query:
        port = query.get("port", ["5432"])[0]
        return await asyncio.open_unix_connection(f"{query['host'][0]}/.s.PGSQL.{port}")
    return await asyncio.open_connection(parts.hostname, parts.port or 5432)
