"""The rooms that everybody sees, followed: which there are, and what has just changed."""

from typing import Any, Final

from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.lobby.describing import Plain, describe_room

OPENED: Final = "opened"
CHANGED: Final = "changed"
GONE: Final = "gone"


class KnownRooms:
    """The rooms that everybody sees, as they were told."""

    def __init__(self) -> None:
        self._rooms: dict[str, Room] = {}

    def take(self, told: pb.WatchRoomsResponse) -> list[Plain]:
        """Take in what was told; returns what has changed by it, each once."""
        match told.WhichOneof("response"):
            case "rooms":
                now = {room.room_id: room for room in told.rooms.rooms}
                gone = [room_id for room_id in self._rooms if room_id not in now]
                return [
                    *(self._drop(room_id) for room_id in gone),
                    # The oldest first, as they would have been told one by one.
                    *(
                        self._put(now[room_id])
                        for room_id in sorted(now)
                        if self._is_news(now[room_id])
                    ),
                ]
            case "room":
                return [self._put(told.room)] if self._is_news(told.room) else []
            case "gone_room_id":
                known = told.gone_room_id in self._rooms
                return [self._drop(told.gone_room_id)] if known else []
            case _:
                return []

    def listed(self) -> list[Plain]:
        """Return the rooms, the newest first: their ids go up with time."""
        return [describe_room(self._rooms[room_id]) for room_id in sorted(self._rooms)[::-1]]

    def _is_news(self, room: Room) -> bool:
        known = self._rooms.get(room.room_id)
        return known is None or known.sequence < room.sequence

    def _put(self, room: Room) -> Plain:
        change = CHANGED if room.room_id in self._rooms else OPENED
        self._rooms[room.room_id] = room
        return _change(change, room.room_id, describe_room(room))

    def _drop(self, room_id: str) -> Plain:
        del self._rooms[room_id]
        return _change(GONE, room_id, None)


def _change(change: str, room_id: str, room: Plain | None) -> dict[str, Any]:
    return {"change": change, "room_id": room_id, "room": room}
