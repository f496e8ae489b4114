"""What a system takes while it runs: memory, handles, time to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import monotonic
from typing import Final, NamedTuple

import psutil

from tests.soak.people import Seen
from tests.support.system import System

MIB: Final = 1024 * 1024


class Sample(NamedTuple):
    """A look at a system.

    Attributes:
        at_s: since the beginning.
        services_mib, store_mib: what the services' processes and PostgreSQL hold; memory that
            processes share is divided among them.
        handles: open files and sockets of the services.
        commands: how many have been acknowledged so far.
        matches: how many have been begun so far.
        p50_ms, p99_ms: of the acknowledgements since the sample before; 0 if there were none.

    """

    at_s: float
    services_mib: float
    store_mib: float
    handles: int
    commands: int
    matches: int
    p50_ms: float
    p99_ms: float


@dataclass(slots=True)
class Watcher:
    """Looks at *system* every so often, while people play on it who see *seen*."""

    system: System
    seen: Seen

    async def watch(self, every_s: float, samples: list[Sample]) -> None:
        """Add to *samples* until cancelled."""
        began_s, waited = monotonic(), 0
        while True:
            await asyncio.sleep(every_s)
            recent_s = sorted(self.seen.waited_s[waited:])
            waited = len(self.seen.waited_s)
            samples.append(self._sample(monotonic() - began_s, recent_s))

    def _sample(self, at_s: float, recent_s: Sequence[float]) -> Sample:
        pids = [psutil.Process(pid) for pid in self.system.pids().values()]
        postgres = self.system.postgres()
        servers = [] if postgres is None else [psutil.Process(postgres)]
        servers += [child for server in servers for child in server.children()]
        return Sample(
            at_s,
            sum(map(_held, pids)) / MIB,
            sum(map(_held, servers)) / MIB,
            sum(process.num_fds() for process in pids),
            len(self.seen.acknowledged),
            len(self.seen.matches),
            _at(recent_s, 0.5) * 1000,
            _at(recent_s, 0.99) * 1000,
        )


def growth_mib_per_h(samples: Sequence[Sample]) -> float:
    """Return how fast the services' memory grows in the second half, in MiB an hour.

    From the median of that half's first third to that of its last: what comes up once and stays is
    no growth.
    """
    half = samples[len(samples) // 2 :]
    third = max(len(half) // 3, 1)
    first, last = half[:third], half[-third:]
    hours = (median(s.at_s for s in last) - median(s.at_s for s in first)) / 3600
    grown = median(s.services_mib for s in last) - median(s.services_mib for s in first)
    return grown / hours if hours else 0.0


def _held(process: psutil.Process) -> int:
    """Return the proportional set size of a process in bytes; 0 for one that is gone."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.NoSuchProcess:
        return 0


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)] if ordered else 0.0
