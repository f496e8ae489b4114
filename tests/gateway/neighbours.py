"""The lobby, progression and the bot runner in one, as far as a gateway can tell."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from libs.chassis.status import refused, status_of
from libs.kernel.reasons import Reason
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.engine.v1 import caller_pb2
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1 import room_pb2
from services.gateway.allowed import BOT_SERVICE, LOBBY_SERVICE, PROGRESSION_SERVICE
from tests.gateway.world import on_behalf_of

Context = grpc.aio.ServicerContext[Any, Any]

SERVICES = (LOBBY_SERVICE, PROGRESSION_SERVICE, BOT_SERVICE)

PLAYERS = {
    name: f"01920000-0000-7000-8000-00000000000{n}" for n, name in enumerate(("ann", "bob", "cem"))
}
"""The player ids of those who may come, by the subject of their token."""


class Neighbours:
    """Answers every RPC that the descriptors have, with an empty message if nothing else is said.

    Attributes:
        resolved: every subject that was asked for.
        gate: subjects are resolved when it is set.
        players: whom they are resolved to.
        resolves_by: why none is resolved; None if they are.
        asked: every other call, by method and on whose behalf, in order.
        says: why all of them are refused; None if they are not.
        open: the methods of the streams that are open.
        ended: those of the streams that have ended, however.

    """

    def __init__(self) -> None:
        self.resolved: list[lobby_pb.ResolvePlayerRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.players = dict(PLAYERS)
        self.resolves_by: Reason | None = None
        self.asked: list[tuple[str, caller_pb2.Caller]] = []
        self.says: Reason | None = None
        self.open: list[str] = []
        self.ended: list[str] = []
        self._news: asyncio.Queue[Message | Reason] = asyncio.Queue()
        self._answers: dict[str, Callable[[Any], Message]] = {
            "JoinRoom": lambda request: room_pb2.Room(room_id=request.room_id),
            "ListBots": lambda _: bot_pb.ListBotsResponse(bots=[bot_pb.Bot(strength="steady")]),
        }

    @property
    def untold(self) -> int:
        """How much that is to be told was not taken by any stream yet."""
        return self._news.qsize()

    def tell(self, news: Message | Reason) -> None:
        """Have a stream that is open tell *news*; a reason ends it."""
        self._news.put_nowait(news)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve on a free port."""
        server = grpc.aio.server()
        server.add_generic_rpc_handlers([self._handlers(service) for service in SERVICES])
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        try:
            yield address
        finally:
            await server.stop(None)

    def _handlers(self, service: ServiceDescriptor) -> grpc.GenericRpcHandler:
        handlers = {method.name: self._handler(method) for method in service.methods}
        return grpc.method_handlers_generic_handler(service.full_name, handlers)

    def _handler(self, method: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
        read = GetMessageClass(method.input_type).FromString
        empty = GetMessageClass(method.output_type)

        async def answer(request: Any, context: Context) -> Message:
            if method.name == "ResolvePlayer":
                return await self._resolve(request, context)
            await self._note(method.name, context)
            return self._answers.get(method.name, lambda _: empty())(request)

        async def stream(_: Any, context: Context) -> AsyncIterator[Message]:
            await self._note(method.name, context)
            with self._noted_open(method.name):
                yield empty()
                while isinstance(news := await self._news.get(), Message):
                    yield news
                await context.abort_with_status(status_of(refused(news)))

        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(stream, read, _write)
        return grpc.unary_unary_rpc_method_handler(answer, read, _write)

    async def _resolve(
        self, request: lobby_pb.ResolvePlayerRequest, context: Context
    ) -> room_pb2.Player:
        self.resolved.append(request)
        await self.gate.wait()
        if self.resolves_by is not None:
            await context.abort_with_status(status_of(refused(self.resolves_by)))
        return room_pb2.Player(player_id=self.players[request.subject])

    @contextmanager
    def _noted_open(self, method: str) -> Iterator[None]:
        self.open.append(method)
        try:
            yield
        finally:
            self.open.remove(method)
            self.ended.append(method)

    async def _note(self, method: str, context: Context) -> None:
        self.asked.append((method, on_behalf_of(context)))
        if self.says is not None:
            await context.abort_with_status(status_of(refused(self.says, room="r")))


def _write(message: Message) -> bytes:
    return message.SerializeToString()
