"""What callers are told of which engine serves which matches (W1a)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from libs.chassis.admission import Door
from libs.chassis.channels import open_channel
from libs.chassis.edge import Terms
from libs.chassis.engines import Engines
from libs.chassis.roles import ANYONE, AllowList
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.chassis.status import answer_of
from libs.kernel.clock import ManualClock
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS, shard_of
from libs.store.memory_ownership import MemoryOwnership
from opolyx.engine.v1 import shard_service_pb2 as pb
from opolyx.engine.v1 import shard_service_pb2_grpc as pb_grpc
from services.match_engine.allowed import SHARD_SERVICE
from services.match_engine.ownership import Leaseholder
from services.match_engine.shards import ShardServicer
from tests.store.records import a_match_id
from tests.support.waiting import until


class Cluster:
    """Two engines of a store whose time is told by hand; the first one is asked."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000_000)
        self.ownership = MemoryOwnership(self.clock)
        self.ann = self.holder("ann", "127.0.0.1:1")
        self.bob = self.holder("bob", "127.0.0.1:2")

    def holder(self, name: str, address: str) -> Leaseholder:
        return Leaseholder(self.ownership, name, lambda: address, steady=self.clock.now_ms)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@asynccontextmanager
async def served(holder: Leaseholder, *, sign_of_life_s: float = 0.1) -> AsyncIterator[GrpcServer]:
    allowed = AllowList({"opolyx.engine.v1.ShardService/WatchShards": [ANYONE]})
    terms = Terms(
        service="match_engine",
        door=Door(allowed=allowed),
        settings=ServerSettings(stream_grace_s=1),
        clock=ManualClock(0),
        version="1",
    )
    server = GrpcServer(terms)
    servicer = ShardServicer(holder, server.draining, sign_of_life_s=sign_of_life_s)
    server.add(pb_grpc.add_ShardServiceServicer_to_server, servicer, SHARD_SERVICE)
    async with server:
        yield server


@asynccontextmanager
async def watching(
    server: GrpcServer,
) -> AsyncIterator["grpc.aio.UnaryStreamCall[pb.WatchShardsRequest, pb.WatchShardsResponse]"]:
    async with open_channel(server.address) as channel:
        stream = pb_grpc.ShardServiceStub(channel).WatchShards(pb.WatchShardsRequest())
        yield stream
        stream.cancel()


async def _next(
    stream: "grpc.aio.UnaryStreamCall[pb.WatchShardsRequest, pb.WatchShardsResponse]",
) -> pb.WatchShardsResponse:
    async with asyncio.timeout(5):
        response = await stream.read()
    assert isinstance(response, pb.WatchShardsResponse)
    return response


async def test_the_whole_assignment_comes_at_once(cluster: Cluster) -> None:
    await cluster.ann.renew()
    await cluster.bob.renew()
    await cluster.ann.renew()

    async with served(cluster.ann) as server, watching(server) as stream:
        response = await _next(stream)

    assert [(e.instance, e.address) for e in response.engines] == [
        ("ann", "127.0.0.1:1"),
        ("bob", "127.0.0.1:2"),
    ]
    assert sorted(shard for e in response.engines for shard in e.shards) == [*range(SHARDS)]
    assert set(response.engines[0].shards) == cluster.ann.shards


async def test_a_change_is_told_when_it_happens_under_a_higher_epoch(cluster: Cluster) -> None:
    await cluster.ann.renew()
    async with served(cluster.ann) as server, watching(server) as stream:
        before = await _next(stream)
        await cluster.bob.renew()
        await cluster.ann.renew()
        after = await _next(stream)

    assert len(before.engines) == 1
    assert len(after.engines) == 2
    assert after.epoch == before.epoch + 32


async def test_a_sign_of_life_comes_without_a_change(cluster: Cluster) -> None:
    await cluster.ann.renew()
    async with served(cluster.ann) as server, watching(server) as stream:
        first = await _next(stream)
        second = await _next(stream)

    assert first == second


async def test_the_epoch_never_falls_though_nobody_has_a_shard_for_a_while(
    cluster: Cluster,
) -> None:
    cid = cluster.holder("cid", "127.0.0.1:3")
    for holder in (cluster.ann, cluster.bob, cid, cluster.ann, cluster.bob):
        await holder.renew()
    async with served(cluster.ann) as server, watching(server) as stream:
        told = [await _next(stream)]
        for second in range(1, 6):
            cluster.clock.advance(1_000)
            if second < 4:
                await cluster.bob.renew()  # then he is late, and cid's lease has lapsed
            await cluster.ann.renew()
            told.append(await _next(stream))

    epochs = [response.epoch for response in told]
    assert epochs == sorted(epochs)
    assert sum(len(engine.shards) for engine in told[-1].engines) < SHARDS


async def test_an_engine_without_a_lease_knows_nothing(cluster: Cluster) -> None:
    async with served(cluster.ann) as server, watching(server) as stream:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await _next(stream)

    told = answer_of(raised.value).told
    assert told is not None
    assert told.reason == Reason.STORE_UNAVAILABLE


class Overheard(Leaseholder):
    """A leaseholder that tells when somebody waits for its news."""

    is_waited_for = False

    @property
    def bell(self) -> asyncio.Event:
        self.is_waited_for = True
        return super().bell


async def test_who_asks_an_engine_that_starts_waits_for_its_first_lease(cluster: Cluster) -> None:
    cid = Overheard(cluster.ownership, "cid", lambda: "127.0.0.1:3", steady=cluster.clock.now_ms)
    async with served(cid, sign_of_life_s=60) as server, watching(server) as stream:
        await until(lambda: cid.is_waited_for)
        await cid.renew()
        response = await _next(stream)

    assert [engine.instance for engine in response.engines] == ["cid"]


async def test_an_engine_that_lost_its_lease_lets_nobody_wait(cluster: Cluster) -> None:
    await cluster.ann.renew()
    cluster.clock.advance(4_000)

    async with served(cluster.ann, sign_of_life_s=60) as server, watching(server) as stream:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await _next(stream)

    told = answer_of(raised.value).told
    assert told is not None
    assert told.reason == Reason.STORE_UNAVAILABLE


async def test_a_drain_says_so(cluster: Cluster) -> None:
    await cluster.ann.renew()
    async with served(cluster.ann) as server, watching(server) as stream:
        await _next(stream)
        server.draining.set()
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await _next(stream)

    told = answer_of(raised.value).told
    assert told is not None
    assert told.reason == Reason.GOING_AWAY


async def test_callers_of_engines_find_the_owner_by_it(cluster: Cluster) -> None:
    match_id = a_match_id()
    await cluster.ann.renew()
    await cluster.bob.renew()
    await cluster.ann.renew()
    owner = "127.0.0.1:1" if shard_of(match_id) in cluster.ann.shards else "127.0.0.1:2"

    async with served(cluster.ann) as server, Engines([server.address], open_channel) as engines:
        await until(lambda: engines.owner(match_id) is not None)
        found = engines.owner(match_id)

    assert found == owner
