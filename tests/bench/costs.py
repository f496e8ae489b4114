"""CPU time of a system by its parts: processes, and the backends of PostgreSQL by who uses them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import asyncpg
import psutil

from tests.support.system import System

_BACKENDS: Final = """
    SELECT pid, coalesce(nullif(application_name, ''), backend_type) AS name FROM pg_stat_activity
"""

ITSELF: Final = "postgres itself"
"""What the server does that is nobody's: it writes the log and the pages, and starts backends."""

_OURS: Final = "opolyx "


class Spent(NamedTuple):
    """CPU seconds so far, by process: what it is called, and how many."""

    by_pid: Mapping[int, tuple[str, float]]

    def since(self, before: "Spent") -> dict[str, float]:
        """Return what was spent since, by name. Who came or went meanwhile counts for nothing."""
        total: defaultdict[str, float] = defaultdict(float)
        for pid, (name, seconds) in self.by_pid.items():
            _, seconds_before = before.by_pid.get(pid, (name, seconds))
            total[name] += seconds - seconds_before
        return dict(total)


async def spent(system: System, connection: "asyncpg.Connection[Any]") -> Spent:
    """Look at all processes of a system, to whose PostgreSQL there is a *connection*."""
    found: dict[int, tuple[str, float]] = {}
    for name, pid in system.pids().items():
        _look(found, name, pid)
    backends = {row["pid"]: row["name"] for row in await connection.fetch(_BACKENDS)}
    own = connection.get_server_pid()
    server = system.postgres()
    assert server is not None
    for pid in (server, *(child.pid for child in psutil.Process(server).children())):
        name = backends.get(pid, ITSELF)
        if pid != own:
            _look(found, _part(name), pid)
    return Spent(found)


def _part(name: str) -> str:
    if name.startswith(_OURS):
        return f"postgres for {name.removeprefix(_OURS)}"
    return ITSELF


def _look(found: dict[int, tuple[str, float]], name: str, pid: int) -> None:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return
    found[pid] = name, times.user + times.system
