"""The public services of others, passed on to them as whoever calls.

Which RPCs those are is read from the descriptors, so a new one needs its row in `allowed` and no
code. A request is read here, since the edge refuses what is unknown in it; a response goes through
as the bytes that came.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any, TypeAlias

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from libs.chassis.channels import Channel, on_behalf
from libs.chassis.edge import Handler
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from services.gateway.allowed import AT_ANY_ENGINE, allow_list
from services.gateway.asking import Asking, Context, left_s, method_of, path_of, write
from services.gateway.callers import Callers

Behaviour: TypeAlias = Callable[[Any, Any], Awaitable[bytes] | AsyncIterator[bytes]]
"""What handles a call: of its request and its context it makes a response, or a stream of them."""


class Forwarding:
    """Passes calls on.

    What clients may not call stays here: the others take such calls directly.
    """

    def __init__(self, asking: Asking, callers: Callers) -> None:
        self._asking = asking
        self._callers = callers
        self._allowed = allow_list()

    def to(self, channel: Channel, service: ServiceDescriptor) -> dict[str, Handler]:
        """Return the handlers of *service*, all its calls passed on through *channel*."""

        def behaviour(method: MethodDescriptor) -> Behaviour:
            if method.server_streaming:
                return self._streaming(method, channel)
            return self._unary(method, channel)

        return {method.name: self._handler(method, behaviour) for method in service.methods}

    def to_engines(
        self, service: ServiceDescriptor, without: Collection[str] = ()
    ) -> dict[str, Handler]:
        """Return the handlers of *service*, all its calls passed on to engines.

        Those of `AT_ANY_ENGINE` go to any of them, all others to the owner of the match that the
        request names. Methods that are named in *without* are left out.
        """
        return {
            method.name: self._handler(method, self._at_engines)
            for method in service.methods
            if method.name not in without
        }

    def _handler(
        self, method: MethodDescriptor, behaviour: Callable[[MethodDescriptor], Behaviour]
    ) -> Handler:
        read = GetMessageClass(method.input_type).FromString
        is_inside = not self._allowed.is_listed(path_of(method).removeprefix("/"))
        assert is_inside or not method.client_streaming, f"{method.full_name}: nothing passes it on"
        if method.server_streaming:
            stream: Any = _nothing if is_inside else behaviour(method)
            return grpc.unary_stream_rpc_method_handler(stream, request_deserializer=read)
        answer: Any = _refuse if is_inside else behaviour(method)
        return grpc.unary_unary_rpc_method_handler(answer, request_deserializer=read)

    def _unary(self, method: MethodDescriptor, channel: Channel) -> Behaviour:
        call = method_of(method)(channel)

        async def forward(request: Message, context: Context[Message, bytes]) -> bytes:
            return await self._asking.peer(call, request, left_s(context))

        return forward

    def _at_engines(self, method: MethodDescriptor) -> Behaviour:
        assert not method.server_streaming, f"{method.full_name}: nothing passes it on"
        call = method_of(method)

        async def to_any(request: Message, context: Context[Message, bytes]) -> bytes:
            return await self._asking.any_engine(call, request, left_s(context))

        async def to_owner(request: Any, context: Context[Message, bytes]) -> bytes:
            return await self._asking.owner(call, request, request.match_id, left_s(context))

        if method.name in AT_ANY_ENGINE:
            return to_any
        assert "match_id" in method.input_type.fields_by_name, f"{method.full_name}: whose is it?"
        return to_owner

    def _streaming(self, method: MethodDescriptor, channel: Channel) -> Behaviour:
        call: Any = channel.unary_stream(path_of(method), request_serializer=write)

        async def forward(request: Message, _: object) -> AsyncIterator[bytes]:
            caller = await self._callers.present()
            responses = call(request, metadata=on_behalf(caller.SerializeToString()))
            try:
                async for response in responses:
                    yield response
            finally:
                responses.cancel()

        return forward


async def _refuse(*_: object) -> bytes:
    raise refused(Reason.NOT_ALLOWED)


async def _nothing(*_: object) -> AsyncIterator[bytes]:
    raise refused(Reason.NOT_ALLOWED)
    yield  # so that it is the stream that it would be
