"""What clients that mean no good, or are broken, cost a gateway, and what others notice of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from time import perf_counter
from typing import Any, Final

import grpc

from libs.telemetry import logs
from opolyx.gateway.v1 import gateway_service_pb2 as gateway_pb
from opolyx.gateway.v1 import gateway_service_pb2_grpc as gateway_grpc
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.console.fleet import SERVICES
from tests.bench.telling import quantile
from tests.support.calling import Client
from tests.support.hostile import PREFACE, memory_bytes, raw
from tests.support.system import System, data_folder

NUMBER: Final = 1_000
"""How many of them there are."""

CALLS: Final = 100
"""How many calls of somebody else are measured meanwhile."""

PEOPLE: Final = 10
"""How many people make these calls: few enough for each, by whose rate nobody is to be stopped."""

SETTLE_S: Final = 2.0
"""How long they have to do their worst before that."""

Attack = Callable[["Victim", int], AsyncIterator[None]]


class Victim:
    """A system whose gateway has a process of its own."""

    def __init__(self, system: System) -> None:
        self.address = system.gateway
        self._system = system

    def person(self, channel: grpc.aio.Channel, number: int = 0) -> Client:
        """Return somebody, as many as are asked for."""
        token = self._system.token(f"hostile-{number}")
        return Client(channel, (("authorization", f"Bearer {token}"),))

    def memory_mb(self) -> float:
        """Return what the gateway has in memory."""
        return memory_bytes(self._system.pids()["gateway"]) / 2**20

    async def calls(self) -> list[float]:
        """Return how long calls of somebody else take, on a connection of their own, in seconds."""
        took = []
        async with _own_channel(self.address) as channel:
            stub = gateway_grpc.GatewayServiceStub(channel)
            for number in range(CALLS):
                metadata = self.person(channel, -1 - number % PEOPLE).metadata
                began_s = perf_counter()
                await stub.GetServerInfo(gateway_pb.GetServerInfoRequest(), metadata=metadata)
                took.append(perf_counter() - began_s)
        return took


def hostile(number: int = NUMBER) -> None:
    """Do to a gateway what it has limits for, one after the other."""
    asyncio.run(_measure(number))


async def _measure(number: int) -> None:
    logs.configure(level="warning")
    with data_folder() as folder:
        system = System(folder, processes=SERVICES)
        try:
            await system.start()
            victim = Victim(system)
            print(f"  {f'{number} of each':<44} p50       p99       gateway's memory")
            _tell("nobody", await victim.calls(), [victim.memory_mb()])
            for name, attack in ATTACKS.items():
                before_mb = victim.memory_mb()
                async with asynccontextmanager(attack)(victim, number):
                    await asyncio.sleep(SETTLE_S)
                    took, during_mb = await victim.calls(), victim.memory_mb()
                await asyncio.sleep(SETTLE_S)
                _tell(name, took, [before_mb, during_mb, victim.memory_mb()])
        finally:
            await asyncio.shield(system.close())


def _tell(name: str, took: list[float], memory_mb: list[float]) -> None:
    figures = "".join(f"{quantile(took, share) * 1e3:7.2f} ms" for share in (0.5, 0.99))
    memory = " -> ".join(f"{each:.0f}" for each in memory_mb)
    print(f"    {name:<40}{figures}   {memory} MB")


# What they do.


async def silent(victim: Victim, number: int) -> AsyncIterator[None]:
    async with raw(victim.address, b"", number):
        yield


async def begun(victim: Victim, number: int) -> AsyncIterator[None]:
    async with raw(victim.address, PREFACE, number):
        yield


async def idle(victim: Victim, number: int) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for _ in range(number):
            channel = await stack.enter_async_context(_own_channel(victim.address))
            await channel.channel_ready()
        yield


async def garbage(victim: Victim, number: int) -> AsyncIterator[None]:
    async with raw(victim.address, bytes(range(256)) * 16, number):
        yield


async def streams_of_one(victim: Victim, number: int) -> AsyncIterator[None]:
    async with _own_channel(victim.address) as channel:
        person = victim.person(channel)
        with _watching([person] * number):
            yield


async def streams_of_many(victim: Victim, number: int) -> AsyncIterator[None]:
    async with _own_channel(victim.address) as channel:
        with _watching([victim.person(channel, each // 25) for each in range(number)]):
            yield


async def never_made(victim: Victim, number: int) -> AsyncIterator[None]:
    async with _own_channel(victim.address) as channel:
        call: Any = channel.stream_unary("/opolyx.lobby.v1.LobbyService/GetRoom")
        people = [victim.person(channel, each // 25) for each in range(number)]
        calls = [call(metadata=person.metadata) for person in people]
        yield
        for each in calls:
            each.cancel()


async def without_a_token(victim: Victim, number: int) -> AsyncIterator[None]:
    async with _own_channel(victim.address) as channel:
        nobody = Client(channel, ())
        with _watching([nobody] * number):
            yield


ATTACKS: Final[dict[str, Attack]] = {
    "connections that say nothing": silent,
    "connections that say how they begin": begun,
    "connections with garbage": garbage,
    "connections without a call": idle,
    "streams without a token": without_a_token,
    "streams of one person": streams_of_one,
    "streams of 40 people": streams_of_many,
    "calls of 40 people that are never made": never_made,
}


@contextmanager
def _watching(people: Sequence[Client]) -> Iterator[None]:
    """Have each of them open a stream."""
    request = progression_pb.WatchProfileRequest()
    streams: list[Any] = [
        person.progression.WatchProfile(request, metadata=person.metadata) for person in people
    ]
    try:
        yield
    finally:
        for stream in streams:
            stream.cancel()


def _own_channel(address: str) -> grpc.aio.Channel:
    """Return a connection that is shared with no other channel."""
    return grpc.aio.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
