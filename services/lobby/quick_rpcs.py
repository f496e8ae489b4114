"""The RPCs of quick matches."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import seat_requests as requests
from services.lobby.edge import Context, Edge


class QuickRpcs(Edge):
    """Waiting for others who want to play, and waiting no more."""

    async def QuickMatch(self, request: pb.QuickMatchRequest, context: Context) -> room_pb2.Room:
        fill_ms = self._parts.clock.now_ms() + self._parts.quick_fill_ms
        asked = requests.quick_match(request, fill_ms)
        return await self._reply(await self._parts.quick.join(asked))

    async def CancelQuickMatch(
        self, request: pb.CancelQuickMatchRequest, context: Context
    ) -> room_pb2.Room:
        return await self._reply(await self._parts.quick.cancel(requests.cancel_quick(request)))
