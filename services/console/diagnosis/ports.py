"""The ports that services are to listen on: free, ours, or taken by somebody else."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import ServerSettings
from services.console.diagnosis.finding import Finding, failed, ok, skipped, warning
from services.console.fleet import SERVICES, called_at

SERVED: Final[Mapping[str, str]] = {
    "timer": "opolyx.timer.v1.TimerService",
    "match_engine": "opolyx.engine.v1.EngineService",
    "progression": "opolyx.progression.v1.ProgressionService",
    "lobby": "opolyx.lobby.v1.LobbyService",
    "gateway": "opolyx.match.v1.MatchService",
    "bot_runner": "opolyx.bot.v1.BotService",
}
"""By what each service is known: one of the gRPC services at its port."""

METRICS: Final = "metrics"
OURS: Final = b"opolyx_"
"""What the names of our metrics begin with."""

TIMEOUT_S: Final = 2.0
_PAGE_BYTES: Final = 1 << 20


async def check_ports(settings: Mapping[str, NodeSettings]) -> list[Finding]:
    """Look at every port that the settings name."""
    looks = []
    for name in SERVICES:
        section: ServerSettings = getattr(settings[name], name)
        looks.append(_check_port(name, section.host, section.port))
    telemetry = settings[SERVICES[-1]].telemetry
    looks.append(_check_port(METRICS, telemetry.metrics_host, telemetry.metrics_port))
    return await asyncio.gather(*looks)


async def _check_port(name: str, host: str, port: int) -> Finding:
    check = f"port of {name}"
    if not port:
        return ok(check, "any that is free, by the setting")
    address = called_at(host, port)
    try:
        async with asyncio.timeout(TIMEOUT_S), _connected(address):
            pass
    except ConnectionRefusedError:
        return ok(check, f"{address} is free: {name} does not run here")
    except (OSError, TimeoutError) as error:
        return skipped(check, f"{address} cannot be tried: {str(error) or 'no answer'}")
    if name == METRICS:
        return await _check_metrics(check, address)
    return await _check_service(check, address, SERVED[name])


async def _check_service(check: str, address: str, service: str) -> Finding:
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=service)
        try:
            response = await stub.Check(request, timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return _taken(check, address)
    if response.status == health_pb2.HealthCheckResponse.SERVING:
        return ok(check, f"{address} is ours and serves")
    told = f"{address} is ours, and cannot work now"
    return warning(check, told, "see what it logs: mostly the store or another service is away")


async def _check_metrics(check: str, address: str) -> Finding:
    request = f"GET /metrics HTTP/1.0\r\nHost: {address}\r\n\r\n".encode("ascii")
    try:
        async with asyncio.timeout(TIMEOUT_S), _connected(address) as (reader, writer):
            writer.write(request)
            page = await _read(reader)
    except (OSError, TimeoutError):
        page = b""
    if OURS in page:
        return ok(check, f"{address} is ours and shows metrics")
    return _taken(check, address)


@asynccontextmanager
async def _connected(
    address: str,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> bytes:
    page = b""
    while len(page) < _PAGE_BYTES and (more := await reader.read(_PAGE_BYTES)):
        page += more
    return page


def _taken(check: str, address: str) -> Finding:
    setting = check.removeprefix("port of ").upper()
    variable = (
        "OPOLYX_TELEMETRY__METRICS_PORT" if setting == "METRICS" else f"OPOLYX_{setting}__PORT"
    )
    return failed(
        check,
        f"{address} is taken by {_owner(int(address.rpartition(':')[2]))}",
        f"stop that, or set {variable} to another port",
    )


def _owner(port: int) -> str:
    """Return who listens at a port, as far as this user may know."""
    try:
        for one in psutil.net_connections("tcp"):
            is_there = one.status == psutil.CONN_LISTEN and one.laddr[1:] == (port,)
            if is_there and one.pid:
                return f"{psutil.Process(one.pid).name()}, process {one.pid}"
    except psutil.Error:
        pass
    return "another program"
