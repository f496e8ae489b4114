"""The RPCs of rooms: reads requests, calls, writes replies."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from libs.chassis.status import refused
from libs.kernel.ids import is_uuid
from libs.kernel.reasons import Reason
from libs.wire.paging import cut_page, page_position
from libs.wire.requests import Checks
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import requests
from services.lobby.edge import Context, Edge


class RoomRpcs(Edge):
    """Making rooms, looking at them, and what is done in them."""

    async def CreateRoom(self, request: pb.CreateRoomRequest, context: Context) -> room_pb2.Room:
        return await self._reply(await self._parts.handlers.create(requests.create_room(request)))

    async def ListRooms(
        self, request: pb.ListRoomsRequest, context: Context
    ) -> pb.ListRoomsResponse:
        checks = Checks()
        size = checks.page_size(request.page_size)
        if request.rule_set:
            requests.check_rule_set(checks, request.rule_set)
        before = page_position(request, checks, is_uuid) or None
        checks.finish()
        rooms = await self._parts.rooms.listed(
            rule_set=request.rule_set, before=before, limit=size + 1
        )
        page, token = cut_page(request, rooms, size, lambda room: room.room_id)
        return pb.ListRoomsResponse(rooms=await self._shown(page), next_page_token=token)

    async def GetRoom(self, request: pb.GetRoomRequest, context: Context) -> room_pb2.Room:
        checks = Checks()
        checks.uuid("room_id", request.room_id)
        if request.HasField("min_sequence"):
            checks.least("min_sequence", request.min_sequence, 0)
        checks.finish()
        room = await self._visible(request.room_id)
        if request.HasField("min_sequence") and room.sequence < request.min_sequence:
            raise refused(Reason.STALE_SEQUENCE, asked=request.min_sequence, head=room.sequence)
        return await self._reply(room)

    async def JoinRoom(self, request: pb.JoinRoomRequest, context: Context) -> room_pb2.Room:
        asked = requests.join_room(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def LeaveRoom(self, request: pb.LeaveRoomRequest, context: Context) -> room_pb2.Room:
        asked = requests.leave_room(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def AddBot(self, request: pb.AddBotRequest, context: Context) -> room_pb2.Room:
        asked = requests.add_bot(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def SetReady(self, request: pb.SetReadyRequest, context: Context) -> room_pb2.Room:
        asked = requests.set_ready(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def StartMatch(self, request: pb.StartMatchRequest, context: Context) -> room_pb2.Room:
        asked = requests.start_match(request, self._parts.clock.now_ms())
        return await self._reply(await self._parts.starter.start(request.room_id, asked))
