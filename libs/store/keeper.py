"""Keeps the embedded PostgreSQL of one folder, as a process of its own (see `embedded`).

It starts the server, starts it again when it dies, and stops it when the last process that uses it
is gone, however that went: each user holds a shared lock on a file, the keeper waits for the
exclusive one, and the system drops the locks of the dead. On Linux the server dies with the keeper.

    python keeper.py BIN FOLDER SOCKETS [--user UID --group GID] [--temporary]

It imports nothing of ours, so that it can be run as a file from anywhere.
"""

import argparse
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import psutil

KEPT: Final = "keeper.lock"
"""Held by the keeper, alone; in it the process id of the server it has started."""

USED: Final = "users.lock"
"""Held by every process that uses the server, shared."""

DATA: Final = "postgres"
SUPERUSER: Final = "opolyx"
VERSION: Final = "18"
PORT: Final = 5432
"""Part of a socket's name; nothing listens on a port."""

_STOP_S: Final = 1.0
_STOP_ATTEMPTS: Final = 30
_RESTART_S: Final = 0.25
_ATTEMPTS: Final = 20
"""Failures in a row before it gives up: the backends of a killed server need a moment to leave."""

_LOCK_ATTEMPTS: Final = 4
_STEADY_S: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1


class Keeper:
    """Runs the server of a folder until nobody uses it."""

    def __init__(
        self, binaries: Path, folder: Path, sockets: Path, owner: tuple[int, int] | None
    ) -> None:
        """Make the keeper of a folder; *owner* is the user and group to run as, if not our own."""
        self._binaries = binaries
        self._kept = folder / KEPT
        self._data = folder / DATA
        self._sockets = sockets
        self._owner = owner
        self._server: subprocess.Popen[bytes] | None = None
        self._unused = threading.Event()
        # Guards the moment between asking whether to start a server and having it.
        self._starting = threading.Lock()

    def keep(self, users: IO[bytes]) -> bool:
        """Serve until *users* can be locked; tells whether it went well."""
        stop_orphan(self._data)
        self._make_cluster()
        threading.Thread(target=self._await_last_user, args=(users,), daemon=True).start()
        failures = 0
        while failures < _ATTEMPTS:
            with self._starting:
                if self._unused.is_set():
                    return True
                server = self._server = self._start()
                self._kept.write_text(str(server.pid))
            if not _has_ended(server, _STEADY_S):
                failures = 0
                server.wait()
            failures += 1
            self._unused.wait(_RESTART_S)
            stop_orphan(self._data)
        return self._unused.is_set()

    def _await_last_user(self, users: IO[bytes]) -> None:
        fcntl.flock(users, fcntl.LOCK_EX)
        with self._starting:
            self._unused.set()
            server = self._server
        if server is not None:
            _stop(server.send_signal, partial(_has_ended, server))

    def _start(self) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._sockets),
            "port": str(PORT),
            "max_connections": "200",
            "log_checkpoints": "off",
        }
        if sys.platform == "linux":
            # After a crash every file must reach the disk first: by one call, not one for each.
            settings["recovery_init_sync_method"] = "syncfs"
        options = [f"--{name}={value}" for name, value in settings.items()]
        return subprocess.Popen(  # noqa: S603 - no part of it comes from outside
            [self._binaries / "postgres", "-D", self._data, *options], **self._as_child()
        )

    def _make_cluster(self) -> None:
        """Make the data folder, beside its place first: a half-made one is never taken for one."""
        if self._data.exists():
            return
        fresh = self._data.with_name(f"{DATA}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if self._owner is not None:
            os.chown(fresh, *self._owner)
        subprocess.run(  # noqa: S603 - no part of it comes from outside
            [
                self._binaries / "initdb",
                f"--pgdata={fresh}",
                f"--username={SUPERUSER}",
                "--auth=trust",  # whoever reaches the socket in its private folder is its owner
                "--encoding=UTF8",
                "--locale=C",
            ],
            check=True,
            **self._as_child(),
        )
        fresh.rename(self._data)

    def _as_child(self) -> dict[str, Any]:
        """Return how a child runs: as the server's user, ended by the end of this process."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PG")
        }
        as_owner: dict[str, Any] = {}
        if self._owner is not None:
            user, group = self._owner
            as_owner = {"user": user, "group": group, "extra_groups": []}
        return {
            "env": environment,
            "cwd": "/",
            "stdin": subprocess.DEVNULL,
            "stdout": sys.stderr,
            "preexec_fn": _end_with_parent if sys.platform == "linux" else None,
            **as_owner,
        }


def stop_orphan(data: Path) -> None:
    """Stop a server that nobody keeps.

    The process id in its file may be anybody's by now, so that process is looked at first. If it is
    somebody else's, the file would keep the server from starting for ever, and is taken away; in
    every other case the server itself knows best what to make of it.
    """
    lock_file = data / "postmaster.pid"
    try:
        pid = int(lock_file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return
    try:
        process = psutil.Process(pid)
        if process.name() != "postgres" or str(data) not in process.cmdline():
            lock_file.unlink()
            return
        _stop(process.send_signal, lambda within_s: not psutil.wait_procs([process], within_s)[1])
    except psutil.NoSuchProcess:
        pass


def _stop(send: Callable[[int], None], has_ended: Callable[[float], bool]) -> None:
    """Stop a server fast: its clients are disconnected, and everything is written down."""
    for _ in range(_STOP_ATTEMPTS):
        # More than once: one that has only just been started does not listen to signals yet.
        send(signal.SIGINT)
        if has_ended(_STOP_S):
            return
    send(signal.SIGQUIT)
    has_ended(_STOP_S * _STOP_ATTEMPTS)


def _has_ended(server: "subprocess.Popen[bytes]", within_s: float) -> bool:
    try:
        server.wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _lock(kept: IO[bytes]) -> bool:
    for _ in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(kept, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Perhaps only by somebody who asks whether there is a keeper.
            time.sleep(_RESTART_S)
        else:
            return True
    return False


def main() -> int:
    """Keep a folder's server; returns the exit code."""
    parser = argparse.ArgumentParser(description="Keep an embedded PostgreSQL.")
    parser.add_argument("binaries", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sockets", type=Path)
    parser.add_argument("--user", type=int)
    parser.add_argument("--group", type=int)
    parser.add_argument("--temporary", action="store_true")
    asked = parser.parse_args()
    # It ends by its users' end alone: a terminal's interrupt is for them.
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    with (asked.folder / KEPT).open("ab") as kept, (asked.folder / USED).open("ab") as users:
        if not _lock(kept):
            return 0  # somebody else keeps it
        owner = None if asked.user is None else (asked.user, asked.group)
        keeper = Keeper(asked.binaries, asked.folder, asked.sockets, owner)
        try:
            went_well = keeper.keep(users)
        finally:
            if asked.sockets != asked.folder / DATA:
                shutil.rmtree(asked.sockets, ignore_errors=True)
            if asked.temporary:
                shutil.rmtree(asked.folder)
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main())
