"""Clients that mean no good, or are broken: they end, and others play on meanwhile."""

from __future__ import annotations

import asyncio
import signal
from typing import Any, Final

import grpc
import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.kernel.clock import ManualClock, SystemClock
from libs.kernel.ids import fresh_id
from libs.kernel.reasons import Reason
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from tests.chassis.answers import answer
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig, go_on, turn_of
from tests.gateway.test_presence import there
from tests.support.calling import Client, rest_of, slow_channel
from tests.support.hostile import PREFACE, raw, watcher
from tests.support.waiting import until

pytestmark = pytest.mark.slow

IMPATIENT: Final[dict[str, Any]] = {"keepalive_s": 1, "write_timeout_s": 0.5}
HOUR_MS: Final = 3_600_000


@pytest.fixture
async def impatient(open_rig: OpenRig) -> Rig:
    """Return a gateway that soon asks whether a client is still there."""
    return await open_rig(**IMPATIENT)


async def others_play_on(rig: Rig) -> None:
    """Have the people of the match play, on a connection of their own."""
    async with grpc.aio.insecure_channel(rig.address) as channel:
        for _ in range(3):
            person = rig.client(turn_of(rig)).on(channel)
            await person.submit(rig.live.match_id, "roll")


def watch_profile(client: Client) -> Any:
    return client.progression.WatchProfile(
        progression_pb.WatchProfileRequest(), metadata=client.metadata, timeout=60
    )


async def test_a_thousand_streams_of_one_person_are_32_and_hold_up_nobody(rig: Rig) -> None:
    cem = rig.client("cem")
    streams = [watch_profile(cem) for _ in range(1_000)]
    first = await asyncio.gather(*(stream.read() for stream in streams), return_exceptions=True)
    await others_play_on(rig)

    assert sum(isinstance(each, progression_pb.WatchProfileResponse) for each in first) == 32
    refused = [each for each in first if isinstance(each, grpc.aio.AioRpcError)]
    codes = {each.code() for each in refused}
    assert codes == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert len(rig.neighbours.open) == 32
    for stream in streams:
        stream.cancel()
    await until(lambda: not rig.neighbours.open)


async def test_many_who_do_not_read_are_cut_off_and_hold_up_nobody(open_rig: OpenRig) -> None:
    rig = await open_rig(**IMPATIENT, queue_max=16)
    go_on(rig.live, 100)
    names = ("ann", "bob", "cem")
    async with slow_channel(rig.address) as one, slow_channel(rig.address) as other:
        idle = [
            rig.client(name).on(channel).watch(rig.live.match_id, after=0)
            for name in names
            for channel in (one, other)
            for _ in range(10)
        ]
        for stream in idle:
            await stream.read()
        quick = rig.client("cem").watch(rig.live.match_id)
        await quick.read()
        for _ in range(40):
            if not rig.live.has_ended:
                go_on(rig.live, 5)
            await asyncio.sleep(0)
        await until(lambda: len(rig.server._edge.traffic.streams) <= 1, within_s=60)
        answers = [await answer(rest_of(stream)) for stream in idle]

    assert {got.told and got.told.reason for got in answers} == {Reason.SLOW_READER}
    quick.cancel()


@pytest.mark.parametrize(
    "data",
    [b"", PREFACE[:10], PREFACE, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", bytes(range(256)) * 256],
    ids=["nothing", "half a beginning", "a beginning", "http", "garbage"],
)
async def test_connections_that_never_say_what_they_want_are_closed(
    impatient: Rig, data: bytes
) -> None:
    async with raw(impatient.address, data, 200) as connections:
        await others_play_on(impatient)
        async with asyncio.timeout(30):
            closed = [await each.is_closed_by_other() for each in connections]
    await others_play_on(impatient)

    assert all(closed)


async def test_a_client_that_stands_still_is_gone_after_a_while(impatient: Rig) -> None:
    rig = impatient
    ann = rig.client("ann").watch(rig.live.match_id)
    await there(ann, [0], 0)
    token = rig.foundation.issuer.issue("bob")
    with watcher(rig.address, token, rig.live.match_id) as process:
        await there(ann, [0, 2], 0)
        process.send_signal(signal.SIGSTOP)  # its socket stays, and the system answers for it

        await there(ann, [0], 0)
        await others_play_on(rig)
        await until(lambda: len(rig.server._edge.traffic.streams) == 1)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_client_whose_clock_is_off_by_an_hour_plays_like_any_other(
    rig: Rig, hours: int
) -> None:
    theirs_ms = SystemClock().now_ms() + hours * HOUR_MS
    name = turn_of(rig)
    client = rig.client(name)

    accepted = await client.submit(rig.live.match_id, "roll", command_id=fresh_id(theirs_ms))

    assert accepted.sequence == rig.live.match.sequence


@pytest.mark.parametrize(
    ("hours", "reason"), [(-2, Reason.TOKEN_EXPIRED), (2, Reason.TOKEN_INVALID)]
)
async def test_a_token_is_good_by_the_clock_of_the_gateway(
    rig: Rig, hours: int, reason: Reason
) -> None:
    clock = ManualClock(SystemClock().now_ms() + hours * HOUR_MS)
    issuer = DevelopmentIssuer.open(rig.settings.data_folder, rig.settings.auth, clock)
    token = issuer.issue("ann", ttl_ms=HOUR_MS)
    ann = Client(rig.channel, (("authorization", f"Bearer {token}"),))

    got = await answer(ann.call(ann.progression.GetProfile, progression_pb.GetProfileRequest()))

    assert got.told is not None
    assert got.told.reason == reason
