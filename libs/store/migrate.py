"""Migrations: numbered SQL files of one service's schema, run once each, in order, for good.

Forward only: what was applied never changes, and is undone by another migration. Any number of
processes may run them at once.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import asyncpg

LOCK_TIMEOUT_S: Final = 60.0
TABLE_TIMEOUT_S: Final = 10.0
_LOCK: Final = 0x6F706F6C79780001  # "opolyx", 1
_FILE: Final = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql", re.ASCII)
_SCHEMA: Final = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


class MigrationError(Exception):
    """A schema cannot be brought up to date; nothing but whole migrations was applied."""


class ChangedMigrationError(MigrationError):
    """A file is not the one that was applied under its number."""


class NewerSchemaError(MigrationError):
    """The schema was migrated by a newer opolyx: this one knows too little to use it."""


class BadMigrationError(MigrationError):
    """A file is misnamed, a number is missing, or the SQL fails."""


class LockedSchemaError(MigrationError):
    """Somebody else has been migrating for too long."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its *number* from 1, its *name* as the file is called, and its SQL."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> bytes:
        """SHA-256 of the SQL."""
        return sha256(self.sql.encode()).digest()


def read_migrations(folder: Path) -> tuple[Migration, ...]:
    """Read a service's migrations, ``NNNN_what.sql`` from 0001 on without a gap.

    Raises:
        BadMigrationError: a file is misnamed, or a number is missing or twice there.

    """
    found = []
    for path in sorted(folder.glob("*.sql")):
        parts = _FILE.fullmatch(path.name)
        if parts is None:
            raise BadMigrationError(f"{path.name} is not called NNNN_what.sql")
        found.append(Migration(int(parts[1]), path.stem, path.read_text(encoding="utf-8")))
    for place, migration in enumerate(found, start=1):
        if migration.number != place:
            raise BadMigrationError(f"{migration.name} stands where number {place:04} should")
    return tuple(found)


async def pending(
    connection: asyncpg.Connection[asyncpg.Record], schema: str, migrations: Sequence[Migration]
) -> list[Migration]:
    """Return what `migrate` would apply, changing nothing (``--dry-run``).

    Raises:
        ChangedMigrationError, NewerSchemaError: see there.

    """
    return _lacking(await _applied(connection, _named(schema)), schema, migrations)


async def migrate(
    connection: asyncpg.Connection[asyncpg.Record],
    schema: str,
    migrations: Sequence[Migration],
    *,
    lock_timeout_s: float = LOCK_TIMEOUT_S,
    table_timeout_s: float = TABLE_TIMEOUT_S,
) -> list[Migration]:
    """Bring a service's schema up to date and return what was applied.

    Each migration is a transaction, together with the row that says that it was applied. One
    process at a time migrates a database; the others wait, *lock_timeout_s* at most, and then find
    nothing left to do. The connection must not be one through a pooler that shares sessions.

    Raises:
        ChangedMigrationError: an applied file was changed since.
        NewerSchemaError: more was applied than is known here.
        BadMigrationError: the SQL of a migration fails, or waits for a busy table for longer than
            *table_timeout_s*; those before it stay.
        LockedSchemaError: another process held the lock all the time.

    """
    async with _locked(connection, lock_timeout_s):
        await connection.execute(_TABLE.format(schema=_named(schema)))
        lacking = await pending(connection, schema, migrations)
        for migration in lacking:
            await _apply(connection, schema, migration, table_timeout_s)
    return lacking


async def _apply(
    connection: asyncpg.Connection[asyncpg.Record],
    schema: str,
    migration: Migration,
    table_timeout_s: float,
) -> None:
    try:
        async with connection.transaction():
            # Whoever comes after a migration that waits for a table waits behind it.
            await connection.execute(f"SET LOCAL lock_timeout = {round(table_timeout_s * 1000)}")
            await connection.execute(migration.sql)
            await connection.execute(
                _APPLIED.format(schema=schema),
                migration.number,
                migration.name,
                migration.checksum,
            )
    except asyncpg.PostgresError as error:
        raise BadMigrationError(f"{schema}, {migration.name}: {error}") from error


def _lacking(
    applied: Sequence[asyncpg.Record], schema: str, migrations: Sequence[Migration]
) -> list[Migration]:
    if len(applied) > len(migrations):
        newest = applied[-1]["name"]
        raise NewerSchemaError(f"{schema} has {newest}, which this version does not know")
    for row, migration in zip(applied, migrations, strict=False):
        if row["checksum"] != migration.checksum:
            raise ChangedMigrationError(
                f"{schema}: {migration.name} is not what was applied as {row['name']}"
            )
    return list(migrations[len(applied) :])


async def _applied(
    connection: asyncpg.Connection[asyncpg.Record], schema: str
) -> list[asyncpg.Record]:
    exists = await connection.fetchval("SELECT to_regclass($1)", f"{schema}.schema_migration")
    if exists is None:
        return []
    return await connection.fetch(_LIST.format(schema=schema))


@asynccontextmanager
async def _locked(
    connection: asyncpg.Connection[asyncpg.Record], timeout_s: float
) -> AsyncIterator[None]:
    # Of the session, not of a transaction: it spans several. One lock for all schemas, since the
    # first statement of each creates the schema.
    try:
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK, timeout=timeout_s)
    except TimeoutError as error:
        raise LockedSchemaError("another process is migrating this database") from error
    try:
        yield
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


def _named(schema: str) -> str:
    assert _SCHEMA.fullmatch(schema), schema  # it becomes part of the SQL
    return schema


_TABLE: Final = """
    CREATE SCHEMA IF NOT EXISTS {schema};
    CREATE TABLE IF NOT EXISTS {schema}.schema_migration (
        number     integer     PRIMARY KEY,
        name       text        NOT NULL,
        checksum   bytea       NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    )
"""
_LIST: Final = "SELECT name, checksum FROM {schema}.schema_migration ORDER BY number"
_APPLIED: Final = """
    INSERT INTO {schema}.schema_migration (number, name, checksum) VALUES ($1, $2, $3)
"""
