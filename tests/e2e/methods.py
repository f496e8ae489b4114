"""Every method that there is, called with bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor

from libs.chassis.sections import PeerSettings
from opolyx.admin.v1 import admin_service_pb2
from opolyx.bot.v1 import bot_service_pb2
from opolyx.engine.v1 import engine_service_pb2, shard_service_pb2
from opolyx.gateway.v1 import gateway_service_pb2
from opolyx.lobby.v1 import lobby_service_pb2
from opolyx.match.v1 import match_service_pb2
from opolyx.progression.v1 import progression_service_pb2
from opolyx.timer.v1 import timer_service_pb2

Metadata = tuple[tuple[str, str | bytes], ...]


def _methods(*modules: Any) -> list[MethodDescriptor]:
    return [
        method
        for module in modules
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]


PUBLIC: Final = _methods(
    match_service_pb2,
    lobby_service_pb2,
    progression_service_pb2,
    bot_service_pb2,
    admin_service_pb2,
    gateway_service_pb2,
)
"""All methods of the services that the gateway serves."""

INSIDE: Final = _methods(engine_service_pb2, shard_service_pb2, timer_service_pb2)
"""All methods of those that services have for each other alone."""

TIMEOUT_S: Final = 10.0


def past_the_gateway(peers: PeerSettings) -> dict[str, list[MethodDescriptor]]:
    """Return the methods that each of the other services has, by where it listens."""
    addresses = {
        "MatchService": peers.match_engines,
        "AdminService": peers.match_engines,
        "EngineService": peers.match_engines,
        "ShardService": peers.match_engines,
        "LobbyService": peers.lobby,
        "TimerService": peers.timer,
        "ProgressionService": peers.progression,
        "BotService": peers.bot_runner,
    }
    found: dict[str, list[MethodDescriptor]] = {address: [] for address in addresses.values()}
    for method in (*PUBLIC, *INSIDE):
        name = method.containing_service.name
        if name != "GatewayService":
            found[addresses[name]].append(method)
    return found


async def sent(
    channel: grpc.aio.Channel, method: MethodDescriptor, metadata: Metadata, *messages: bytes
) -> grpc.aio.AioRpcError | None:
    """Call a method with these messages, and return how it failed; None if it told something."""
    name = f"/{method.containing_service.full_name}/{method.name}"
    begin: Any = channel.stream_stream if method.client_streaming else channel.unary_stream
    given = () if method.client_streaming else messages
    call = begin(name)(*given, metadata=metadata, timeout=TIMEOUT_S)
    try:
        if method.client_streaming:
            await _write(call, messages)
        await call.read()
    except grpc.aio.AioRpcError as error:
        return error
    except asyncio.InvalidStateError:
        # It was refused before all was written, and grpc's client has lost why.
        return await sent(channel, method, metadata)
    call.cancel()
    return None


async def _write(call: Any, messages: Sequence[bytes]) -> None:
    try:
        for message in messages:
            await call.write(message)
    except grpc.aio.AioRpcError as error:
        raise asyncio.InvalidStateError from error
    await call.done_writing()


async def knocked(
    channel: grpc.aio.Channel, method: MethodDescriptor, metadata: Metadata
) -> grpc.aio.AioRpcError | None:
    """Call a method with an empty message, to see whether it is refused at the door.

    A stream is refused before it has sent one, and grpc's client loses the reason where it was
    just about to.
    """
    messages = [] if method.client_streaming else [b""]
    return await sent(channel, method, metadata, *messages)
