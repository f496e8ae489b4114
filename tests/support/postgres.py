"""Fixtures for tests on a real PostgreSQL: the embedded server, or the one that is named.

All workers of a run share one server, and the last to leave takes its data away. A test that needs
a database for itself takes `database`; others share `shared_database`. Both have every service's
schema in place. A folder of tests takes what it needs into its `conftest.py`, and shares it there.

    OPOLYX_TEST_POSTGRES    the URL of another server, whose user may make databases
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from libs.store import embedded
from libs.store.embedded import serving
from libs.store.migrate import migrate, read_migrations
from tests.support.repository import ROOT

_NUMBERS: Final = count()


@pytest.fixture(scope="session")
async def postgres_server(testrun_uid: str) -> AsyncIterator[str]:
    """Return the URL of a server for this run."""
    folder = Path(tempfile.gettempdir()) / f"opolyx-test-{testrun_uid[:12]}"
    url = os.environ.get("OPOLYX_TEST_POSTGRES", f"embedded://{folder}")
    async with serving(url, temporary=True) as served:
        yield served


@pytest.fixture(scope="session")
async def shared_database(postgres_server: str, worker_id: str) -> AsyncIterator[str]:
    """Return the URL of a database that this worker's tests share, schemas in place."""
    name = _new_name(worker_id)
    yield await _make(postgres_server, name)
    await _drop(postgres_server, name)


@pytest.fixture
async def database(postgres_server: str, worker_id: str) -> AsyncIterator[str]:
    """Return the URL of a fresh database of the test's own, schemas in place."""
    name = _new_name(worker_id)
    yield await _make(postgres_server, name)
    await _drop(postgres_server, name)


@pytest.fixture
async def own_database(server_folder: Path) -> AsyncIterator[str]:
    """Return the URL of a database on a server of the test's own, schemas in place. Seconds."""
    async with serving(f"embedded://{server_folder}") as served:
        yield await _make(served, "opolyx_own")


@pytest.fixture
def server_folder() -> Iterator[Path]:
    """Return a folder for an embedded server of the test's own.

    Not a `tmp_path`: where root runs the tests the server is somebody else, whom pytest shuts out
    of the folders above that.
    """
    folder = Path(tempfile.mkdtemp(prefix="opolyx-test-")).resolve()
    yield folder
    shutil.rmtree(folder)


@atexit.register
def _leave_keepers() -> None:
    """Let go of a keeper that other workers still need, or its Popen complains that it runs."""
    for keeper in embedded._keepers:
        keeper.returncode = 0


def database_url(server: str, name: str) -> str:
    """Return the URL of another database of a server."""
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def _new_name(worker_id: str) -> str:
    return f"opolyx_{worker_id}_{os.getpid()}_{next(_NUMBERS)}"


async def _make(server: str, name: str) -> str:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    url = database_url(server, name)
    connection = await asyncpg.connect(url)
    try:
        for folder in sorted((ROOT / "services").glob("*/migrations")):
            await migrate(connection, folder.parent.name, read_migrations(folder))
    finally:
        await connection.close()
    return url


async def _drop(server: str, name: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()
