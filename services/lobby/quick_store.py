"""The rooms of quick matches in PostgreSQL: the schema `lobby`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from libs.store.connections import Connection, Connections
from services.lobby import commands as c
from services.lobby.handlers import ATTEMPTS, Asked
from services.lobby.room import Room, State
from services.lobby.store import HeldRoom

_LOCK: Final = 0x6C6F6262  # "lobb"

# Of the transaction: whoever else wants the same waits until this one is seated, so that no two
# make a room where one would do, and none takes a seat that another is about to have.
_LOCK_QUEUE: Final = "SELECT pg_advisory_xact_lock($1, hashtext($2))"

# The same id may have been used for something else in another room: this one's request comes first.
_FIND_COMMAND: Final = """
    SELECT room_id FROM lobby.room_record WHERE actor = $1 AND command_id = $2
    ORDER BY request_hash = $3 DESC, room_id LIMIT 1
"""

_OLDEST: Final = """
    SELECT room_id FROM lobby.quick_room
    WHERE rule_set = $1 AND seat_count = $2 AND free_seats > 0
    ORDER BY room_id LIMIT 1
"""

_BOUND_IN: Final = """
    SELECT room_id FROM lobby.occupancy JOIN lobby.room USING (room_id)
    WHERE player_id = $1 AND fill_ms IS NOT NULL
"""

_DUE: Final = """
    (SELECT room_id FROM lobby.quick_room WHERE free_seats = 0 ORDER BY room_id LIMIT $2)
    UNION
    (SELECT room_id FROM lobby.quick_room WHERE fill_ms <= $1 ORDER BY fill_ms LIMIT $2)
    LIMIT $2
"""


class PostgresQuickRooms:
    """`QuickRooms` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @asynccontextmanager
    async def hold(self, asked: Asked[c.QuickMatch], new_id: str) -> AsyncIterator[HeldRoom]:
        """Hold the room that is meant. See `QuickRooms.hold`."""
        terms = asked.command
        queue = f"{terms.rule_set}/{terms.seat_count}"
        async with self._connections.transaction() as connection:
            await connection.execute(_LOCK_QUEUE, _LOCK, queue)
            room_id: str | None = await connection.fetchval(_FIND_COMMAND, *_key(asked))
            if room_id is None:
                yield await _free_room(connection, terms, new_id)
            else:
                yield await HeldRoom.lock(connection, str(room_id))

    async def bound_in(self, player: str) -> str | None:
        """Return the quick match that binds somebody. See `QuickRooms.bound_in`."""
        row = await self._connections.fetchrow(_BOUND_IN, player)
        return None if row is None else str(row["room_id"])

    async def find_command(self, asked: Asked[c.LeaveRoom]) -> str | None:
        """Return where a command was accepted. See `QuickRooms.find_command`."""
        row = await self._connections.fetchrow(_FIND_COMMAND, *_key(asked))
        return None if row is None else str(row["room_id"])

    async def due(self, now_ms: int, *, limit: int) -> Sequence[str]:
        """Return what is to be filled. See `QuickRooms.due`."""
        rows = await self._connections.fetch(_DUE, now_ms, limit)
        return [str(row["room_id"]) for row in rows]


def _key(asked: Asked[c.Command]) -> tuple[str, str, bytes]:
    return asked.actor, asked.command_id, asked.request_hash


async def _free_room(connection: Connection, terms: c.QuickMatch, new_id: str) -> HeldRoom:
    """Hold the oldest room that has a free seat, or a new one."""
    for _ in range(ATTEMPTS):
        room_id = await connection.fetchval(_OLDEST, terms.rule_set, terms.seat_count)
        if room_id is None:
            break
        held = await HeldRoom.lock(connection, str(room_id))
        # While the room was waited for, its last person may have gone, or it may have started.
        if held.room is not None and _has_place(held.room):
            return held
    return await HeldRoom.lock(connection, new_id)


def _has_place(room: Room) -> bool:
    return room.state is State.WAITING and room.free_seats > 0
