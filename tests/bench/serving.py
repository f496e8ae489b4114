"""What a command costs that goes through every service: its time, and the CPU's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Final, NamedTuple

import asyncpg
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.client.client import Client
from libs.store.embedded import serving
from libs.telemetry import logs
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.fleet import ALL, SERVICES
from tests.bench.costs import spent
from tests.bench.crowd import Crowd, Times, gathered
from tests.bench.telling import tell
from tests.support.system import System, data_folder

PROBES_PER_S: Final = 10
"""How often an empty call and a bare commit are made beside the commands."""

REST_S: Final = 2.0
"""How long what was begun in a hurry may take to be published and read."""

IDLE_S: Final = 5.0

READS: Final = "10000"
"""How often the one who reads all matches may: as often as they like."""

Database = asyncpg.Connection


class Scale(NamedTuple):
    """How much is measured.

    Attributes:
        matches: how many are played at a time.
        per_s: how many commands a second are given in all.
        seconds: for how long.
        deep: of how many matches *moves* are made first, as fast as they can be: it warms up, and
            loading such a match takes its time.

    """

    matches: int = 200
    per_s: float = 100
    seconds: float = 30
    deep: int = 10
    moves: int = 150


FULL: Final = Scale()


def serve(scale: Scale = FULL) -> None:
    """Play through every service in one process, and load all matches again."""
    asyncio.run(_measure(scale, (ALL,)))


def parts(scale: Scale = FULL) -> None:
    """Play through every service in a process of its own, and see what each of them takes."""
    asyncio.run(_measure(scale, SERVICES))


async def _measure(scale: Scale, processes: Sequence[str]) -> None:
    logs.configure(level="warning")
    with data_folder() as folder:
        system = System(folder, processes=processes, OPOLYX_GATEWAY__RATE__BURST=READS)
        try:
            await system.start()
            async with serving(system.settings.store_url) as url:
                match_ids = await _play(system, url, scale)
                if processes == (ALL,):
                    system.stop()
                    await system.start()
                    await _load(system, match_ids, scale)
        finally:
            await asyncio.shield(system.close())


async def _play(system: System, url: str, scale: Scale) -> list[str]:
    """Play, print what it took, and return the matches, the deep ones first."""
    async with _probing(system, url) as probes, gathered(system, scale.matches) as crowd:
        await _warm_up(crowd, scale)
        await asyncio.sleep(min(REST_S, scale.seconds))
        before = await spent(system, probes.connection)
        await asyncio.sleep(min(IDLE_S, scale.seconds))
        idle = (await spent(system, probes.connection)).since(before)
        before = await spent(system, probes.connection)
        async with probes.running():
            times = await crowd.play(scale.per_s, scale.seconds)
        busy = (await spent(system, probes.connection)).since(before)
        _tell_times(scale, times, probes)
        _tell_costs(scale, len(times.acknowledged), busy, idle)
        return [game.match_id for game in crowd.games]


async def _warm_up(crowd: Crowd, scale: Scale) -> None:
    began_s = perf_counter()
    times = await crowd.hurry(scale.deep, scale.moves)
    per_s = len(times.acknowledged) / (perf_counter() - began_s)
    print(f"  {scale.deep} matches as fast as they go: {per_s:,.0f} commands/s in all")


class Probes:
    """The least that a call can be, and the least that a commit can be.

    Attributes:
        echoed, committed: how long each of them took, in seconds.

    """

    def __init__(self, channel: grpc.aio.Channel, connection: "Database[Any]") -> None:
        self.echoed: list[float] = []
        self.committed: list[float] = []
        self.connection = connection
        self._health: Any = health_pb2_grpc.HealthStub(channel)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Measure both, again and again, within the block."""
        works = (self._repeat(self._echo, self.echoed), self._repeat(self._commit, self.committed))
        tasks = [asyncio.create_task(work) for work in works]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _repeat(self, work: Callable[[], Awaitable[object]], took: list[float]) -> None:
        while True:
            began_s = perf_counter()
            await work()
            took.append(perf_counter() - began_s)
            await asyncio.sleep(max(1 / PROBES_PER_S - took[-1], 0))

    async def _echo(self) -> None:
        await self._health.Check(health_pb2.HealthCheckRequest())

    async def _commit(self) -> None:
        await self.connection.execute("INSERT INTO bench (place) VALUES (1)")


@asynccontextmanager
async def _probing(system: System, url: str) -> AsyncIterator[Probes]:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE TABLE bench (place int NOT NULL)")
        async with grpc.aio.insecure_channel(system.gateway) as channel:
            yield Probes(channel, connection)
    finally:
        await connection.close()


async def _load(system: System, match_ids: Sequence[str], scale: Scale) -> None:
    """Read each match twice, after a restart: the first time it must be loaded."""
    first: list[float] = []
    again: list[float] = []
    async with system.client("reader") as client:
        await _read(client, match_ids[-1])
        for match_id in match_ids[:-1]:
            first.append(await _read(client, match_id))
            again.append(await _read(client, match_id))
    deep, others = first[: scale.deep], first[scale.deep :]
    print(f"  {'the first read of a match after a restart':<44} p50       p99")
    tell(f"of {len(deep)} with at least {scale.moves} records", deep)
    tell("of the others", others)
    tell("a second read, of what is loaded", again)


async def _read(client: Client, match_id: str) -> float:
    began_s = perf_counter()
    await client.match.GetMatch(pb.GetMatchRequest(match_id=match_id))
    return perf_counter() - began_s


def _tell_times(scale: Scale, times: Times, probes: Probes) -> None:
    what = f"{scale.matches} matches, {scale.per_s:.0f} commands/s for {scale.seconds:.0f} s"
    print(f"  {what:<44} p50       p99     times a commit")
    for name, took in (
        ("an empty call (health)", probes.echoed),
        ("a bare commit of one row", probes.committed),
        ("command to acknowledgement (aim 3, 25)", times.acknowledged),
        ("command to the other player's stream", times.pushed),
        ("sent too late by the crowd itself", times.late),
    ):
        tell(name, took, probes.committed)
    print(f"    {len(times.acknowledged)} accepted, {times.refused} refused")


def _tell_costs(
    scale: Scale, commands: int, busy: dict[str, float], idle: dict[str, float]
) -> None:
    idle_s = min(IDLE_S, scale.seconds)
    print(f"  {'CPU':<44} ms a command   % of a core at rest")
    for name in sorted(busy, key=lambda name: -busy[name]):
        at_rest = idle.get(name, 0.0) / idle_s
        print(f"    {name:<42} {busy[name] / commands * 1e3:8.2f} {at_rest * 100:15.1f}")
    print(f"    {'in all':<42} {sum(busy.values()) / commands * 1e3:8.2f}")
