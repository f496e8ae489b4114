"""The RPCs of people."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import requests
from services.lobby.edge import Context, Edge


class PeopleRpcs(Edge):
    """Who people are."""

    async def ResolvePlayer(
        self, request: pb.ResolvePlayerRequest, context: Context
    ) -> room_pb2.Player:
        now_ms = self._parts.clock.now_ms()
        new = requests.new_player(request, now_ms)
        player = await self._parts.players.resolve(request.issuer, request.subject, new, now_ms)
        return room_pb2.Player(player_id=player.player_id, display_name=player.display_name)
