"""The clock of this machine, held against those that tokens and deadlines go by."""

from collections.abc import Awaitable, Callable
from typing import Final

import grpc

from libs.kernel.clock import Clock
from opolyx.gateway.v1 import gateway_service_pb2 as pb
from opolyx.gateway.v1.gateway_service_pb2_grpc import GatewayServiceStub
from services.console.diagnosis.database import TIMEOUT_S, Connection
from services.console.diagnosis.finding import Finding, failed, ok, skipped, warning

DATABASE: Final = "clock of the database"
GATEWAY: Final = "clock of the gateway"

NOTICEABLE_MS: Final = 500
"""From here on a person sees that a deadline is not where it should be."""


async def check_database_clock(connection: Connection, clock: Clock, leeway_ms: int) -> Finding:
    """Look at the clock that all deadlines go by."""

    async def ask() -> int:
        return int(await connection.fetchval(_NOW_MS))

    return _judge(DATABASE, *await _apart(clock, ask), leeway_ms)


async def check_gateway_clock(address: str, clock: Clock, leeway_ms: int) -> Finding:
    """Look at the clock that tokens are checked by, if a gateway answers."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = GatewayServiceStub(channel)

        async def ask() -> int:
            info: pb.ServerInfo = await stub.GetServerInfo(
                pb.GetServerInfoRequest(), timeout=TIMEOUT_S
            )
            return info.server_time_ms

        try:
            return _judge(GATEWAY, *await _apart(clock, ask), leeway_ms)
        except grpc.aio.AioRpcError as error:
            why = f"the gateway at {address} does not tell its time: {error.code().name}"
            return skipped(GATEWAY, why)


async def _apart(clock: Clock, ask: Callable[[], Awaitable[int]]) -> tuple[int, int]:
    """Return how far another clock is ahead of ours, and how far off that may be; milliseconds."""
    before_ms = clock.now_ms()
    other_ms = await ask()
    after_ms = clock.now_ms()
    return other_ms - (before_ms + after_ms) // 2, (after_ms - before_ms + 1) // 2


def _judge(check: str, ahead_ms: int, unsure_ms: int, leeway_ms: int) -> Finding:
    way = "ahead of" if ahead_ms > 0 else "behind"
    told = f"{abs(ahead_ms):,} ms {way} this machine, give or take {unsure_ms:,} ms"
    apart_ms = abs(ahead_ms) - unsure_ms
    advice = "let both machines follow the same time server"
    if apart_ms > leeway_ms:
        return failed(check, f"{told}: tokens made on one are refused on the other", advice)
    if apart_ms > NOTICEABLE_MS:
        return warning(check, f"{told}: deadlines are not when they seem to be", advice)
    return ok(check, told)


_NOW_MS: Final = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
