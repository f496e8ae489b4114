"""Unary calls that the gateway passes on, as whoever made them and for as long as they wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

import grpc

from libs.chassis.channels import TIMEOUT_S, Channel, on_behalf
from libs.chassis.engines import Engines
from libs.kernel.ids import MatchId
from libs.wire.requests import Checks
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from services.gateway.callers import Callers

Q = TypeVar("Q")
R = TypeVar("R")

# Quoted, since these are there for types alone.
Context: TypeAlias = "grpc.aio.ServicerContext[Q, R]"
Method: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[Q, R]"
MethodOf: TypeAlias = "Callable[[Channel], Method[Q, R]]"
EngineMethod: TypeAlias = "Callable[[pb_grpc.MatchServiceAsyncStub], Method[Q, R]]"

_LEAST_S: Final = 0.001


class Asking:
    """Asks engines, and other services, on behalf of the caller of the present call."""

    def __init__(self, engines: Engines, callers: Callers) -> None:
        self._engines = engines
        self._callers = callers
        self._stubs: dict[Channel, pb_grpc.MatchServiceAsyncStub] = {}

    async def owner(
        self, method: EngineMethod[Q, R], request: Q, match_id: str, timeout_s: float = TIMEOUT_S
    ) -> R:
        """Ask the engine that owns a match, and whoever owns it then if it moves.

        Raises:
            MalformedError: the id of the match is none.
            RefusedError: NOT_OWNER_OF_SHARD, nobody who owns it was found in time.
            grpc.aio.AioRpcError: what the engine has answered.

        """
        return await self.owner_by(self._on(method), request, match_id, timeout_s)

    async def any_engine(
        self, method: EngineMethod[Q, R], request: Q, timeout_s: float = TIMEOUT_S
    ) -> R:
        """Ask any engine what all of them know. Raises what `Engines.any_of` does."""
        return await self.any_by(self._on(method), request, timeout_s)

    async def owner_by(
        self, method_of: MethodOf[Q, R], request: Q, match_id: str, timeout_s: float = TIMEOUT_S
    ) -> R:
        """Ask the owner of a match by a method of any service that engines have. See `owner`."""
        checks = Checks()
        checks.uuid("match_id", match_id)
        checks.finish()
        end_s = asyncio.get_running_loop().time() + timeout_s
        work = await self._work(method_of, request, end_s)
        return await self._engines.call(MatchId(match_id), work, timeout_s=timeout_s)

    async def any_by(
        self, method_of: MethodOf[Q, R], request: Q, timeout_s: float = TIMEOUT_S
    ) -> R:
        """Ask any engine by a method of any service that engines have. See `any_engine`."""
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

    def _on(self, method: EngineMethod[Q, R]) -> MethodOf[Q, R]:
        return lambda channel: method(self._stub(channel))

    def _stub(self, channel: Channel) -> pb_grpc.MatchServiceAsyncStub:
        stub = self._stubs.get(channel)
        if stub is None:
            stub = self._stubs[channel] = pb_grpc.MatchServiceStub(channel)
        return stub


def left_s(context: Context[Q, R], most_s: float = TIMEOUT_S) -> float:
    """Return how long the caller of a unary call still waits; *most_s* if it does not say."""
    left: float | None = context.time_remaining()
    return most_s if left is None else max(left, _LEAST_S)
