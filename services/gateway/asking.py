"""Unary calls that the gateway passes on, as whoever made them and for as long as they wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from libs.chassis.channels import TIMEOUT_S, Channel, on_behalf
from libs.chassis.engines import Engines
from libs.kernel.ids import MatchId
from libs.wire.requests import Checks
from services.gateway.callers import Callers

Q = TypeVar("Q")
R = TypeVar("R")

# Quoted, since these are there for types alone.
Context: TypeAlias = "grpc.aio.ServicerContext[Q, R]"
Method: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[Q, R]"
MethodOf: TypeAlias = "Callable[[Channel], Method[Q, R]]"
"""A method, by the channel to whoever is asked."""

_LEAST_S: Final = 0.001


class Asking:
    """Asks engines, and other services, on behalf of the caller of the present call."""

    def __init__(self, engines: Engines, callers: Callers) -> None:
        self._engines = engines
        self._callers = callers

    async def owner(
        self, method_of: MethodOf[Q, R], request: Q, match_id: str, timeout_s: float = TIMEOUT_S
    ) -> R:
        """Ask the engine that owns a match, and whoever owns it then if it moves.

        Raises:
            MalformedError: the id of the match is none.
            RefusedError: NOT_OWNER_OF_SHARD, nobody who owns it was found in time.
            grpc.aio.AioRpcError: what the engine has answered.

        """
        checks = Checks()
        checks.uuid("match_id", match_id)
        checks.finish()
        end_s = asyncio.get_running_loop().time() + timeout_s
        work = await self._work(method_of, request, end_s)
        return await self._engines.call(MatchId(match_id), work, timeout_s=timeout_s)

    async def any_engine(
        self, method_of: MethodOf[Q, R], request: Q, timeout_s: float = TIMEOUT_S
    ) -> R:
        """Ask any engine what all of them know. Raises what `Engines.any_of` does."""
        end_s = asyncio.get_running_loop().time() + timeout_s
        return await self._engines.any_of(await self._work(method_of, request, end_s))

    async def peer(
        self,
        method: Method[Q, R],
        request: Q,
        timeout_s: float = TIMEOUT_S,
    ) -> R:
        """Ask another service.

        Raises:
            grpc.aio.AioRpcError: what it has answered.

        """
        caller = await self._callers.present()
        metadata = on_behalf(caller.SerializeToString())
        return await method(request, timeout=timeout_s, metadata=metadata)

    async def _work(
        self, method_of: MethodOf[Q, R], request: Q, end_s: float
    ) -> Callable[[Channel], grpc.aio.UnaryUnaryCall[Q, R]]:
        caller = await self._callers.present()
        metadata = on_behalf(caller.SerializeToString())
        loop = asyncio.get_running_loop()

        def work(channel: Channel) -> grpc.aio.UnaryUnaryCall[Q, R]:
            left_s = max(end_s - loop.time(), _LEAST_S)
            return method_of(channel)(request, timeout=left_s, metadata=metadata)

        return work


def left_s(context: Context[Q, R], most_s: float = TIMEOUT_S) -> float:
    """Return how long the caller of a unary call still waits; *most_s* if it does not say."""
    left: float | None = context.time_remaining()
    return most_s if left is None else max(left, _LEAST_S)


def method_of(
    method: MethodDescriptor, read: Callable[[bytes], Any] | None = None
) -> MethodOf[Any, Any]:
    """Return a method as it is called through a channel; without *read* responses stay bytes."""

    def through(channel: Channel) -> Any:
        return channel.unary_unary(
            path_of(method), request_serializer=write, response_deserializer=read
        )

    return through


def path_of(method: MethodDescriptor) -> str:
    """Return by what gRPC knows a method."""
    return f"/{method.containing_service.full_name}/{method.name}"


def write(message: Message) -> bytes:
    """Return a message as it is sent."""
    return message.SerializeToString()
