"""`GatewayService`: what runs here, and what it allows."""

from __future__ import annotations

import grpc

from libs.kernel.clock import Clock
from opolyx.gateway.v1 import gateway_service_pb2 as pb
from opolyx.gateway.v1 import gateway_service_pb2_grpc as pb_grpc
from services.gateway.limits import limits
from services.gateway.settings import GatewaySection


class GatewayServicer(pb_grpc.GatewayServiceServicer):
    """Tells about this gateway. Nobody else is asked."""

    def __init__(self, section: GatewaySection, version: str, clock: Clock) -> None:
        self._limits = limits(section)
        self._version = version
        self._clock = clock

    async def GetServerInfo(  # noqa: N802 - as the proto has it
        self,
        request: pb.GetServerInfoRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.GetServerInfoRequest, pb.ServerInfo],  # noqa: ARG002
    ) -> pb.ServerInfo:
        """Return the release, the time and the limits."""
        return pb.ServerInfo(
            version=self._version, server_time_ms=self._clock.now_ms(), limits=self._limits
        )
