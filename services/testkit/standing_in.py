"""Services that a stack on memory lacks: who calls them is told so, and not that nobody is there.

Of the lobby it has what the gateway cannot do without: which person a token is about.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass

from libs.chassis.foundation import Foundation
from libs.chassis.process import Service
from libs.chassis.roles import AllowList, service
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.chassis.status import RefusedError
from libs.wire.refusals import Told
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1 import room_pb2
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.console.fleet import SERVICES
from services.lobby.ports import Players
from services.lobby.requests import new_player
from services.testkit.errors import NotInThisStackError

NOT_IN_THIS_STACK: Final = "NOT_IN_THIS_STACK"
"""The reason of such a refusal. No server that serves people has it."""

ABSENT: Final[Mapping[str, ServiceDescriptor]] = {
    "lobby": lobby_pb.DESCRIPTOR.services_by_name["LobbyService"],
    "progression": progression_pb.DESCRIPTOR.services_by_name["ProgressionService"],
}
"""What stands in, by the service whose place it takes."""

Answer = Callable[[Any, object], Awaitable[Any]]


def standing_in(
    name: str, settings: ServerSettings, foundation: Foundation, players: Players
) -> Service:
    """Return what stands in for the service *name*, to be opened."""
    known: dict[str, Answer] = {}
    if name == "lobby":
        known["ResolvePlayer"] = _resolving(players, foundation)
    return Service(name, lambda: _opened(name, settings, foundation, known))


def told_absent(name: str) -> RefusedError:
    """Return the refusal of whatever a stack on memory has nobody for, to be raised."""
    told = Told(NOT_IN_THIS_STACK, {"service": name}, f"{NotInThisStackError(name)}.")
    return RefusedError(told, code=grpc.StatusCode.UNIMPLEMENTED)


@asynccontextmanager
async def _opened(
    name: str, settings: ServerSettings, foundation: Foundation, known: Mapping[str, Answer]
) -> AsyncIterator[GrpcServer]:
    described = ABSENT[name]
    callers = [service(each) for each in SERVICES]
    allowed = AllowList(
        {f"{described.full_name}/{method.name}": callers for method in described.methods}
    )
    server = GrpcServer(foundation.terms(name, settings, allowed, believed=("gateway",)))
    handlers = {
        method.name: _handler(method, known.get(method.name) or _absent(name))
        for method in described.methods
    }
    server.add_handlers(handlers, described)
    async with server:
        yield server


def _handler(method: MethodDescriptor, answer: Answer) -> "grpc.RpcMethodHandler[Any, Any]":
    kind = (
        grpc.unary_stream_rpc_method_handler
        if method.server_streaming
        else grpc.unary_unary_rpc_method_handler
    )
    made: grpc.RpcMethodHandler[Any, Any] = kind(
        answer,
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )
    return made


def _absent(name: str) -> Answer:
    async def refuse(_: Any, __: object) -> Any:
        raise told_absent(name)

    return refuse


def _resolving(players: Players, foundation: Foundation) -> Answer:
    async def resolve(request: lobby_pb.ResolvePlayerRequest, _: object) -> room_pb2.Player:
        now_ms = foundation.clock.now_ms()
        new = new_player(request, now_ms)
        player = await players.resolve(request.issuer, request.subject, new, now_ms)
        return room_pb2.Player(player_id=player.player_id, display_name=player.display_name)

    return resolve
