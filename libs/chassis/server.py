"""A gRPC server with health and reflection, which ends without cutting anybody off in mid-call."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from libs.chassis.edge import Edge, Handler, Terms
from libs.chassis.identity import SIZE_MAX
from libs.chassis.process import AddressError
from libs.telemetry import logs

CORE_BYTES_MIN: Final = 4 * 1024 * 1024
"""The least that grpc itself lets through. Above our own limit, so that ours is what refuses."""

STOP_S: Final = 5.0
"""How long unary calls may take to end, after the streams have (start)."""

_PING_INTERVAL_MS: Final = 5_000
_HEALTH_S: Final = 1.0

_log: Final = logs.get()


class GrpcServer:
    """A server of some services, while it is open: `async with server:`.

    Attributes:
        draining: set when the server is about to stop. A servicer that streams waits for it too,
            says go away in its own words, and ends; who doesn't is ended with GOING_AWAY.

    """

    def __init__(self, terms: Terms, *, credentials: grpc.ServerCredentials | None = None) -> None:
        self._terms = terms
        self._credentials = credentials
        self._edge = Edge(terms)
        self._server = grpc.aio.server(interceptors=[self._edge], options=_options(terms))
        self._health = health.aio.HealthServicer()
        self._services: list[ServiceDescriptor] = []
        self._port = 0
        self.draining: Final = asyncio.Event()

    @property
    def address(self) -> str:
        """Where it listens; the port is known once it is open."""
        host = self._terms.settings.host
        return f"[{host}]:{self._port}" if ":" in host else f"{host}:{self._port}"

    def add(
        self,
        register: Callable[[Any, grpc.aio.Server], None],
        servicer: object,
        descriptor: ServiceDescriptor,
    ) -> None:
        """Serve *servicer*, by the generated function that registers one. Before it is open.

        *descriptor* is that of the service: `DESCRIPTOR.services_by_name[...]` of its module.
        """
        register(servicer, self._server)
        self._services.append(descriptor)

    def add_handlers(self, handlers: dict[str, Handler], descriptor: ServiceDescriptor) -> None:
        """Serve a service by *handlers* of its methods, where no servicer has them. See `add`."""
        generic = grpc.method_handlers_generic_handler(descriptor.full_name, handlers)
        self._server.add_generic_rpc_handlers((generic,))
        self._services.append(descriptor)

    async def set_serving(self, *, is_serving: bool) -> None:
        """Tell by the health service whether calls can be handled now; they are taken anyway."""
        response = health_pb2.HealthCheckResponse
        status = response.SERVING if is_serving else response.NOT_SERVING
        for name in ("", *(service.full_name for service in self._services)):
            await self._health.set(name, status)

    async def __aenter__(self) -> Self:
        """Listen.

        Raises:
            AddressError: it cannot.
            ValueError: it is not said who may call a method, or said of one that there is not.

        """
        self._terms.door.allowed.check(
            f"{service.full_name}/{method.name}"
            for service in self._services
            for method in service.methods
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [service.full_name for service in self._services]
        reflected = [*names, health.SERVICE_NAME, reflection.SERVICE_NAME]
        reflection.enable_server_reflection(reflected, self._server)
        self._port = self._listen()
        await self._server.start()
        await self.set_serving(is_serving=True)
        _log.info("server_listening", address=self.address)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop: say so, let streams end, then let unary calls end."""
        try:
            self.draining.set()
            # Whoever watches and doesn't read must not hold us up.
            async with asyncio.timeout(_HEALTH_S):
                await self._health.enter_graceful_shutdown()
        except TimeoutError:
            pass
        try:
            # grpc would wait for open streams until its grace is over, so they go first.
            await self._edge.traffic.drain_streams(self._terms.settings.stream_grace_s)
            await self._server.stop(STOP_S)
        except asyncio.CancelledError:
            await self._server.stop(None)
            raise
        _log.info("server_drained", address=self.address)

    def _listen(self) -> int:
        settings = self._terms.settings
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"{host}:{settings.port}"
        try:
            if self._credentials is not None:
                return self._server.add_secure_port(address, self._credentials)
            return self._server.add_insecure_port(address)
        except RuntimeError as error:
            # Which of the two it is stands in the line that grpc's own library writes to stderr.
            text = f"cannot listen on {address}: it is taken, or no address of this machine"
            raise AddressError(text) from error


def _options(terms: Terms) -> list[tuple[str, Any]]:
    settings = terms.settings
    keepalive_ms = int(settings.keepalive_s * 1000)
    options: list[tuple[str, Any]] = [
        # Two servers that share a port would share its calls too, without a word.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", max(CORE_BYTES_MIN, 2 * _bytes_max(terms))),
        # A token that is too long is refused here, and not by grpc without a reason.
        ("grpc.max_metadata_size", 4 * SIZE_MAX),
        ("grpc.keepalive_time_ms", keepalive_ms),
        ("grpc.keepalive_timeout_ms", keepalive_ms // 2),
        # This is what counts for a connection that is silent, and is a minute by itself.
        ("grpc.http2.ping_timeout_ms", keepalive_ms // 2),
        ("grpc.http2.min_ping_interval_without_data_ms", _PING_INTERVAL_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.server_handshake_timeout_ms", keepalive_ms // 2),
    ]
    if settings.connection_idle_s is not None:
        options.append(("grpc.max_connection_idle_ms", int(settings.connection_idle_s * 1000)))
    if settings.streams_per_connection is not None:
        options.append(("grpc.max_concurrent_streams", settings.streams_per_connection))
    return options


def _bytes_max(terms: Terms) -> int:
    return terms.settings.request_bytes_max
