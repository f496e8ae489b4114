"""What the lobby's tables keep for the event log."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from libs.eventlog.ports import Entry
from libs.eventlog.topics import LOBBY_EVENTS, SCHEMA, SEQUENCE, TYPE
from libs.store.connections import Connections
from libs.telemetry import traces
from opolyx.lobby.v1 import lobby_event_pb2 as pb
from services.lobby import statements as sql

_SCHEMA_VERSION: Final = "1"


class PostgresOutbox:
    """An `Outbox` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @asynccontextmanager
    async def batch(self, limit: int) -> AsyncIterator[Sequence[Entry]]:
        """Take the next entries. See `Outbox.batch`."""
        async with self._connections.transaction() as connection:
            # One replica at a time, or records of one room could overtake each other.
            if not await connection.fetchval(sql.TRY_OUTBOX):
                yield ()
                return
            rows = await connection.fetch(sql.NEXT_ENTRIES, limit)
            yield [_entry(row) for row in rows]
            if rows:
                await connection.execute(sql.REMOVE_ENTRIES, [row["position"] for row in rows])

    async def waiting(self) -> int:
        """Return how many there are. See `Outbox.waiting`."""
        row = await self._connections.fetchrow(sql.COUNT_ENTRIES)
        assert row is not None
        waiting: int = row["waiting"]
        return waiting


def _entry(row: Any) -> Entry:
    headers = {
        TYPE: pb.RoomRecord.DESCRIPTOR.full_name,
        SCHEMA: _SCHEMA_VERSION,
        SEQUENCE: str(row["sequence"]),
    }
    if row["traceparent"]:
        headers[traces.TRACEPARENT] = row["traceparent"]
    return Entry(
        topic=LOBBY_EVENTS.name, key=str(row["room_id"]), value=row["record"], headers=headers
    )
