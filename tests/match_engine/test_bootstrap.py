"""The match engine as a whole, on a real PostgreSQL."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from libs.chassis.key_files import LostKeysError
from libs.chassis.process import Service, serve
from libs.chassis.status import answer_of
from libs.eventlog.opening import LOCAL, open_log
from libs.eventlog.ports import Entry
from libs.eventlog.topics import MATCH_HEADS, MATCH_RECORDS
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS, shard_of
from libs.rules import events as e
from libs.rules.snapshot import SCHEMA
from libs.store.ports import Status
from libs.wire.chain import follow
from libs.wire.record import StoredRecord
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.engine.v1.engine_service_pb2_grpc import EngineServiceStub
from services.match_engine.bootstrap import service
from services.match_engine.ownership import ReplacedError
from tests.chassis.answers import answer
from tests.match_engine.engines_rig import Cluster, opened_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

IMPATIENT = {"lease_ttl_s": 2.5, "lease_trust_s": 2.0, "lease_renewal_s": 0.3}


@pytest.fixture
async def cluster(database: str, tmp_path: Path) -> AsyncIterator[Cluster]:
    async with opened_cluster(database, tmp_path) as opened:
        yield opened


@pytest.mark.slow
async def test_a_match_goes_on_after_a_restart(cluster: Cluster) -> None:
    async with cluster.engine("ann"):
        match_id = await cluster.create()
        before = await cluster.play(match_id, 10)

    async with cluster.engine("ann"):
        after = await cluster.play(match_id, 10)
        told = await cluster.read(match_id)

    records = [StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in told.records]
    assert records == await cluster.store.records(match_id, 0)
    assert after.sequence > before.sequence
    assert after.sequence == records[-1].last_seq
    fences = [record.fence for record in follow(records)]
    assert set(fences) == {1, 2}


async def test_an_ended_match_is_whole_in_the_log_with_its_signed_head(cluster: Cluster) -> None:
    async with cluster.engine("ann"):
        match_id = await cluster.create()
        await cluster.play(match_id, 10)
        await cluster.surrender(match_id)

    head = await cluster.store.head(match_id)
    assert head is not None
    assert head.status is Status.ENDED
    assert head.signed is not None
    assert head.published_seq == head.seq
    assert await cluster.store.open_heads(range(SHARDS)) == []
    published = [entry.value for entry in await _log(cluster, MATCH_RECORDS.name)]
    assert published == [record.data for record in await cluster.store.records(match_id, 0)]
    assert [entry.key for entry in await _log(cluster, MATCH_HEADS.name)] == [match_id]


@pytest.mark.slow
async def test_an_engine_without_the_keys_of_its_store_does_not_start(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with cluster.engine("ann"):
        match_id = await cluster.create()
        await cluster.play(match_id, 3)
    (tmp_path / "seed-keys" / "seal-0001.key").rename(tmp_path / "found")

    with pytest.raises(LostKeysError, match="1 matches that go on"):
        async with cluster.engine("ann"):
            pass
    (tmp_path / "seed-keys" / "seal-0001.lost").touch()
    async with cluster.engine("ann"):
        another = await cluster.create()
        got = await answer(cluster.play(match_id, 1))

    assert got.told is not None
    assert got.told.reason == Reason.MATCH_QUARANTINED
    sealed = await cluster.store.seed(another)
    assert sealed is not None
    assert sealed.key_id == "seal-0002"


async def test_the_last_state_of_a_match_is_kept(cluster: Cluster) -> None:
    async with cluster.engine("ann"):
        match_id = await cluster.create()
        last = await cluster.surrender(match_id)

        async def is_kept() -> bool:
            kept = await cluster.store.snapshot(match_id, last.sequence, schema_version=SCHEMA)
            return kept is not None

        await until(is_kept)


async def test_what_was_committed_and_not_published_is_published_by_the_next(
    cluster: Cluster,
) -> None:
    async with cluster.engine("ann"):
        match_id = await cluster.create()
        await cluster.play(match_id, 5)
    # As if the engine had died right after its commits.
    await cluster.connections.fetch("TRUNCATE event_log.entry")
    await cluster.connections.fetch("UPDATE match_engine.match_published SET seq = 0")

    async with cluster.engine("ann"):
        pass

    published = [entry.value for entry in await _log(cluster, MATCH_RECORDS.name)]
    assert published == [record.data for record in await cluster.store.records(match_id, 0)]


async def test_two_engines_share_the_shards_and_take_over_from_each_other(
    cluster: Cluster,
) -> None:
    async with cluster.engine("ann"):
        async with cluster.engine("bob"):
            await _until_owned(cluster, {"ann": 32, "bob": 32})
            match_ids = await _of_both(cluster)
            for match_id in match_ids:
                await cluster.play(match_id, 3)
        at_once = await cluster.owned()
        await _until_owned(cluster, {"ann": 64})
        for match_id in match_ids:
            await cluster.play(match_id, 3)

    assert at_once in ({"ann": 32}, {"ann": 64})


@pytest.mark.slow
async def test_a_killed_engine_is_replaced_and_nobody_is_charged_for_it(cluster: Cluster) -> None:
    async with cluster.engine("ann", **IMPATIENT):
        with cluster.engine_process("bob", **IMPATIENT) as bob:
            await _until_owned(cluster, {"ann": 32, "bob": 32})
            match_ids = await _of_both(cluster)
            for match_id in match_ids:
                await cluster.play(match_id, 3)
            bobs = {a.shard for a in await cluster.ownership.assignments() if a.instance == "bob"}
            bob.kill()
            await _until_owned(cluster, {"ann": 64})
        for match_id in match_ids:
            await cluster.play(match_id, 3)

    for match_id in match_ids:
        records = follow(await cluster.store.records(match_id, 0))
        extended = [event for record in records for event in record.events if _is_extension(event)]
        assert bool(extended) == (shard_of(match_id) in bobs)


async def test_an_engine_that_cannot_renew_serves_nothing_until_it_can(cluster: Cluster) -> None:
    async with cluster.engine("ann", **IMPATIENT):
        match_id = await cluster.create()
        before = await cluster.is_serving("ann")
        async with cluster.connections.transaction() as connection:
            await connection.execute("SELECT * FROM match_engine.engine_lease FOR UPDATE")

            async def has_ceased() -> bool:
                return not await cluster.is_serving("ann")

            await until(has_ceased)
            refusal = await _refused(cluster, match_id)
        await until(lambda: cluster.is_serving("ann"))
        await cluster.play(match_id, 1)

    assert before
    assert refusal == Reason.NOT_OWNER_OF_SHARD
    assert await cluster.ownership.outages(shard_of(match_id))


async def test_an_engine_that_was_replaced_ends(cluster: Cluster) -> None:
    settings = cluster.settings("ann", **IMPATIENT)
    stop = asyncio.Event()
    engine: Service = service(settings, cluster.foundation)
    running = asyncio.create_task(serve([engine], stop=stop, grace_s=5))
    await _until_owned(cluster, {"ann": 64})

    await cluster.ownership.take_lease("ann", "elsewhere:1", 60_000)

    with pytest.raises(ExceptionGroup) as raised:
        await running
    assert raised.group_contains(ReplacedError)


async def test_it_lets_go_of_streams_and_ends_at_once(cluster: Cluster) -> None:
    channel = cluster.foundation.channel("gateway", cluster.address("ann"))
    async with channel:
        async with cluster.engine("ann"):
            match_id = await cluster.create()
            following: Any = EngineServiceStub(channel).Follow()
            start = engine_pb.FollowRequest.Start(match_id=match_id)
            await following.write(engine_pb.FollowRequest(start=start))
            await following.read()
            leaving_s = time.monotonic()
        took_s = time.monotonic() - leaving_s
        last = await following.read()
        while last.WhichOneof("frame") != "leave":
            last = await following.read()

    assert last.leave.reason == Reason.GOING_AWAY
    assert took_s < 2
    assert await cluster.owned() == {}


def _is_extension(event: e.Event) -> bool:
    return isinstance(event, e.DeadlineExtended)


async def _until_owned(cluster: Cluster, shares: dict[str, int]) -> None:
    async def is_so() -> bool:
        return await cluster.owned() == shares

    await until(is_so)


async def _of_both(cluster: Cluster) -> list[MatchId]:
    """Create matches until each engine has one."""
    await until(lambda: len(cluster.engines.addresses()) == len(cluster.ports))
    match_ids: list[MatchId] = []
    while len({cluster.engines.owner(match_id) for match_id in match_ids}) < len(cluster.ports):
        match_ids.append(await cluster.create())
        assert len(match_ids) < 30
    return match_ids


async def _refused(cluster: Cluster, match_id: MatchId) -> str:
    channel = cluster.engines.channel(cluster.address("ann"))
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await cluster.move_at(channel, match_id)
    told = answer_of(raised.value).told
    assert told is not None
    return told.reason


async def _log(cluster: Cluster, topic: str) -> list[Entry]:
    clock = cluster.foundation.clock
    async with (
        open_log(LOCAL, store_url=cluster.url, clock=clock, allow_unsafe=True) as log,
        log.subscribe([topic], group="test") as subscription,
    ):
        entries: list[Entry] = []
        while more := await subscription.fetch(wait_s=0):
            entries += [delivery.entry for delivery in more]
    return entries
