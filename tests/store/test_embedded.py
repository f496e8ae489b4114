"""The embedded server is there as long as somebody uses it, whatever is killed, and not longer."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import psutil
import pytest

from libs.store import keeper, privileges
from libs.store.embedded import EmbeddedServer, EmbeddedServerError, binaries, serving
from tests.support.repository import ROOT
from tests.support.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

EXECUTE_AS = """
import os, sys
user, group, *command = sys.argv[1:]
if user:
    os.setgroups([])
    os.setgid(int(group))
    os.setuid(int(user))
os.execv(command[0], command)
"""
"""What runs a command as somebody else. A program of its own: where grpc is loaded nobody forks."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder whose server was never used before the first test, and is no more after each."""
    made = Path(tempfile.mkdtemp(prefix="opolyx-test-")).resolve()
    yield made
    shutil.rmtree(made)


@pytest.fixture(autouse=True)
async def nothing_is_left(folder: Path) -> AsyncIterator[None]:
    yield
    await until(lambda: _running(folder) == [])


async def test_what_was_committed_is_there_when_it_is_started_again(folder: Path) -> None:
    async with serving(f"embedded://{folder}") as url:
        await _execute(url, "CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS answer")
    assert _running(folder) == []

    async with serving(f"embedded://{folder}") as url:
        assert await _fetchval(url, "SELECT answer FROM kept") == 42


async def test_all_who_name_a_folder_share_its_server_and_the_last_one_stops_it(
    folder: Path,
) -> None:
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    urls = await asyncio.gather(first.start(), second.start())
    pid = _postmaster(folder)

    await first.stop()

    assert len(set(urls)) == 1
    assert _postmaster(folder) == pid
    assert await _fetchval(urls[0], "SELECT 1") == 1
    await second.stop()
    assert _running(folder) == []


async def test_nothing_outlives_a_process_that_is_killed(folder: Path) -> None:
    async with _starter(folder) as (starter, url):
        await _execute(url, "DROP TABLE IF EXISTS killed; CREATE TABLE killed ()")
        starter.kill()
        await starter.wait()

        await until(lambda: _running(folder) == [])

    async with serving(f"embedded://{folder}") as url:
        await _execute(url, "DROP TABLE killed")


async def test_others_keep_the_server_of_a_process_that_is_killed(folder: Path) -> None:
    async with _starter(folder) as (starter, url):
        pid = _postmaster(folder)
        async with serving(f"embedded://{folder}") as adopted:
            starter.kill()
            await starter.wait()

            assert adopted == url
            assert await _fetchval(adopted, "SELECT 1") == 1
            assert _postmaster(folder) == pid
    assert _running(folder) == []


async def test_a_server_that_is_killed_comes_back_under_its_url(folder: Path) -> None:
    async with serving(f"embedded://{folder}") as url:
        await _execute(url, "DROP TABLE IF EXISTS revived; CREATE TABLE revived ()")
        before = _postmaster(folder)
        psutil.Process(before).kill()

        await until(lambda: _answers(url))

        assert _postmaster(folder) != before
        await _execute(url, "DROP TABLE revived")


async def test_a_keeper_that_is_killed_is_replaced_and_the_server_answers_again(
    folder: Path,
) -> None:
    async with serving(f"embedded://{folder}") as url, serving(f"embedded://{folder}"):
        await _execute(url, "DROP TABLE IF EXISTS kept_anew; CREATE TABLE kept_anew ()")
        (before,) = _keepers(folder)
        before.kill()

        await until(lambda: _keepers(folder) not in ([], [before]))
        await until(lambda: _answers(url))

        assert len(_keepers(folder)) == 1
        await _execute(url, "DROP TABLE kept_anew")


async def test_nothing_is_left_when_process_and_server_are_killed(folder: Path) -> None:
    async with _starter(folder) as (starter, _):
        starter.kill()
        psutil.Process(_postmaster(folder)).kill()
        await starter.wait()

        await until(lambda: _running(folder) == [])


@pytest.mark.skipif(sys.platform != "linux", reason="no signal at a parent's death elsewhere")
async def test_nothing_is_left_when_process_and_keeper_are_killed(folder: Path) -> None:
    async with _starter(folder) as (starter, _):
        for process in _keepers(folder):
            process.kill()
        starter.kill()
        await starter.wait()

        await until(lambda: _running(folder) == [])


