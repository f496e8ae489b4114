"""A client of the gateway as thin as can be: the calls as they are, and what comes on a stream."""

from __future__ import annotations

from typing import Any, Final

import grpc

from libs.kernel.clock import SystemClock
from libs.kernel.ids import CommandId, fresh_id
from opolyx.admin.v1 import admin_service_pb2_grpc as admin_grpc
from opolyx.bot.v1 import bot_service_pb2_grpc as bot_grpc
from opolyx.lobby.v1 import lobby_service_pb2_grpc as lobby_grpc
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from opolyx.progression.v1 import progression_service_pb2_grpc as progression_grpc

_CLOCK: Final = SystemClock()


def new_id() -> CommandId:
    return CommandId(fresh_id(_CLOCK.now_ms()))


class Client:
    """Calls the gateway as somebody."""

    def __init__(
        self, channel: grpc.aio.Channel, metadata: tuple[tuple[str, str | bytes], ...]
    ) -> None:
        self.metadata = metadata
        self.match = match_grpc.MatchServiceStub(channel)
        self.lobby = lobby_grpc.LobbyServiceStub(channel)
        self.progression = progression_grpc.ProgressionServiceStub(channel)
        self.bots = bot_grpc.BotServiceStub(channel)
        self.admin = admin_grpc.AdminServiceStub(channel)

    def on(self, channel: grpc.aio.Channel) -> Client:
        """Return the same caller on another connection."""
        return Client(channel, self.metadata)

    async def call(self, method: Any, request: Any, timeout_s: float = 10) -> Any:
        return await method(request, metadata=self.metadata, timeout=timeout_s)

    async def submit(self, match_id: str, kind: str, **fields: Any) -> Any:
        timeout_s = fields.pop("timeout_s", 10)
        fields.setdefault("command_id", new_id())
        request = match_pb.SubmitCommandRequest(match_id=match_id, **fields)
        getattr(request.command, kind).SetInParent()
        return await self.call(self.match.SubmitCommand, request, timeout_s)

    def watch(self, match_id: str, after: int | None = None) -> Any:
        request = match_pb.WatchMatchRequest(match_id=match_id, after_sequence=after)
        return self.match.WatchMatch(request, metadata=self.metadata, timeout=60)

    async def play(self, match_id: str, after: int | None = None) -> Any:
        call = self.match.PlayMatch(metadata=self.metadata, timeout=60)
        opening = match_pb.PlayMatchRequest.Open(match_id=match_id, after_sequence=after)
        await call.write(match_pb.PlayMatchRequest(open=opening))
        return call


def played(kind: str, command_id: str | None = None, **fields: Any) -> match_pb.PlayMatchRequest:
    """Return a command for `PlayMatch`."""
    command = match_pb.PlayMatchRequest.PlayedCommand(command_id=command_id or new_id(), **fields)
    getattr(command.command, kind).SetInParent()
    return match_pb.PlayMatchRequest(command=command)


async def next_of(kind: str, call: Any) -> Any:
    """Return the next news of a kind on a stream, passing over others."""
    while (response := await call.read()) is not grpc.aio.EOF:
        if response.WhichOneof("response") == kind:
            return getattr(response, kind)
    raise AssertionError(f"the stream has ended without a {kind}")


async def rest_of(call: Any) -> list[Any]:
    """Return what comes on a stream until it ends well."""
    found = []
    while (response := await call.read()) is not grpc.aio.EOF:
        found.append(response)
    return found


def slow_channel(address: str) -> grpc.aio.Channel:
    """Return a connection of its own whose client takes little before it is read from."""
    options = [
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", 1024),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    return grpc.aio.insecure_channel(address, options)
