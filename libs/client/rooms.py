"""From nothing to a match: a room, its bots, and the start."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress

from libs.chassis.status import RefusedError, refused
from libs.client import news
from libs.client.calls import PATIENCE_S, ConnectionLostError, patiently
from libs.kernel.clock import SystemClock
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.access_pb2 import Access


def new_command_id() -> CommandId:
    """Return an id for a command, which nobody else has."""
    return CommandId(fresh_id(SystemClock().now_ms()))


async def start_match(
    lobby: pb_grpc.LobbyServiceAsyncStub,
    rule_set: str,
    bots: Sequence[str],
    timeout_s: float = PATIENCE_S,
) -> MatchId:
    """Open a private room, seat the caller and *bots*, and start. See `Client.start_match`."""
    room: Room = await patiently(
        lobby.CreateRoom,
        pb.CreateRoomRequest(
            command_id=new_command_id(),
            rule_set=rule_set,
            seat_count=1 + len(bots),
            visibility=Room.VISIBILITY_PRIVATE,
            watching=Access.WATCHING_EVERYBODY,
        ),
    )
    room_id = room.room_id
    try:
        for strength in bots:
            seating = pb.AddBotRequest(
                room_id=room_id, command_id=new_command_id(), strength=strength
            )
            await patiently(lobby.AddBot, seating)
        starting = pb.StartMatchRequest(room_id=room_id, command_id=new_command_id())
        room = await patiently(lobby.StartMatch, starting)
    except (RefusedError, ConnectionLostError):
        # Else the caller would go on sitting here, and could sit nowhere else.
        leaving = pb.LeaveRoomRequest(room_id=room_id, command_id=new_command_id())
        with suppress(RefusedError, ConnectionLostError):
            await patiently(lobby.LeaveRoom, leaving, timeout_s=1)
        raise
    return await _started(lobby, room, timeout_s)


async def quick_match(
    lobby: pb_grpc.LobbyServiceAsyncStub, rule_set: str, seats: int, timeout_s: float
) -> MatchId:
    """Find others for a match, and return it once it has started. See `Client.quick_match`."""
    asking = pb.QuickMatchRequest(command_id=new_command_id(), rule_set=rule_set, seat_count=seats)
    room: Room = await patiently(lobby.QuickMatch, asking)
    try:
        return await _started(lobby, room, timeout_s)
    except (ConnectionLostError, asyncio.CancelledError):
        # Else a match would begin in which nobody plays the caller's seat.
        cancelling = pb.CancelQuickMatchRequest(command_id=new_command_id())
        with suppress(RefusedError, ConnectionLostError):
            await patiently(lobby.CancelQuickMatch, cancelling, timeout_s=1)
        raise


async def _started(lobby: pb_grpc.LobbyServiceAsyncStub, room: Room, timeout_s: float) -> MatchId:
    """Return the room's match, once it is there."""
    if room.state == Room.STATE_STARTED:
        return MatchId(room.match_id)
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s), aclosing(news.of_room(lobby, room.room_id)) as told:
            async for seen in told:
                if seen.state == Room.STATE_STARTED:
                    return MatchId(seen.match_id)
                if seen.state == Room.STATE_CLOSED:
                    raise refused(Reason.ROOM_CLOSED, why=Room.ClosedWhy.Name(seen.closed_why))
    raise ConnectionLostError(f"no match has started in room {room.room_id}")
