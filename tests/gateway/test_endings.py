"""How streams end before their match does: a last word, then the status that belongs to it."""

import asyncio
from typing import Any

import pytest
from grpc import StatusCode

from libs.chassis.sections import AuthSettings
from libs.kernel.reasons import Reason
from opolyx.engine.v1.engine_service_pb2 import Attendance
from tests.chassis.answers import answer
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig, go_on, match_of
from tests.support.calling import next_of, rest_of
from tests.support.gateway import LiveMatch
from tests.support.waiting import until

pytestmark = pytest.mark.slow


async def opened(rig: Rig, kind: str, **token: Any) -> Any:
    """Open a stream, and read what it begins with."""
    client = rig.client("ann", **token)
    if kind == "watch":
        call = client.watch(rig.live.match_id)
    else:
        call = await client.play(rig.live.match_id)
    await next_of("snapshot", call)
    return call


@pytest.mark.parametrize("kind", ["watch", "play"])
async def test_a_stream_ends_with_its_token_and_says_so(rig: Rig, kind: str) -> None:
    leeway_ms = int(AuthSettings().leeway_s * 1000)

    call = await opened(rig, kind, ttl_ms=2_000 - leeway_ms)

    go_away = await next_of("go_away", call)
    assert go_away.reason == Reason.TOKEN_EXPIRED
    assert go_away.last_sequence == rig.live.match.sequence
    assert not go_away.HasField("reconnect_after_ms")
    got = await answer(call.read())
    assert got.code is StatusCode.UNAUTHENTICATED
    assert got.told is not None
    assert got.told.reason == Reason.TOKEN_EXPIRED


@pytest.mark.parametrize("kind", ["watch", "play"])
async def test_a_server_that_stops_says_so_on_every_stream(open_rig: OpenRig, kind: str) -> None:
    rig = await open_rig(stream_grace_s=3_600)  # it is not used up
    call = await opened(rig, kind)
    stopping = asyncio.create_task(rig.opened.aclose())

    go_away = await next_of("go_away", call)

    assert go_away.reason == Reason.GOING_AWAY
    assert go_away.reconnect_after_ms > 0
    assert (await answer(call.read())).code is StatusCode.UNAVAILABLE
    await stopping


async def test_a_client_that_does_not_read_is_cut_off_and_delays_nobody(open_rig: OpenRig) -> None:
    rig = await open_rig(queue_max=8, write_timeout_s=60)
    rig.live = rig.world.add(long_match())
    slow = await unread(rig)
    quick = await opened(rig, "watch")

    while not rig.live.has_ended:
        go_on(rig.live)
        assert (await next_of("record", quick)).hash == rig.live.records[-1].hash
    # Not by who is said to watch: of a match that is over the engine may not be told any more.
    await until(lambda: not rig.server._edge.traffic.streams)

    got = await answer(rest_of(slow))
    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.SLOW_READER
    assert got.retry_after_ms


async def test_a_client_that_takes_too_long_over_one_message_is_cut_off(open_rig: OpenRig) -> None:
    rig = await open_rig(write_timeout_s=0.2)
    long = rig.world.add(long_match())
    go_on(long, 600)
    client = rig.client("cem").on(await rig.slow_channel())

    streams = [client.watch(long.match_id, after=0) for _ in range(4)]
    for stream in streams:
        await stream.read()
    await until(lambda: not rig.server._edge.traffic.streams)

    for stream in streams:
        got = await answer(rest_of(stream))
        assert got.code is StatusCode.RESOURCE_EXHAUSTED
        assert got.told is not None
        assert got.told.reason == Reason.SLOW_READER


async def test_a_client_that_reads_too_slowly_is_told_so(open_rig: OpenRig) -> None:
    rig = await open_rig(queue_max=8)
    slow = await unread(rig)
    reading = asyncio.create_task(slowly(slow))

    while not rig.live.has_ended and not reading.done():
        go_on(rig.live)
        await asyncio.sleep(0)

    go_away = (await reading).go_away
    assert go_away.reason == Reason.SLOW_READER
    assert go_away.reconnect_after_ms > 0
    assert (await answer(slow.read())).code is StatusCode.RESOURCE_EXHAUSTED


def long_match() -> LiveMatch:
    """Return a match that will have more records than a connection takes that is not read."""
    return match_of("ann", None, None, None, None, None)


async def unread(rig: Rig) -> Any:
    """Open a stream whose client takes little before it reads, and that is counted."""
    call = rig.client("cem").on(await rig.slow_channel()).watch(rig.live.match_id)
    await call.read()
    await until(lambda: spectators(rig) == 1)
    return call


async def slowly(call: Any) -> Any:
    """Read a stream up to its last word, a message a moment."""
    while True:
        response = await call.read()
        if response.HasField("go_away"):
            return response
        await asyncio.sleep(0.005)


def spectators(rig: Rig) -> int:
    """Return how many the engine has been told of."""
    return rig.engine.attendance.get(rig.live.match_id, Attendance()).spectators
