"""A database that may lose what it has confirmed is refused at start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from libs.store.connections import Connections, check_durability
from libs.store.embedded import binaries
from libs.store.ports import UnsafeStoreError
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


async def test_a_database_as_it_comes_is_durable(shared_database: str) -> None:
    connections = await Connections.open(shared_database, name="durability", size=1)

    await check_durability(connections)

    await connections.close()


@pytest.mark.parametrize("setting", ["off", "local", "remote_write"])
async def test_commits_that_wait_for_too_little_are_refused(database: str, setting: str) -> None:
    name = urlsplit(database).path.removeprefix("/")
    connection = await asyncpg.connect(database)
    await connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = {setting}")
    await connection.close()
    connections = await Connections.open(database, name="durability", size=1)

    with pytest.raises(UnsafeStoreError, match=f"synchronous_commit is {setting}"):
        await check_durability(connections)

    await connections.close()


@pytest.mark.slow
async def test_of_the_standbys_one_must_be_synchronous(own_database: str, tmp_path: Path) -> None:
    connections = await Connections.open(own_database, name="durability", size=1)
    sockets = parse_qs(urlsplit(own_database).query)["host"][0]
    # Not a standby, but it looks like one to its server: it follows the log and confirms it.
    follower = await asyncio.create_subprocess_exec(
        binaries() / "pg_receivewal",
        *("--directory", tmp_path, "--host", sockets, "--username", "opolyx", "--synchronous"),
        env={"PGAPPNAME": "follower"},
        stderr=asyncio.subprocess.DEVNULL,
    )

    async def follows() -> bool:
        return bool(await connections.fetch(_FOLLOWING))

    try:
        await until(follows)
        with pytest.raises(UnsafeStoreError, match="none of the 1 standbys is synchronous"):
            await check_durability(connections)
        await connections.fetch("ALTER SYSTEM SET synchronous_standby_names = 'follower'")
        await connections.fetch("SELECT pg_reload_conf()")

        async def is_synchronous() -> bool:
            return bool(await connections.fetch(f"{_FOLLOWING} AND sync_state = 'sync'"))

        await until(is_synchronous)
        await check_durability(connections)
    finally:
        follower.terminate()
        await follower.wait()
        await connections.close()


_FOLLOWING = "SELECT FROM pg_stat_replication WHERE state = 'streaming'"
