"""The RPCs that follow rooms: streams that tell of changes, and of life where there is none."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from collections.abc import AsyncIterator

from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.wire.requests import Checks
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.lobby import requests
from services.lobby.edge import Context, Edge, sees
from services.lobby.room import Room, State
from services.lobby.watchers import Shown


class WatchRpcs(Edge):
    """Following rooms. The feed is shared; each stream goes at the pace of its client."""

    async def WatchRooms(
        self, request: pb.WatchRoomsRequest, context: Context
    ) -> AsyncIterator[pb.WatchRoomsResponse]:
        checks = Checks()
        if request.rule_set:
            requests.check_rule_set(checks, request.rule_set)
        checks.finish()

        def wants(room: Room) -> bool:
            return request.rule_set in ("", room.rule_set)

        feed = self._parts.feed
        with feed.list_watched(wants) as watcher:
            await feed.look()
            while True:
                if not await watcher.wait(self._parts.heartbeat_s):
                    yield pb.WatchRoomsResponse(server_time_ms=self._parts.clock.now_ms())
                elif watcher.is_behind:
                    watcher.catch_up()
                    rooms = pb.WatchRoomsResponse.Rooms(rooms=feed.listed(wants))
                    yield pb.WatchRoomsResponse(rooms=rooms)
                else:
                    yield _told(*watcher.take())

    async def WatchRoom(
        self, request: pb.WatchRoomRequest, context: Context
    ) -> AsyncIterator[pb.WatchRoomResponse]:
        checks = Checks()
        checks.uuid("room_id", request.room_id)
        checks.finish()
        with self._parts.feed.room_watched(request.room_id) as watcher:
            room = await self._visible(request.room_id)
            yield pb.WatchRoomResponse(room=await self._reply(room))
            while room.state not in (State.STARTED, State.CLOSED):
                if not await watcher.wait(self._parts.heartbeat_s):
                    yield pb.WatchRoomResponse(server_time_ms=self._parts.clock.now_ms())
                    continue
                _, shown = watcher.take()
                # The feed may have seen later than we what we have told already.
                if shown is not None and shown.room.sequence > room.sequence:
                    room = shown.room
                    if not sees(room):
                        raise refused(Reason.ROOM_NOT_FOUND)
                    yield pb.WatchRoomResponse(room=shown.message)


def _told(room_id: str, shown: Shown | None) -> pb.WatchRoomsResponse:
    if shown is None:
        return pb.WatchRoomsResponse(gone_room_id=room_id)
    return pb.WatchRoomsResponse(room=shown.message)