async def test_a_server_that_nobody_keeps_is_stopped_and_replaced(folder: Path) -> None:
    async with serving(f"embedded://{folder}"):
        pass
    data = folder / keeper.DATA
    user, group = privileges.server_owner(data) or (None, None)
    orphan = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", EXECUTE_AS, str(user or ""), str(group or ""), str(binaries() / "postgres")),
        *("-D", str(data), "--listen_addresses=", f"-k{data}"),
        stderr=asyncio.subprocess.DEVNULL,
    )
    await until((data / "postmaster.pid").exists)

    async with serving(f"embedded://{folder}") as url:
        await orphan.wait()

        assert _postmaster(folder) != orphan.pid
        assert await _fetchval(url, "SELECT 1") == 1


async def test_a_process_id_that_is_somebody_elses_by_now_is_in_nobodys_way(folder: Path) -> None:
    async with serving(f"embedded://{folder}"):
        pass
    stale = folder / keeper.DATA / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{folder / keeper.DATA}\n1\n5432\n/nowhere\n\n1 1\nready\n")
    _give(stale, folder / keeper.DATA)

    async with serving(f"embedded://{folder}") as url:
        assert await _fetchval(url, "SELECT 1") == 1


async def test_data_of_another_version_is_refused_and_left_alone(server_folder: Path) -> None:
    data = server_folder / keeper.DATA
    data.mkdir()
    (data / "PG_VERSION").write_text("13\n")

    with pytest.raises(EmbeddedServerError, match="PostgreSQL 13"):
        await EmbeddedServer(server_folder).start()

    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]


async def test_a_server_that_cannot_start_says_why(server_folder: Path) -> None:
    data = server_folder / keeper.DATA
    data.mkdir()
    (data / "PG_VERSION").write_text(f"{keeper.VERSION}\n")

    with pytest.raises(EmbeddedServerError, match="configuration file"):
        await EmbeddedServer(server_folder).start()


async def test_a_temporary_folder_with_a_long_path_goes_with_its_last_user(
    server_folder: Path,
) -> None:
    folder = server_folder / ("long" * 25) / "store, too"
    async with _starter(folder, "--temporary") as (starter, url):
        sockets = Path(parse_qs(urlsplit(url).query)["host"][0])
        async with serving(f"embedded://{folder}") as joined:
            assert joined == url
            assert str(folder) not in url
            assert await _fetchval(url, "SELECT 1") == 1
        starter.kill()
        await starter.wait()

        await until(lambda: not folder.exists())
        await until(lambda: not sockets.exists())


async def test_a_database_that_others_run_is_left_to_them() -> None:
    async with serving("postgres://somebody@localhost/opolyx") as url:
        assert url == "postgres://somebody@localhost/opolyx"


@asynccontextmanager
async def _starter(
    folder: Path, *options: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    starter = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.store.starter", str(folder), *options),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'protos/gen'}"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert starter.stdout is not None
    url = (await starter.stdout.readline()).decode().strip()
    assert url
    yield starter, url
    assert starter.stdin is not None
    starter.stdin.close()
    await starter.wait()


def _running(folder: Path) -> list[psutil.Process]:
    """Return the keeper and the server of a folder, whoever started them."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = process.info["cmdline"] or []
        is_theirs = keeper.__file__ in command or command[:1] == [str(binaries() / "postgres")]
        if is_theirs and any(word.startswith(str(folder)) for word in command):
            found.append(process)
    return found


def _keepers(folder: Path) -> list[psutil.Process]:
    return [process for process in _running(folder) if process.name() != "postgres"]


def _postmaster(folder: Path) -> int:
    return int((folder / keeper.DATA / "postmaster.pid").read_text().split("\n", 1)[0])


def _give(path: Path, like: Path) -> None:
    owner = like.stat()
    os.chown(path, owner.st_uid, owner.st_gid)


async def _answers(url: str) -> bool:
    try:
        return await _fetchval(url, "SELECT 1") == 1
    except (OSError, asyncpg.PostgresError):
        return False


async def _execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


async def _fetchval(url: str, sql: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()
