"""Every limit that `GetServerInfo` tells is kept, and answered beyond as it says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
import pytest
from grpc import StatusCode

from libs.chassis.channels import open_channel
from libs.kernel.reasons import Reason
from opolyx.gateway.v1 import gateway_service_pb2 as pb
from opolyx.gateway.v1 import gateway_service_pb2_grpc as pb_grpc
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.match.v1 import refused_pb2
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.gateway.settings import GatewaySection
from tests.chassis.answers import answer
from tests.e2e.kept import KEPT, Told, told
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig, go_on, match_of, turn_of
from tests.support.calling import Client, next_of, played, rest_of
from tests.support.repository import ROOT
from tests.support.waiting import until

pytestmark = pytest.mark.slow

GET: Final = progression_pb.GetProfileRequest()


async def info_of(rig: Rig) -> dict[str, pb.Limit]:
    stub = pb_grpc.GatewayServiceStub(rig.channel)
    info = await stub.GetServerInfo(pb.GetServerInfoRequest())
    return {limit.name: limit for limit in info.limits}


def told_in(refused: refused_pb2.Refused) -> Told:
    says_when = refused.HasField("retry_after_ms")
    return Told(refused.reason, says_when, refused.metadata.get("limit", ""))


def watch_profile(client: Client) -> Any:
    return client.progression.WatchProfile(
        progression_pb.WatchProfileRequest(), metadata=client.metadata, timeout=60
    )


async def message_bytes(rig: Rig, value: float) -> Told:
    ann = rig.client("ann")
    most = lobby_pb.JoinRoomRequest(room_id="r" * (int(value) - 3))
    assert most.ByteSize() == value
    await ann.call(ann.lobby.JoinRoom, most)
    return await told(ann.call(ann.lobby.JoinRoom, lobby_pb.JoinRoomRequest(room_id="r" * 1_022)))


async def request_seconds(rig: Rig, _: float) -> Told:
    ann = rig.client("ann")
    never_made: Any = rig.channel.stream_unary("/opolyx.lobby.v1.LobbyService/GetRoom")
    opened: Any = ann.match.PlayMatch(metadata=ann.metadata)
    assert await told(opened.read()) == Told(Reason.INVALID_REQUEST)
    return await told(never_made(metadata=ann.metadata))


async def token_characters(rig: Rig, value: float) -> Told:
    long = Client(rig.channel, (("authorization", f"Bearer {'x' * (int(value) + 1)}"),))
    return await told(long.call(long.progression.GetProfile, GET))


async def calls(rig: Rig, value: float) -> Told:
    ann = rig.client("ann")
    for _ in range(int(value)):
        await ann.call(ann.progression.GetProfile, GET)
    return await told(ann.call(ann.progression.GetProfile, GET))


async def calls_in_the_long_run(rig: Rig, value: float) -> Told:
    ann = rig.client("ann")
    for _ in range(2):
        await ann.call(ann.progression.GetProfile, GET)
    got = await answer(ann.call(ann.progression.GetProfile, GET))
    assert got.retry_after_ms is not None
    assert got.retry_after_ms <= 1_000 / value
    return Told.of(got)


async def commands(rig: Rig, value: float) -> Told:
    name = turn_of(rig)
    stream = await rig.client(name).play(rig.live.match_id)
    for _ in range(int(value)):
        await stream.write(played("roll", expected_sequence=1))
        assert (await next_of("result", stream)).refused.reason == Reason.STALE_SEQUENCE
    return await told(rig.client(name).submit(rig.live.match_id, "roll"))


async def commands_in_the_long_run(rig: Rig, value: float) -> Told:
    name = turn_of(rig)
    stream = await rig.client(name).play(rig.live.match_id)
    for _ in range(3):
        await stream.write(played("roll", expected_sequence=1))
    results = [(await next_of("result", stream)).refused for _ in range(3)]
    assert 0 < results[2].retry_after_ms <= 1_000 / value
    return told_in(results[2])


async def rooms(rig: Rig, value: float) -> Told:
    assert value == 2
    ann = rig.client("ann")
    await ann.call(ann.lobby.CreateRoom, lobby_pb.CreateRoomRequest())
    await ann.call(ann.lobby.QuickMatch, lobby_pb.QuickMatchRequest())
    reason = await told(ann.call(ann.lobby.Rematch, lobby_pb.RematchRequest()))
    await ann.call(ann.lobby.JoinRoom, lobby_pb.JoinRoomRequest())
    return reason


async def rooms_in_the_long_run(rig: Rig, value: float) -> Told:
    ann = rig.client("ann")
    for _ in range(2):
        await ann.call(ann.lobby.CreateRoom, lobby_pb.CreateRoomRequest())
    got = await answer(ann.call(ann.lobby.CreateRoom, lobby_pb.CreateRoomRequest()))
    assert got.retry_after_ms is not None
    assert 30_000 / value < got.retry_after_ms <= 60_000 / value
    return Told.of(got)


async def streams_per_person(rig: Rig, value: float) -> Told:
    ann, bob = rig.client("ann"), rig.client("bob")
    streams = [watch_profile(ann) for _ in range(int(value))]
    for stream in streams:
        await stream.read()
    reason = await told(watch_profile(ann).read())
    await watch_profile(bob).read()
    return reason


async def streams_per_connection(rig: Rig, value: float) -> Told:
    ann, bob = rig.client("ann"), rig.client("bob")
    streams = [watch_profile(ann) for _ in range(int(value))]
    for stream in streams:
        await stream.read()
    waiting = await answer(ann.call(ann.progression.GetProfile, GET, timeout_s=0.3))
    assert waiting.code is StatusCode.DEADLINE_EXCEEDED
    async with open_channel(rig.address) as channel:
        bob = bob.on(channel)
        await bob.call(bob.progression.GetProfile, GET)
    streams[0].cancel()
    await ann.call(ann.progression.GetProfile, GET)
    return Told()


async def connection_idle_seconds(rig: Rig, _: float) -> Told:
    ann = rig.client("ann")
    await ann.call(ann.progression.GetProfile, GET)
    await until(lambda: rig.channel.get_state() is grpc.ChannelConnectivity.IDLE)
    await ann.call(ann.progression.GetProfile, GET)
    return Told()


async def unanswered_commands(rig: Rig, value: float) -> Told:
    stream = await rig.client(turn_of(rig)).play(rig.live.match_id)
    await stream.read()
    rig.engine.gate.clear()
    number = int(value) + 4
    for _ in range(number):
        await stream.write(played("roll", expected_sequence=1))
    await until(lambda: bool(rig.engine.commands))
    rig.engine.gate.set()
    results = [(await next_of("result", stream)).refused for _ in range(number)]
    assert results[int(value) - 1].reason == Reason.STALE_SEQUENCE
    return told_in(results[-1])


async def stream_queue(rig: Rig, _: float) -> Told:
    long = rig.world.add(match_of("ann", None, None, None, None, None))
    stream = rig.client("cem").on(await rig.slow_channel()).watch(long.match_id)
    await stream.read()
    while rig.server._edge.traffic.streams and not long.has_ended:
        go_on(long)
        await asyncio.sleep(0)
    await until(lambda: not rig.server._edge.traffic.streams)
    return await told(rest_of(stream))


async def stream_write_seconds(rig: Rig, _: float) -> Told:
    long = rig.world.add(match_of("ann", None, None, None, None, None))
    go_on(long, 600)
    stream = rig.client("cem").on(await rig.slow_channel()).watch(long.match_id, after=0)
    await stream.read()
    await until(lambda: not rig.server._edge.traffic.streams)
    return await told(rest_of(stream))


async def calls_per_server(rig: Rig, value: float) -> Told:
    assert value == 1
    nobody = rig.nobody()
    ann = rig.client("ann")
    rig.neighbours.gate.clear()
    held = asyncio.create_task(ann.call(ann.progression.GetProfile, GET))
    await until(lambda: rig.server._edge.traffic.handled == 1)
    reason = await told(nobody.call(nobody.match.ListRuleSets, match_pb.ListRuleSetsRequest()))
    rig.neighbours.gate.set()
    await held
    return reason


async def streams_per_server(rig: Rig, value: float) -> Told:
    assert value == 1
    await watch_profile(rig.client("ann")).read()
    return await told(watch_profile(rig.client("bob")).read())


SMALL: Final[dict[str, Any]] = {"per_s": 0.5, "burst": 2}

HERE: Final[dict[str, tuple[Callable[[Rig, float], Awaitable[Told]], dict[str, Any]]]] = {
    "message_bytes": (message_bytes, {"request_bytes_max": 1_024}),
    "request_seconds": (request_seconds, {"request_timeout_s": 0.2}),
    "token_characters": (token_characters, {}),
    "calls_per_second": (calls_in_the_long_run, {"rate": SMALL}),
    "calls_burst": (calls, {"rate": SMALL}),
    "commands_per_second": (commands_in_the_long_run, {"command_rate": SMALL}),
    "commands_burst": (commands, {"command_rate": SMALL}),
    "rooms_per_minute": (rooms_in_the_long_run, {"room_rate": {"per_minute": 6, "burst": 2}}),
    "rooms_burst": (rooms, {"room_rate": {"per_minute": 6, "burst": 2}}),
    "streams_per_person": (streams_per_person, {"streams_per_person": 2}),
    "streams_per_connection": (streams_per_connection, {"streams_per_connection": 2}),
    "connection_idle_seconds": (connection_idle_seconds, {"connection_idle_s": 1}),
    "unanswered_commands": (unanswered_commands, {}),
    "stream_queue": (stream_queue, {"queue_max": 8}),
    "stream_write_seconds": (stream_write_seconds, {"write_timeout_s": 0.2}),
    "calls_per_server": (calls_per_server, {"unary_calls_max": 1}),
    "streams_per_server": (streams_per_server, {"streams_max": 1}),
}
"""What drives each limit beyond, and the settings by which that is soon done."""

IN_THE_LONG_RUN: Final = {
    "calls_burst": "calls_per_second",
    "commands_burst": "commands_per_second",
    "rooms_burst": "rooms_per_minute",
}
"""By which name a refusal calls a rate whose burst is used up."""


async def test_every_limit_that_is_told_is_tried_somewhere(rig: Rig) -> None:
    assert {*HERE, *KEPT} == set(await info_of(rig))
    assert not HERE.keys() & KEPT.keys()


@pytest.mark.parametrize("name", sorted(HERE))
async def test_beyond_a_limit_is_answered_what_it_says(open_rig: OpenRig, name: str) -> None:
    drive, section = HERE[name]
    rig = await open_rig(**section)
    limit = (await info_of(rig))[name]

    told = await drive(rig, limit.value)

    assert told.reason == limit.reason
    is_passing = told.reason in {Reason.RATE_LIMITED, Reason.OVERLOADED, Reason.SLOW_READER}
    assert told.says_when == is_passing
    assert told.limit == (IN_THE_LONG_RUN.get(name, name) if is_passing else "")


async def test_what_runs_is_told_to_anybody(rig: Rig) -> None:
    stub = pb_grpc.GatewayServiceStub(rig.channel)

    info = await stub.GetServerInfo(pb.GetServerInfoRequest())

    assert info.version == rig.foundation.version
    assert abs(info.server_time_ms - rig.foundation.clock.now_ms()) < 60_000
    assert all(
        limit.name and limit.unit and limit.scope and limit.description for limit in info.limits
    )
    assert {limit.reason for limit in info.limits} <= {*Reason, ""}
    assert len({limit.name for limit in info.limits}) == len(info.limits)


async def test_what_is_told_are_the_settings_by_which_it_is_kept(open_rig: OpenRig) -> None:
    usual = {name: limit.value for name, limit in (await info_of(await open_rig())).items()}
    section: dict[str, Any] = {}
    for _, changes in HERE.values():
        section |= changes
    section["unary_calls_max"] = 7

    info = await info_of(await open_rig(**section))
    changed = {name: limit.value for name, limit in info.items()}

    fixed = {name for name, (_, changes) in HERE.items() if not changes} | set(KEPT)
    assert {name for name in usual if usual[name] == changed[name]} == fixed
    assert usual["streams_per_person"] == GatewaySection().streams_per_person


async def test_the_readme_has_every_limit(rig: Rig) -> None:
    text = (ROOT / "services/gateway/README.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    documented = {row[0].strip("`"): row[2].strip("`") for row in rows if len(row) == 4}

    assert documented == {
        name: limit.reason or "nothing" for name, limit in (await info_of(rig)).items()
    }
