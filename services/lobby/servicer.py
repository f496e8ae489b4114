"""The gRPC edge of the lobby: reads requests, calls, writes replies."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from typing import Final, TypeAlias

import grpc

from libs.chassis.roles import AllowList, service
from libs.chassis.status import RefusedError, refused
from libs.kernel.clock import Clock
from libs.kernel.ids import is_uuid
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.wire.paging import next_page_token, page_position
from libs.wire.refusals import tell
from libs.wire.requests import Checks, MalformedError, Violation
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from opolyx.lobby.v1 import room_pb2
from services.lobby import requests
from services.lobby.handlers import Handlers
from services.lobby.ports import Players, Rooms
from services.lobby.rooms import Room
from services.lobby.starting import Starter
from services.lobby.wire import room_message

SERVICE: Final = pb.DESCRIPTOR.services_by_name["LobbyService"]

BELIEVED: Final = ("gateway",)
"""The services that may call on behalf of others."""

ALLOWED: Final = AllowList(
    {f"{SERVICE.full_name}/{method.name}": [service("gateway")] for method in SERVICE.methods}
)
"""Who may call what: all of it comes through the gateway, on behalf of people or for itself."""

# Quoted, since grpc's context takes parameters in its stubs alone.
Context: TypeAlias = "grpc.aio.ServicerContext[object, object]"


class LobbyServicer(pb_grpc.LobbyServiceServicer):
    """`opolyx.lobby.v1.LobbyService`. What it answers and refuses is said there."""

    def __init__(
        self, handlers: Handlers, starter: Starter, rooms: Rooms, players: Players, clock: Clock
    ) -> None:
        self._handlers = handlers
        self._starter = starter
        self._rooms = rooms
        self._players = players
        self._clock = clock

    async def CreateRoom(self, request: pb.CreateRoomRequest, context: Context) -> room_pb2.Room:
        return await self._reply(await self._handlers.create(requests.create_room(request)))

    async def ListRooms(
        self, request: pb.ListRoomsRequest, context: Context
    ) -> pb.ListRoomsResponse:
        checks = Checks()
        size = checks.page_size(request.page_size)
        if request.rule_set:
            requests.check_rule_set(checks, request.rule_set)
        before = page_position(request, checks, is_uuid) or None
        checks.finish()
        # One more than asked for: whether there is a next page.
        rooms = await self._rooms.listed(rule_set=request.rule_set, before=before, limit=size + 1)
        page = rooms[:size]
        people = {player for room in page for player in room.people}
        names = await self._players.names(people)
        token = next_page_token(request, page[-1].room_id) if len(rooms) > size else ""
        return pb.ListRoomsResponse(
            rooms=[room_message(room, names) for room in page], next_page_token=token
        )

    async def GetRoom(self, request: pb.GetRoomRequest, context: Context) -> room_pb2.Room:
        checks = Checks()
        checks.uuid("room_id", request.room_id)
        if request.HasField("min_sequence"):
            checks.least("min_sequence", request.min_sequence, 0)
        checks.finish()
        room = await self._rooms.find(request.room_id)
        if room is None:
            raise refused(Reason.ROOM_NOT_FOUND)
        if request.HasField("min_sequence") and room.sequence < request.min_sequence:
            raise refused(Reason.STALE_SEQUENCE, asked=request.min_sequence, head=room.sequence)
        return await self._reply(room)

    async def JoinRoom(self, request: pb.JoinRoomRequest, context: Context) -> room_pb2.Room:
        asked = requests.join_room(request)
        return await self._reply(await self._handlers.change(request.room_id, asked))

    async def LeaveRoom(self, request: pb.LeaveRoomRequest, context: Context) -> room_pb2.Room:
        asked = requests.leave_room(request)
        return await self._reply(await self._handlers.change(request.room_id, asked))

    async def AddBot(self, request: pb.AddBotRequest, context: Context) -> room_pb2.Room:
        asked = requests.add_bot(request)
        return await self._reply(await self._handlers.change(request.room_id, asked))

    async def SetReady(self, request: pb.SetReadyRequest, context: Context) -> room_pb2.Room:
        asked = requests.set_ready(request)
        return await self._reply(await self._handlers.change(request.room_id, asked))

    async def StartMatch(self, request: pb.StartMatchRequest, context: Context) -> room_pb2.Room:
        asked = requests.start_match(request, self._clock.now_ms())
        return await self._reply(await self._starter.start(request.room_id, asked))

    async def ResolvePlayer(
        self, request: pb.ResolvePlayerRequest, context: Context
    ) -> room_pb2.Player:
        now_ms = self._clock.now_ms()
        new = requests.new_player(request, now_ms)
        player = await self._players.resolve(request.issuer, request.subject, new, now_ms)
        return room_pb2.Player(player_id=player.player_id, display_name=player.display_name)

    async def _reply(self, outcome: Room | Refusal) -> room_pb2.Room:
        if isinstance(outcome, Room):
            return room_message(outcome, await self._players.names(outcome.people))
        if outcome.reason is Reason.INVALID_REQUEST:
            # The rules know how many seats the room has; the caller wants to know which field.
            raise MalformedError([Violation("seat", f"must be below {outcome.facts['seats']}")])
        raise RefusedError(tell(outcome))
