"""Connections to PostgreSQL that are never used again once an answer has failed to come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Self, TypeAlias

import asyncpg

from libs.store.ports import StoreUnavailableError, UnsafeStoreError

Connection: TypeAlias = "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
"""A connection on loan from the pool."""

POOL_SIZE: Final = 8
TIMEOUT_S: Final = 5.0

_UNREACHABLE: Final = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    # A server that dies says so on idle connections too; until they close they take no statement.
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # shutting down, starting up
    asyncpg.InsufficientResourcesError,  # too many clients, out of memory, disk full
    asyncpg.PostgresSystemError,  # the server's disk
    asyncpg.InternalServerError,
)
"""What the world does to a statement. Any other error means that it was wrong, and was undone."""

_NOT_LET_IN: Final = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,  # no such database
)


class ReplyLostError(StoreUnavailableError):
    """The statement was sent and no reply came: it may be committed, or may still be."""


class Connections:
    """A pool of connections to one database, each used by one statement or transaction at a time.

    Every statement has *timeout_s*. The server itself is given no time-out and never asked to
    cancel: a commit that waits for its standby would be cut short and still be called a success.
    Instead the connection is terminated, whatever the reason that its reply is not awaited, and the
    statement's outcome is then unknown.
    """

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], size: int, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s
        self._places = asyncio.Semaphore(size)
        # Not given back to the pool after each statement: that would be a task of its own.
        self._free: list[Connection] = []

    @classmethod
    async def open(
        cls, url: str, *, name: str, size: int = POOL_SIZE, timeout_s: float = TIMEOUT_S
    ) -> Self:
        """Connect to the database of a `postgres://` URL, under a *name* that operators see.

        Raises:
            StoreUnavailableError: it cannot be reached.

        """
        pool = asyncpg.create_pool(
            url,
            min_size=1,
            max_size=size,
            timeout=timeout_s,
            # Of its own accord the pool sends a RESET each time: a second round trip for nothing,
            # since no statement of ours leaves anything behind on its connection.
            reset=_leave_alone,
            server_settings={"application_name": name},
        )
        try:
            await pool
        except (*_UNREACHABLE, *_NOT_LET_IN) as error:
            pool.terminate()
            raise StoreUnavailableError(f"the database cannot be reached: {error}") from error
        return cls(pool, size, timeout_s)

    async def close(self) -> None:
        """Close all connections, within the time-out the good way and then by force."""
        try:
            async with asyncio.timeout(self._timeout_s):
                while self._free:
                    await self._pool.release(self._free.pop())
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def fetch(self, statement: str, *args: Any) -> list[asyncpg.Record]:
        """Run a statement as a transaction of its own, in one round trip, and return its rows.

        Raises:
            StoreUnavailableError: no connection could be had; nothing was sent.
            ReplyLostError: no answer came in time.

        """
        async with self._connection() as connection:
            return await connection.fetch(statement, *args)

    async def fetchrow(self, statement: str, *args: Any) -> asyncpg.Record | None:
        """Run a statement and return its first row, if any. See `fetch`."""
        async with self._connection() as connection:
            return await connection.fetchrow(statement, *args)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """Hold a connection in a transaction that commits at the end; all within the time-out.

        Raises what `fetch` does.
        """
        async with self._connection() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        async with self._place():
            connection = await self._take()
            # Not asyncpg's own time-out, which would ask the server to cancel.
            guard = asyncio.get_running_loop().call_later(self._timeout_s, _terminate, connection)
            try:
                yield connection
            except asyncio.CancelledError:
                _terminate(connection)
                raise
            except _UNREACHABLE as error:
                if isinstance(error, asyncpg.InterfaceError) and not _is_gone(connection):
                    raise  # asyncpg was used in a wrong way
                _terminate(connection)
                raise ReplyLostError(f"no reply: {error}") from error
            finally:
                guard.cancel()
                if _is_gone(connection):
                    await self._pool.release(connection)
                else:
                    self._free.append(connection)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Have one of the places at the connections, waiting for it if need be."""
        if self._places.locked():
            try:
                async with asyncio.timeout(self._timeout_s):
                    await self._places.acquire()
            except TimeoutError as error:
                raise StoreUnavailableError("all connections are in use") from error
        else:
            await self._places.acquire()  # which is at once
        try:
            yield
        finally:
            self._places.release()

    async def _take(self) -> Connection:
        """Return a connection that nobody uses. There is one, or room for one: see `_place`."""
        while self._free:
            connection = self._free.pop()
            if not _is_gone(connection):
                return connection
            await self._pool.release(connection)
        try:
            return await self._pool.acquire(timeout=self._timeout_s)
        except _UNREACHABLE as error:
            raise StoreUnavailableError(f"no connection: {error}") from error


async def check_durability(connections: Connections) -> None:
    """See that what the database confirms is durable, on a standby too if there is one.

    Raises:
        UnsafeStoreError: it is not, and what to change. Readers of a log are not standbys.

    """
    row = await connections.fetchrow(_DURABILITY)
    assert row is not None
    for setting in ("fsync", "full_page_writes"):
        if row[setting] != "on":
            raise UnsafeStoreError(f"{setting} is {row[setting]}: a crash may lose commits")
    if row["synchronous_commit"] not in ("on", "remote_apply"):
        raise UnsafeStoreError(
            f"synchronous_commit is {row['synchronous_commit']}: it must be on or remote_apply"
        )
    if row["standbys"] and not row["synchronous"]:
        raise UnsafeStoreError(
            f"none of the {row['standbys']} standbys is synchronous: see synchronous_standby_names"
        )


_DURABILITY: Final = """
    SELECT current_setting('fsync') AS fsync,
           current_setting('full_page_writes') AS full_page_writes,
           current_setting('synchronous_commit') AS synchronous_commit,
           count(r.pid) AS standbys,
           count(r.pid) FILTER (WHERE r.sync_state IN ('sync', 'quorum')) AS synchronous
    FROM (SELECT r.pid, r.sync_state FROM pg_stat_replication r
          WHERE r.state <> 'backup' AND NOT EXISTS (
              SELECT 1 FROM pg_replication_slots s
              WHERE s.active_pid = r.pid AND s.slot_type = 'logical')) r
"""


def _is_gone(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True  # the pool has taken it back meanwhile


def _terminate(connection: Connection) -> None:
    if not _is_gone(connection):
        connection.terminate()


async def _leave_alone(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Leave a connection as it is when it goes back to the pool."""
