"""Streams that are passed on: as whom, what comes, and how they end on both sides."""

import asyncio
from contextlib import suppress
from typing import Any

import grpc
import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.progression.v1 import profile_pb2
from opolyx.progression.v1 import progression_service_pb2 as pb
from tests.chassis.answers import answer
from tests.gateway.conftest import OpenRig
from tests.gateway.neighbours import PLAYERS
from tests.gateway.rig import Rig
from tests.support.calling import Client, rest_of
from tests.support.waiting import until


async def watching(rig: Rig, client: Client) -> Any:
    """Follow a profile, of which the first word has come."""
    stream: Any = client.progression.WatchProfile(
        pb.WatchProfileRequest(), metadata=client.metadata, timeout=60
    )
    await stream.read()
    assert rig.neighbours.open == ["WatchProfile"]
    return stream


async def has_ended(rig: Rig) -> None:
    """Return once the other service has noticed that its stream is over."""
    await until(lambda: rig.neighbours.ended == ["WatchProfile"])


async def test_what_another_service_tells_is_told_as_it_comes(rig: Rig) -> None:
    stream = await watching(rig, rig.client("ann"))
    news = [pb.WatchProfileResponse(server_time_ms=n) for n in (1, 2)]

    rig.neighbours.tell(news[0])
    first = await stream.read()
    rig.neighbours.tell(news[1])

    assert [first, await stream.read()] == news
    assert rig.neighbours.asked == [("WatchProfile", Caller(player_id=PLAYERS["ann"]))]


async def test_a_client_that_goes_away_is_gone_for_the_other_service_too(rig: Rig) -> None:
    stream = await watching(rig, rig.client("ann"))

    stream.cancel()

    await has_ended(rig)


async def test_a_refusal_at_the_beginning_is_passed_on_as_it_is(rig: Rig) -> None:
    rig.neighbours.says = Reason.ROOM_NOT_FOUND
    ann = rig.client("ann")
    stream: Any = ann.lobby.WatchRoom(lobby_pb.WatchRoomRequest(), metadata=ann.metadata)

    got = await answer(stream.read())

    assert got.code is StatusCode.NOT_FOUND
    assert got.told is not None
    assert (got.told.reason, got.told.metadata) == (Reason.ROOM_NOT_FOUND, {"room": "r"})


async def test_a_refusal_at_the_end_is_passed_on_with_the_time_to_wait(rig: Rig) -> None:
    stream = await watching(rig, rig.client("ann"))
    rig.neighbours.tell(Reason.SLOW_READER)

    got = await answer(stream.read())

    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.SLOW_READER
    assert got.retry_after_ms is not None


async def test_a_service_that_breaks_off_is_unavailable(rig: Rig) -> None:
    stream = await watching(rig, rig.client("ann"))
    reading = asyncio.create_task(answer(stream.read()))

    await rig.stop_neighbours()

    got = await reading
    assert got.code is StatusCode.UNAVAILABLE
    assert got.told is not None
    assert got.told.reason == Reason.STORE_UNAVAILABLE


async def test_a_gateway_that_stops_says_so_and_lets_go(open_rig: OpenRig) -> None:
    rig = await open_rig(stream_grace_s=0)
    stream = await watching(rig, rig.client("ann"))
    reading = asyncio.create_task(answer(stream.read()))

    await rig.opened.aclose()

    got = await reading
    assert got.code is StatusCode.UNAVAILABLE
    assert got.told is not None
    assert got.told.reason == Reason.GOING_AWAY
    await has_ended(rig)


async def watching_for_a_while(rig: Rig) -> Any:
    """Follow a profile with a token that soon expires, though not before the first word."""
    leeway_ms = int(rig.settings.auth.leeway_s * 1000)
    for life_ms in (1_000, 4_000, 16_000):
        ann = rig.client("ann", ttl_ms=life_ms - leeway_ms)
        stream: Any = ann.progression.WatchProfile(
            pb.WatchProfileRequest(), metadata=ann.metadata, timeout=60
        )
        with suppress(grpc.aio.AioRpcError):  # on a busy machine even the first word takes longer
            await stream.read()
            return stream
    raise AssertionError("no first word in 16 s")


async def test_a_stream_ends_with_its_token(rig: Rig) -> None:
    stream = await watching_for_a_while(rig)

    got = await answer(stream.read())

    assert got.code is StatusCode.UNAUTHENTICATED
    assert got.told is not None
    assert got.told.reason == Reason.TOKEN_EXPIRED
    await until(lambda: bool(rig.neighbours.ended) and not rig.neighbours.open)


@pytest.mark.slow
async def test_a_client_that_does_not_read_is_cut_off_and_nothing_piles_up(
    open_rig: OpenRig,
) -> None:
    rig = await open_rig(write_timeout_s=0.2)
    stream = await watching(rig, rig.client("ann").on(await rig.slow_channel()))
    long = profile_pb2.Profile(player_id="x" * 100_000)
    for _ in range(200):
        rig.neighbours.tell(pb.WatchProfileResponse(profile=long))

    await has_ended(rig)
    got = await answer(rest_of(stream))

    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.SLOW_READER
    assert rig.neighbours.untold > 100


async def test_what_is_not_known_is_not_passed_on(rig: Rig) -> None:
    ann = rig.client("ann")
    call: Any = rig.channel.unary_stream("/opolyx.progression.v1.ProgressionService/WatchProfile")

    got = await answer(call(b"\xfa\x7f\x00", metadata=ann.metadata).read())

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert not rig.neighbours.asked
