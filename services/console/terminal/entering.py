"""The way to a table: a room that is made or joined, and waited in, until its match is there."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from libs.chassis.status import RefusedError
from libs.chassis.together import first_of
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.client.rooms import new_command_id
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.console.terminal.desk import Desk
from services.console.terminal.people import plain_name

POLL_S: Final = 0.5
LEAVE_S: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to play.

    Attributes:
        rule_set, seats, bots: of a new room, the bots by their strengths.
        room: the id of a room to join instead, empty for none.
        match: the match to go on with instead, None for none.
        auto: the strength of the bot that chooses for the caller; empty for none.
        hint: what others add to `opolyx play --room ID` to get to the same place.
        back: what the caller adds to `opolyx play --match ID` to come back.

    """

    rule_set: str
    seats: int
    bots: tuple[str, ...]
    room: str
    match: MatchId | None
    auto: str
    hint: str
    back: str


async def enter(client: Client, desk: Desk, wish: Wish) -> MatchId | None:
    """Return the match that comes of *wish*, or that the caller has yet to play; None if they left.

    Raises:
        RefusedError: there is no such room, or no way into it.
        RoomLostError: the room is gone.
        ConnectionLostError: there is no answer.

    """
    try:
        room = await (_joined(client, wish) if wish.room else _created(client, wish))
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
    desk.show(f"Room {room.room_id}: {room.rule_set}, {len(room.seats)} seats.")
    return await _Waiting(client, desk, wish, room).wait()


class RoomLostError(Exception):
    """The room is closed, or the caller sits there no more."""


async def _created(client: Client, wish: Wish) -> Room:
    lobby = client.lobby
    request = pb.CreateRoomRequest(
        command_id=new_command_id(), rule_set=wish.rule_set, seat_count=wish.seats
    )
    room: Room = await client.call(lobby.CreateRoom, request)
    for strength in wish.bots:
        bot = pb.AddBotRequest(room_id=room.room_id, command_id=new_command_id(), strength=strength)
        room = await client.call(lobby.AddBot, bot)
    return room


async def _joined(client: Client, wish: Wish) -> Room:
    lobby = client.lobby
    room: Room = await client.call(lobby.GetRoom, pb.GetRoomRequest(room_id=wish.room))
    me = await player_id(client)
    if any(seat.player.player_id == me for seat in room.seats):
        return room
    joining = pb.JoinRoomRequest(room_id=wish.room, command_id=new_command_id())
    return await client.call(lobby.JoinRoom, joining)


async def player_id(client: Client) -> str:
    """Return who the caller is, by player id."""
    request = progression_pb.GetProfileRequest()
    profile = await client.call(client.progression.GetProfile, request)
    return profile.player_id


class _Waiting:
    """Sits in a room until its match is there."""

    def __init__(self, client: Client, desk: Desk, wish: Wish, room: Room) -> None:
        self._client = client
        self._desk = desk
        self._wish = wish
        self._room = room
        self._me = ""
        self._told = ""
        self._match_id: MatchId | None = None

    async def wait(self) -> MatchId | None:
        self._me = await player_id(self._client)
        if self._is_open():
            self._desk.show(
                f"Others join by: opolyx play --room {self._room.room_id} {self._wish.hint}"
            )
        self._desk.prompt("waiting > ")
        await first_of(self._follow(), self._obey(), self._leave_at_signal())
        self._desk.prompt("")
        if self._match_id is None:
            await self._leave()
        return self._match_id

    async def _follow(self) -> None:
        request = pb.GetRoomRequest(room_id=self._room.room_id)
        while self._room.state != Room.STATE_STARTED:
            if self._room.state == Room.STATE_CLOSED:
                raise RoomLostError("the room was closed")
            self._tell()
            await self._do_own_part()
            await asyncio.sleep(POLL_S)
            self._room = await self._client.call(self._client.lobby.GetRoom, request)
        self._match_id = MatchId(self._room.match_id)

    async def _do_own_part(self) -> None:
        """Say that one is ready, and start as soon as all are who are wanted."""
        room = self._room
        if room.state != Room.STATE_WAITING:
            return
        own = next((seat for seat in room.seats if seat.player.player_id == self._me), None)
        if own is None:
            raise RoomLostError("you sit in this room no more")
        if room.creator_id != self._me:
            if not own.ready:
                await self._change(self._client.lobby.SetReady, pb.SetReadyRequest, ready=True)
        elif not self._is_open() and not self._unready():
            await self._change(self._client.lobby.StartMatch, pb.StartMatchRequest)

    def _is_open(self) -> bool:
        return any(seat.WhichOneof("occupant") is None for seat in self._room.seats)

    def _unready(self) -> list[int]:
        return [
            seat.seat
            for seat in self._room.seats
            if seat.WhichOneof("occupant") == "player"
            and not seat.ready
            and seat.player.player_id != self._room.creator_id
        ]

    def _tell(self) -> None:
        told = ", ".join(f"{seat.seat} {self._occupant(seat)}" for seat in self._room.seats)
        if told != self._told:
            self._told = told
            self._desk.show(f"Seats: {told}.")

    def _occupant(self, seat: Room.Seat) -> str:
        match seat.WhichOneof("occupant"):
            case "player":
                name = plain_name(seat.player.display_name) or "somebody"
                return f"{name} (you)" if seat.player.player_id == self._me else name
            case "bot":
                return f"{seat.bot} (bot)"
            case _:
                return "empty"

    async def _obey(self) -> None:
        if not (self._is_open() or self._desk.is_live):
            # What a script has typed already is meant for the match, which is about to start.
            await asyncio.Event().wait()
        while True:
            line = await self._desk.line()
            if line is None:
                if self._wish.auto:
                    await asyncio.Event().wait()
                return
            match line.strip().lower():
                case "quit" | "exit" | "q":
                    return
                case "start":
                    await self._change(self._client.lobby.StartMatch, pb.StartMatchRequest)
                case "":
                    pass
                case _:
                    self._desk.show("`start` starts with those who are here, `quit` leaves.")

    async def _leave_at_signal(self) -> None:
        await self._desk.left.wait()

    async def _change(
        self, method: Callable[..., Awaitable[Room]], request: Any, **fields: Any
    ) -> None:
        """Do something in the room; why it could not be done is told, and changes nothing."""
        asked = request(room_id=self._room.room_id, command_id=new_command_id(), **fields)
        try:
            self._room = await self._client.call(method, asked)
        except RefusedError as error:
            self._desk.show(f"{error.told.reason}: {error.told.text}")

    async def _leave(self) -> None:
        """Get up: who is not here should not be waited for."""
        leaving = pb.LeaveRoomRequest(room_id=self._room.room_id, command_id=new_command_id())
        with suppress(RefusedError, ConnectionLostError):
            await self._client.call(self._client.lobby.LeaveRoom, leaving, timeout_s=LEAVE_S)
        self._desk.show("You have left the room.")
