"""Migrations run once each, in order, whoever runs them and however many do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from libs.store.migrate import (
    BadMigrationError,
    ChangedMigrationError,
    LockedSchemaError,
    Migration,
    NewerSchemaError,
    migrate,
    pending,
    read_migrations,
)
from tests.support.repository import ROOT
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

FIRST = Migration(1, "0001_first", "CREATE TABLE toys.ball (colour text)")
SECOND = Migration(2, "0002_second", "ALTER TABLE toys.ball ADD size integer")
TOYS = (FIRST, SECOND)


@pytest.fixture
async def connection(database: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    async with _connected(database) as opened:
        yield opened


async def test_what_is_lacking_is_applied_in_order_and_once(
    connection: asyncpg.Connection[asyncpg.Record],
) -> None:
    assert await migrate(connection, "toys", TOYS[:1]) == [FIRST]
    assert await migrate(connection, "toys", TOYS) == [SECOND]
    assert await migrate(connection, "toys", TOYS) == []

    await connection.execute("INSERT INTO toys.ball (colour, size) VALUES ('red', 5)")


async def test_a_dry_run_lists_and_changes_nothing(
    connection: asyncpg.Connection[asyncpg.Record],
) -> None:
    assert await pending(connection, "toys", TOYS) == [FIRST, SECOND]
    assert await connection.fetchval("SELECT to_regnamespace('toys')") is None

    await migrate(connection, "toys", TOYS[:1])

    assert await pending(connection, "toys", TOYS) == [SECOND]


async def test_a_changed_migration_is_refused_and_nothing_is_applied(
    connection: asyncpg.Connection[asyncpg.Record],
) -> None:
    await migrate(connection, "toys", TOYS[:1])
    changed = Migration(1, "0001_first", FIRST.sql + " -- and a remark")

    with pytest.raises(ChangedMigrationError, match="0001_first"):
        await migrate(connection, "toys", (changed, SECOND))

    assert await pending(connection, "toys", TOYS) == [SECOND]


async def test_a_schema_of_a_newer_version_is_refused(
    connection: asyncpg.Connection[asyncpg.Record],
) -> None:
    await migrate(connection, "toys", TOYS)

    with pytest.raises(NewerSchemaError, match="0002_second"):
        await pending(connection, "toys", TOYS[:1])


async def test_a_migration_that_fails_leaves_those_before_it_and_nothing_of_itself(
    connection: asyncpg.Connection[asyncpg.Record],
) -> None:
    bad = Migration(2, "0002_bad", "CREATE TABLE toys.kite (); CREATE TABLE toys.ball ()")

    with pytest.raises(BadMigrationError, match="0002_bad"):
        await migrate(connection, "toys", (FIRST, bad))

    assert await connection.fetchval("SELECT to_regclass('toys.kite')") is None
    assert await migrate(connection, "toys", TOYS) == [SECOND]


async def test_many_runners_at_once_apply_each_migration_once(database: str) -> None:
    async with AsyncExitStack() as stack:
        runners = [await stack.enter_async_context(_connected(database)) for _ in range(6)]

        applied = await asyncio.gather(*(migrate(runner, "toys", TOYS) for runner in runners))

    assert sorted(map(len, applied)) == [0, 0, 0, 0, 0, 2]


async def test_whoever_waits_too_long_for_another_runner_says_so(database: str) -> None:
    stuck = Migration(1, "0001_stuck", "SELECT pg_advisory_xact_lock(42)")
    async with _connected(database) as slow, _connected(database) as other:
        await other.execute("SELECT pg_advisory_lock(42)")
        migrating = asyncio.create_task(migrate(slow, "toys", (stuck,)))

        async def is_stuck() -> bool:
            return bool(await other.fetch(_STUCK))

        await until(is_stuck)
        with pytest.raises(LockedSchemaError):
            await migrate(other, "toys", TOYS, lock_timeout_s=0.2)
        await other.execute("SELECT pg_advisory_unlock(42)")
        assert await migrating == [stuck]


async def test_a_migration_does_not_wait_for_a_busy_table_for_ever(database: str) -> None:
    async with _connected(database) as runner, _connected(database) as busy:
        await migrate(runner, "toys", TOYS[:1])
        async with busy.transaction():
            await busy.execute("LOCK TABLE toys.ball IN ACCESS SHARE MODE")
            with pytest.raises(BadMigrationError, match="lock timeout"):
                await migrate(runner, "toys", TOYS, table_timeout_s=0.1)

        assert await migrate(runner, "toys", TOYS) == [SECOND]


async def test_the_files_of_every_service_are_numbered_and_known_to_a_fresh_database(
    connection: asyncpg.Connection[asyncpg.Record],
) -> None:
    folders = sorted((ROOT / "services").glob("*/migrations"))

    assert folders
    for folder in folders:
        migrations = read_migrations(folder)
        assert migrations
        assert await pending(connection, folder.parent.name, migrations) == []


@pytest.mark.parametrize(
    "names",
    [["0002_second.sql"], ["0001_a.sql", "0003_c.sql"], ["0001_a.sql", "0001_b.sql"], ["1_a.sql"]],
    ids=["no first", "a gap", "one twice", "misnamed"],
)
def test_files_that_do_not_count_up_are_refused(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1")

    with pytest.raises(BadMigrationError):
        read_migrations(tmp_path)


def test_a_file_is_read_with_its_number_and_name(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").write_text(FIRST.sql)
    (tmp_path / "README.md").write_text("not a migration")

    assert read_migrations(tmp_path) == (FIRST,)


@asynccontextmanager
async def _connected(database: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(database)
    try:
        yield connection
    finally:
        await connection.close()


_STUCK = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'lock.42'"
