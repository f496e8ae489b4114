"""Which rooms have changed, from PostgreSQL: the schema `lobby`."""

from collections.abc import Sequence
from typing import Final

from libs.store.connections import Connections
from services.lobby import statements as sql
from services.lobby.feed import Changed
from services.lobby.room import Room
from services.lobby.store import room_of

# The oldest transaction that has not ended: whatever is not seen now was changed by it or by a
# later one. They are counted up for ever, so a number is never used again.
_CURSOR: Final = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS cursor"

# One statement, so that the rooms and the cursor are of one and the same moment.
_CHANGED: Final = """
    SELECT here.cursor, room.room_id, room.facts, room.stored, room.changed_ms
    FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS cursor) AS here
    LEFT JOIN lobby.room AS room ON room.changed_by >= $1::bigint::text::xid8
    LIMIT $2
"""

_FIND_ALL: Final = """
    SELECT facts, stored, changed_ms FROM lobby.room WHERE room_id = ANY ($1::uuid[])
"""


class PostgresChanges:
    """`Changes` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def cursor(self) -> int:
        """Return where a look begins. See `Changes.cursor`."""
        row = await self._connections.fetchrow(_CURSOR)
        assert row is not None
        cursor: int = row["cursor"]
        return cursor

    async def changed(self, cursor: int, *, limit: int) -> Changed:
        """Return what has changed since a look. See `Changes.changed`."""
        rows = await self._connections.fetch(_CHANGED, cursor, limit)
        rooms = [room_of(row) for row in rows if row["room_id"] is not None]
        return Changed(rooms, rows[0]["cursor"])

    async def find_all(self, room_ids: Sequence[str]) -> Sequence[Room]:
        """Return rooms. See `Changes.find_all`."""
        if not room_ids:
            return ()
        return [room_of(row) for row in await self._connections.fetch(_FIND_ALL, room_ids)]

    async def listed(self, *, rule_set: str, before: str | None, limit: int) -> Sequence[Room]:
        """Return waiting rooms. See `Rooms.listed`."""
        rows = await self._connections.fetch(sql.LISTED, rule_set, before, limit)
        return [room_of(row) for row in rows]
