"""The wait in a room, until its match is there: who comes is told, and one's own part is done."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

from libs.chassis.status import RefusedError
from libs.chassis.together import first_of
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.client.rooms import new_command_id
from libs.client.signs import Signs
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.following import mind
from services.console.lobby.describing import seconds_to_fill
from services.console.terminal.desk import Desk
from services.console.terminal.people import plain_name
from services.console.terminal.wishes import Wish
from services.console.terminal.words import LEAVING

LEAVE_S: Final = 3.0
TICK_S: Final = 1.0

_WHYS: Final = {
    Room.CLOSED_WHY_EMPTY: "nobody was left in it",
    Room.CLOSED_WHY_IDLE: "nothing had happened in it for long",
    Room.CLOSED_WHY_MATCH_NOT_MADE: "its match could not be made",
}


class RoomLostError(Exception):
    """The room is closed, or the caller sits there no more."""


class Waiting:
    """Sits in a room until its match is there."""

    def __init__(self, client: Client, desk: Desk, wish: Wish, room: Room, me: str) -> None:
        """Sit in *room*, as *me*, by player id."""
        self._client = client
        self._desk = desk
        self._wish = wish
        self._room = room
        self._me = me
        self._signs = Signs()
        self._told = ""
        self._before: frozenset[str] = frozenset()  # who played before what is played again here
        self._match_id: MatchId | None = None

    async def wait(self) -> MatchId | None:
        """Wait; returns the match, None if somebody left.

        Raises:
            RoomLostError: see there.
            RefusedError, ConnectionLostError: the room cannot be followed.

        """
        if self._room.rematch_of:
            self._before = await self._people_of(self._room.rematch_of)
        await self._tell_how_others_come()
        minding = mind(self._signs, self._desk.warn)
        left = self._desk.left.wait()
        await first_of(self._follow(), self._obey(), left, self._tick(), minding)
        self._desk.prompt("")
        if self._match_id is None:
            await self._leave()
        return self._match_id

    @property
    def _is_quick(self) -> bool:
        """Whether the lobby finds the others."""
        return self._room.HasField("fill_time")

    async def _tell_how_others_come(self) -> None:
        room_id = self._room.room_id
        if self._is_quick:
            self._desk.show(f"Whoever wants the same comes too; bots come in {self._fill_s()} s.")
        elif not self._is_open():
            return
        elif self._room.rematch_of:
            again = f"opolyx rooms rematch {self._room.rematch_of}"
            self._desk.show(f"The others come by `rematch` too, or by: {again} {self._wish.hint}")
        else:
            way = f"--room {room_id}"
            if self._room.visibility == Room.VISIBILITY_PRIVATE:
                invite = pb.CreateInviteRequest(room_id=room_id, command_id=new_command_id())
                made = await self._client.call(self._client.lobby.CreateInvite, invite)
                way = f"--invite {made.code}"
            self._desk.show(f"Others join by: opolyx play {way} {self._wish.hint}")

    async def _follow(self) -> None:
        watched = self._client.watch_room(self._room.room_id, self._signs)
        try:
            async with aclosing(watched) as told:
                async for room in told:
                    if room.sequence >= self._room.sequence:
                        await self._take(room)
        except RefusedError as error:
            if error.told.reason != Reason.ROOM_NOT_FOUND:
                raise
            raise RoomLostError("you sit in this room no more") from None
        if self._room.state != Room.STATE_STARTED:
            raise RoomLostError("the room is told of no more")
        self._match_id = MatchId(self._room.match_id)

    async def _take(self, room: Room) -> None:
        self._room = room
        if room.state == Room.STATE_CLOSED:
            why = _WHYS.get(room.closed_why)
            raise RoomLostError(f"the room was closed: {why}" if why else "the room was closed")
        self._tell()
        if room.state == Room.STATE_WAITING:
            await self._do_own_part()

    async def _do_own_part(self) -> None:
        """Say that one is ready, and start as soon as all are who are wanted."""
        room = self._room
        own = next((seat for seat in room.seats if seat.player.player_id == self._me), None)
        if own is None:
            raise RoomLostError("you sit in this room no more")
        if self._is_quick:
            return
        if room.creator_id != self._me:
            if not own.ready:
                await self._change(self._client.lobby.SetReady, pb.SetReadyRequest, ready=True)
        elif not self._is_open() and not self._unready():
            await self._change(self._client.lobby.StartMatch, pb.StartMatchRequest)

    def _is_open(self) -> bool:
        """Tell whether somebody is still waited for."""
        seated = {seat.player.player_id for seat in self._room.seats}
        if self._before and self._before <= seated:
            return False
        return any(seat.WhichOneof("occupant") is None for seat in self._room.seats)

    async def _people_of(self, room_id: str) -> frozenset[str]:
        """Return who sits in a room, by player id."""
        request = pb.GetRoomRequest(room_id=room_id)
        room = await self._client.call(self._client.lobby.GetRoom, request)
        return frozenset(seat.player.player_id for seat in room.seats if seat.HasField("player"))

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
            word = line.strip().lower()
            if word in LEAVING:
                return
            if self._is_quick and word:
                self._desk.show("`quit` waits no more.")
            elif word == "start":
                await self._change(self._client.lobby.StartMatch, pb.StartMatchRequest)
            elif word:
                self._desk.show("`start` starts with those who are here, `quit` leaves.")

    async def _tick(self) -> None:
        while True:
            when = f", bots in {self._fill_s()} s" if self._is_quick else ""
            self._desk.prompt(f"waiting{when} > ")
            await asyncio.sleep(TICK_S)

    def _fill_s(self) -> int:
        return seconds_to_fill(self._room, self._signs)

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
        lobby = self._client.lobby
        method: Callable[..., Awaitable[Room]] = lobby.LeaveRoom
        request: Any = pb.LeaveRoomRequest(room_id=self._room.room_id, command_id=new_command_id())
        if self._is_quick:
            method = lobby.CancelQuickMatch
            request = pb.CancelQuickMatchRequest(command_id=new_command_id())
        told = "You have left the room."
        try:
            await self._client.call(method, request, timeout_s=LEAVE_S)
        except RefusedError as error:
            if error.told.reason == Reason.ROOM_CLOSED:
                told = f"The match has begun already. Into it: opolyx play {self._wish.back}"
        except ConnectionLostError:
            told = "There is no answer: the room may keep your seat for a while."
        self._desk.show(told)
