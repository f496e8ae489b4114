"""The public services of others, passed on to them as whoever calls.

Which RPCs those are is read from the descriptors, so a new one needs its row in `allowed` and no
code. A request is read here, since the edge refuses what is unknown in it; a response goes through
as the bytes that came.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from libs.chassis.channels import Channel, on_behalf
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from services.gateway.allowed import allow_list
from services.gateway.asking import Asking, Context, MethodOf, left_s
from services.gateway.callers import Callers


class Forwarding:
    """Passes calls on."""

    def __init__(self, asking: Asking, callers: Callers) -> None:
        self._asking = asking
        self._callers = callers
        self._allowed = allow_list()

    def to(
        self, channel: Channel, service: ServiceDescriptor
    ) -> Callable[[object, grpc.aio.Server], None]:
        """Return what registers *service* at a server, all its calls passed on through *channel*.

        What clients may not call stays here: the others take such calls directly.
        """
        handlers = {method.name: self._handler(method, channel) for method in service.methods}
        return _registering(service, handlers)

    def to_engines(
        self, service: ServiceDescriptor, at_any: Collection[str]
    ) -> Callable[[object, grpc.aio.Server], None]:
        """Return what registers *service*, all its calls passed on to engines.

        Methods of the names *at_any* are the same at any of them; all others are for the owner of
        the match that the request names.
        """
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            method.name: grpc.unary_unary_rpc_method_handler(
                self._at_any(method) if method.name in at_any else self._at_owner(method),
                request_deserializer=GetMessageClass(method.input_type).FromString,
            )
            for method in service.methods
        }
        return _registering(service, handlers)

    def _handler(
        self, method: MethodDescriptor, channel: Channel
    ) -> grpc.RpcMethodHandler[Message, bytes]:
        assert not method.client_streaming, f"{method.full_name}: nothing passes that on"
        read = GetMessageClass(method.input_type).FromString
        is_inside = not self._allowed.is_listed(_name(method))
        if method.server_streaming:
            stream = _nothing if is_inside else self._streaming(method, channel)
            return grpc.unary_stream_rpc_method_handler(stream, request_deserializer=read)
        answer = _refuse if is_inside else self._unary(method, channel)
        return grpc.unary_unary_rpc_method_handler(answer, request_deserializer=read)

    def _unary(
        self, method: MethodDescriptor, channel: Channel
    ) -> Callable[[Message, Context[Message, bytes]], Awaitable[bytes]]:
        call: Any = channel.unary_unary(_path(method), request_serializer=_write)

        async def forward(request: Message, context: Context[Message, bytes]) -> bytes:
            return await self._asking.peer(call, request, left_s(context))

        return forward

    def _at_any(
        self, method: MethodDescriptor
    ) -> Callable[[Message, Context[Message, bytes]], Awaitable[bytes]]:
        async def forward(request: Message, context: Context[Message, bytes]) -> bytes:
            return await self._asking.any_by(_method_of(method), request, left_s(context))

        return forward

    def _at_owner(
        self, method: MethodDescriptor
    ) -> Callable[[Any, Context[Message, bytes]], Awaitable[bytes]]:
        async def forward(request: Any, context: Context[Message, bytes]) -> bytes:
            return await self._asking.owner_by(
                _method_of(method), request, request.match_id, left_s(context)
            )

        return forward

    def _streaming(
        self, method: MethodDescriptor, channel: Channel
    ) -> Callable[[Message, object], AsyncIterator[bytes]]:
        call: Any = channel.unary_stream(_path(method), request_serializer=_write)

        async def forward(request: Message, _: object) -> AsyncIterator[bytes]:
            caller = await self._callers.present()
            responses = call(request, metadata=on_behalf(caller.SerializeToString()))
            try:
                async for response in responses:
                    yield response
            finally:
                responses.cancel()

        return forward


def _registering(
    service: ServiceDescriptor, handlers: dict[str, grpc.RpcMethodHandler[Any, Any]]
) -> Callable[[object, grpc.aio.Server], None]:
    def register(_: object, server: grpc.aio.Server) -> None:
        generic = grpc.method_handlers_generic_handler(service.full_name, handlers)
        server.add_generic_rpc_handlers((generic,))

    return register


def _method_of(method: MethodDescriptor) -> MethodOf[Any, bytes]:
    def on(channel: Channel) -> Any:
        return channel.unary_unary(_path(method), request_serializer=_write)

    return on


async def _refuse(*_: object) -> bytes:
    raise refused(Reason.NOT_ALLOWED)


async def _nothing(*_: object) -> AsyncIterator[bytes]:
    raise refused(Reason.NOT_ALLOWED)
    yield  # so that it is the stream that it would be


def _write(message: Message) -> bytes:
    return message.SerializeToString()


def _name(method: MethodDescriptor) -> str:
    return f"{method.containing_service.full_name}/{method.name}"


def _path(method: MethodDescriptor) -> str:
    return f"/{_name(method)}"
