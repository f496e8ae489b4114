"""A match that others make is waited for, and whoever waits no more is taken out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from libs.chassis.status import RefusedError
from libs.client import ConnectionLostError, rooms
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room

ROOM = "01900000-0000-7000-8000-00000000000a"
MATCH = "01900000-0000-7000-8000-00000000000b"


class Told:
    """A stream that tells these rooms, and then no more."""

    def __init__(self, *rooms: Room) -> None:
        self._rooms = list(rooms)

    async def read(self) -> Any:
        if not self._rooms:
            await asyncio.Event().wait()
        return pb.WatchRoomResponse(room=self._rooms.pop(0))

    def cancel(self) -> None:
        """Be left."""


class Lobby:
    """A lobby whose one room goes through these states."""

    def __init__(self, *states: Room.State.ValueType) -> None:
        self._states = list(states)
        self.asked: list[Any] = []
        self.has_cancelled = False

    async def QuickMatch(self, request: Any, **_: Any) -> Room:  # noqa: N802
        self.asked.append(request)
        return self._room()

    def WatchRoom(self, request: Any) -> Told:  # noqa: N802
        assert request.room_id == ROOM
        return Told(*(self._room() for _ in range(len(self._states) + 1)))

    async def CancelQuickMatch(self, _: Any, **__: Any) -> Room:  # noqa: N802
        self.has_cancelled = True
        return self._room()

    def _room(self) -> Room:
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        room = Room(room_id=ROOM, match_id=MATCH, state=state)
        if state == Room.STATE_CLOSED:
            room.closed_why = Room.CLOSED_WHY_MATCH_NOT_MADE
        return room


def wait_in(lobby: Any, timeout_s: float = 20) -> Any:
    return rooms.quick_match(lobby, "opolyx.classic@2", 4, timeout_s)


async def test_a_match_is_returned_once_it_has_started() -> None:
    lobby = Lobby(Room.STATE_WAITING, Room.STATE_STARTING, Room.STATE_STARTED)

    assert await wait_in(lobby) == MATCH
    assert [(asked.rule_set, asked.seat_count) for asked in lobby.asked] == [
        ("opolyx.classic@2", 4)
    ]
    assert not lobby.has_cancelled


async def test_a_room_that_closes_without_a_match_is_a_refusal() -> None:
    lobby = Lobby(Room.STATE_WAITING, Room.STATE_CLOSED)
    with pytest.raises(RefusedError) as error:
        await wait_in(lobby)

    assert error.value.reason == "ROOM_CLOSED"
    assert error.value.metadata == {"why": "CLOSED_WHY_MATCH_NOT_MADE"}


async def test_who_has_waited_for_long_enough_is_taken_out() -> None:
    lobby = Lobby(Room.STATE_WAITING)
    with pytest.raises(ConnectionLostError):
        await wait_in(lobby, timeout_s=0)

    assert lobby.has_cancelled


async def test_who_waits_no_more_is_taken_out() -> None:
    lobby = Lobby(Room.STATE_WAITING)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await wait_in(lobby)

    assert lobby.has_cancelled
