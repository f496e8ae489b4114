"""The RPCs of people."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from libs.chassis import identity
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.wire.requests import Checks
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import requests
from services.lobby.edge import Context, Edge


class PeopleRpcs(Edge):
    """Who people are, and what they are called."""

    async def ResolvePlayer(
        self, request: pb.ResolvePlayerRequest, context: Context
    ) -> room_pb2.Player:
        now_ms = self._parts.clock.now_ms()
        new = requests.new_player(request, now_ms)
        player = await self._parts.players.resolve(request.issuer, request.subject, new, now_ms)
        return room_pb2.Player(player_id=player.player_id, display_name=player.display_name)

    async def SetDisplayName(
        self, request: pb.SetDisplayNameRequest, context: Context
    ) -> room_pb2.Player:
        player = requests.renamed(request)
        if not await self._parts.players.rename(player):
            raise refused(Reason.PLAYER_NOT_FOUND)
        return room_pb2.Player(player_id=player.player_id, display_name=player.display_name)

    async def GetPlayer(self, request: pb.GetPlayerRequest, context: Context) -> room_pb2.Player:
        checks = Checks()
        if request.player_id:
            checks.uuid("player_id", request.player_id)
        checks.finish()
        # Whoever may only watch is nobody here.
        wanted = request.player_id or identity.caller().player_id
        found = await self._found([wanted] if wanted else [])
        if not found:
            raise refused(Reason.PLAYER_NOT_FOUND)
        return found[0]

    async def BatchGetPlayers(
        self, request: pb.BatchGetPlayersRequest, context: Context
    ) -> pb.BatchGetPlayersResponse:
        return pb.BatchGetPlayersResponse(players=await self._found(requests.players(request)))

    async def _found(self, players: list[str]) -> list[room_pb2.Player]:
        """Return those who are known, in that order."""
        names = await self._parts.players.names(players)
        return [
            room_pb2.Player(player_id=player, display_name=names[player])
            for player in players
            if player in names
        ]
