"""A service to try servers with: it echoes, counts, sums and chats, and misbehaves when asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from libs.chassis.calls import request_id
from libs.chassis.identity import caller
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.wire.requests import MalformedError, Violation

NAME = "opolyx.test.v1.EchoService"
Kind = type[StringValue] | type[Int32Value]

METHODS: dict[str, tuple[bool, bool, Kind]] = {
    # name: (request streams, response streams, message)
    "Echo": (False, False, StringValue),
    "Count": (False, True, Int32Value),
    "Sum": (True, False, Int32Value),
    "Chat": (True, True, StringValue),
    "ReadAndWrite": (True, True, StringValue),
}


def _describe() -> ServiceDescriptor:
    file = descriptor_pb2.FileDescriptorProto(
        name="opolyx/test/v1/echo_service.proto",
        package="opolyx.test.v1",
        dependency=["google/protobuf/wrappers.proto"],
        syntax="proto3",
    )
    service = file.service.add(name="EchoService")
    for name, (requests, responses, message) in METHODS.items():
        service.method.add(
            name=name,
            input_type="." + message.DESCRIPTOR.full_name,
            output_type="." + message.DESCRIPTOR.full_name,
            client_streaming=requests,
            server_streaming=responses,
        )
    pool = descriptor_pool.Default()
    pool.Add(file)
    return pool.FindServiceByName(NAME)


DESCRIPTOR = _describe()

Misdeed = Callable[[grpc.aio.ServicerContext[Any, Any]], Any]


class Echo:
    """The servicer. What it is asked to do is the text, or the number, that it gets."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.released = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.draining = asyncio.Event()
        self.fails_with: Exception | None = None

    async def Echo(  # noqa: N802
        self, request: StringValue, context: grpc.aio.ServicerContext[Any, Any]
    ) -> StringValue:
        self.reached.set()
        match request.value:
            case "who":
                return StringValue(value=f"{caller().subject} {caller().kind} {request_id()}")
            case "on behalf":
                return StringValue(value=caller().player_id)
            case "refuse":
                raise refused(Reason.MATCH_NOT_FOUND, match="m")
            case "malformed":
                raise MalformedError([Violation("value", "is missing")])
            case "abort":
                await context.abort(grpc.StatusCode.DATA_LOSS, "by hand")
            case "set code":
                context.set_code(grpc.StatusCode.DATA_LOSS)
                return StringValue()
            case "nothing":
                return None  # type: ignore[return-value]
            case "fail":
                assert self.fails_with is not None
                raise self.fails_with
            case "wait":
                await self._wait()
            case _:
                pass
        return request

    async def Count(  # noqa: N802
        self, request: Int32Value, _: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[Int32Value]:
        for number in range(abs(request.value)):
            yield Int32Value(value=number)
        if request.value < 0:
            raise refused(Reason.SLOW_READER)
        if request.value == 0:
            await self._wait()

    async def Sum(  # noqa: N802
        self, requests: AsyncIterator[Int32Value], _: grpc.aio.ServicerContext[Any, Any]
    ) -> Int32Value:
        return Int32Value(value=sum([request.value async for request in requests]))

    async def Chat(  # noqa: N802
        self, requests: AsyncIterator[StringValue], _: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[StringValue]:
        async for request in requests:
            yield StringValue(value=request.value.upper())

    async def ReadAndWrite(  # noqa: N802
        self, _: AsyncIterator[StringValue], context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        while (request := await context.read()) is not grpc.aio.EOF:
            await context.write(StringValue(value=request.value.upper()))

    async def _wait(self) -> None:
        self.reached.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def register(servicer: Any, server: grpc.aio.Server) -> None:
    """Register the servicer, as the generated function of a service does."""
    kinds = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    handlers: dict[str, Any] = {
        name: kinds[requests, responses](
            getattr(servicer, name),
            request_deserializer=message.FromString,
            response_serializer=message.SerializeToString,
        )
        for name, (requests, responses, message) in METHODS.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, handlers),))
    server.add_registered_method_handlers(NAME, handlers)


class Stub:
    """Calls the service."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel
        self.Echo: Any = self._method("Echo", channel.unary_unary)
        self.Count: Any = self._method("Count", channel.unary_stream)
        self.Sum: Any = self._method("Sum", channel.stream_unary)
        self.Chat: Any = self._method("Chat", channel.stream_stream)
        self.ReadAndWrite: Any = self._method("ReadAndWrite", channel.stream_stream)
        self.RawEcho: Any = channel.unary_unary(f"/{NAME}/Echo")
        self.RawChat: Any = channel.stream_stream(f"/{NAME}/Chat")
        self.RawReadAndWrite: Any = channel.stream_stream(f"/{NAME}/ReadAndWrite")

    def _method(self, name: str, kind: Callable[..., Any]) -> Any:
        message = METHODS[name][2]
        return kind(
            f"/{NAME}/{name}",
            request_serializer=message.SerializeToString,
            response_deserializer=message.FromString,
        )

    async def say(self, text: str, **options: Any) -> str:
        """Call Echo and return what it answers."""
        response = await self.Echo(StringValue(value=text), timeout=10, **options)
        return str(response.value)
