"""The way to a table: a room that is made, joined or found, and waited in."""

from libs.chassis.status import RefusedError
from libs.client.client import Client
from libs.client.rooms import new_command_id
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.terminal.desk import Desk
from services.console.terminal.waiting import Waiting
from services.console.terminal.wishes import Wish


async def enter(client: Client, desk: Desk, wish: Wish) -> MatchId | None:
    """Return the match that comes of *wish*, or that the caller has yet to play; None if they left.

    Raises:
        RefusedError: there is no such room, or no way into it.
        RoomLostError: the room is gone.
        ConnectionLostError: there is no answer.

    """
    me = await _player_id(client)
    try:
        room = await _found(client, wish, me)
    except RefusedError as error:
        if error.told.reason != Reason.ALREADY_IN_MATCH:
            raise
        facts = error.told.metadata
        if match_id := facts.get("match_id"):
            desk.show(f"You sit in a match already, {match_id}: it goes on.")
            return MatchId(match_id)
        room_id = facts.get("room_id", "")
        desk.show(f"You wait in a room already, {room_id}.")
        room = await client.call(client.lobby.GetRoom, pb.GetRoomRequest(room_id=room_id))
    return await wait_in(client, desk, wish, room, me)


async def play_again(client: Client, desk: Desk, wish: Wish, room_id: str) -> MatchId | None:
    """Return the next match of those who played in a room; None if the caller left before.

    Raises as `enter`.
    """
    request = pb.RematchRequest(room_id=room_id, command_id=new_command_id())
    room = await client.call(client.lobby.Rematch, request)
    return await wait_in(client, desk, wish, room, await _player_id(client))


async def wait_in(client: Client, desk: Desk, wish: Wish, room: Room, me: str) -> MatchId | None:
    """Wait in a room, for its match. Raises as `enter`."""
    desk.show(f"Room {room.room_id}: {room.rule_set}, {len(room.seats)} seats.")
    return await Waiting(client, desk, wish, room, me).wait()


async def _found(client: Client, wish: Wish, me: str) -> Room:
    if wish.is_quick:
        request = pb.QuickMatchRequest(
            command_id=new_command_id(), rule_set=wish.rule_set, seat_count=wish.seats
        )
        return await client.call(client.lobby.QuickMatch, request)
    if wish.invite:
        taking = pb.AcceptInviteRequest(code=wish.invite, command_id=new_command_id())
        return await _joined(client, await client.call(client.lobby.AcceptInvite, taking), me)
    if wish.room:
        looking = pb.GetRoomRequest(room_id=wish.room)
        return await _joined(client, await client.call(client.lobby.GetRoom, looking), me)
    return await _created(client, wish)


async def _created(client: Client, wish: Wish) -> Room:
    lobby = client.lobby
    request = pb.CreateRoomRequest(
        command_id=new_command_id(),
        rule_set=wish.rule_set,
        seat_count=wish.seats,
        visibility=Room.VISIBILITY_PRIVATE if wish.is_private else Room.VISIBILITY_LISTED,
    )
    room: Room = await client.call(lobby.CreateRoom, request)
    for strength in wish.bots:
        bot = pb.AddBotRequest(room_id=room.room_id, command_id=new_command_id(), strength=strength)
        room = await client.call(lobby.AddBot, bot)
    return room


async def _joined(client: Client, room: Room, me: str) -> Room:
    if any(seat.player.player_id == me for seat in room.seats):
        return room
    joining = pb.JoinRoomRequest(room_id=room.room_id, command_id=new_command_id())
    return await client.call(client.lobby.JoinRoom, joining)


async def _player_id(client: Client) -> str:
    """Return who the caller is, by player id."""
    player = await client.call(client.lobby.GetPlayer, pb.GetPlayerRequest())
    return player.player_id
