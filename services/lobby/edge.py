"""What the parts of the lobby's gRPC edge share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc

from libs.chassis import identity
from libs.chassis.status import RefusedError, refused
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.wire.refusals import tell
from libs.wire.requests import MalformedError, Violation
from opolyx.lobby.v1 import room_pb2
from services.lobby.feed import RoomFeed
from services.lobby.handlers import Handlers
from services.lobby.history import History
from services.lobby.inviting import Inviting
from services.lobby.ports import Players, Rooms
from services.lobby.quick import QuickMatches
from services.lobby.requests import is_operator
from services.lobby.room import Room
from services.lobby.starting import Starter
from services.lobby.wire import room_message

# Quoted, since grpc's context takes parameters in its stubs alone.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the lobby's RPCs rest on.

    Attributes:
        inviting: what becomes of invitations.
        idle_ms: after how long a room in which nothing happens closes.
        quick_fill_ms: how long whoever looks for a quick match waits for people.
        heartbeat_s: after how long without news a stream gives a sign of life.

    """

    handlers: Handlers
    starter: Starter
    inviting: Inviting
    rooms: Rooms
    players: Players
    history: History
    feed: RoomFeed
    quick: QuickMatches
    quick_fill_ms: int
    clock: Clock
    idle_ms: int
    heartbeat_s: float


class Edge:
    """A part of the edge: some of the RPCs."""

    def __init__(self, parts: Parts) -> None:
        self._parts: Final = parts

    async def _reply(self, outcome: Room | Refusal) -> room_pb2.Room:
        """Return a room as everybody sees it, or raise why not."""
        if isinstance(outcome, Room):
            (message,) = await self._shown([outcome])
            return message
        if outcome.reason is Reason.INVALID_REQUEST:
            # The rules know how many seats the room has; the caller wants to know which field.
            field, must = str(outcome.facts["field"]), outcome.facts["must"]
            raise MalformedError([Violation(field, f"must {must}")])
        raise RefusedError(tell(outcome))

    async def _shown(self, rooms: Sequence[Room]) -> list[room_pb2.Room]:
        """Return rooms as everybody sees them, with the names of their people."""
        return await show_rooms(self._parts.players, rooms, idle_ms=self._parts.idle_ms)

    async def _visible(self, room_id: str) -> Room:
        """Return a room as it is.

        Raises:
            RefusedError: ROOM_NOT_FOUND, there is none that the caller may see.

        """
        room = await self._parts.rooms.find(room_id)
        if room is None or not sees(room):
            raise refused(Reason.ROOM_NOT_FOUND)
        return room


async def show_rooms(
    players: Players, rooms: Sequence[Room], *, idle_ms: int
) -> list[room_pb2.Room]:
    """Return rooms as everybody sees them, with the names of their people."""
    names = await players.names({player for room in rooms for player in room.people})
    return [room_message(room, names, idle_ms=idle_ms) for room in rooms]


def sees(room: Room) -> bool:
    """Tell whether the present caller may see *room*."""
    return is_operator() or room.is_seen_by(identity.caller().player_id)
