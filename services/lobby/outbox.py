"""What the lobby's tables keep for and from the event log: its outbox, and its place in matches."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from libs.eventlog.following import Position
from libs.eventlog.ports import Entry
from libs.eventlog.topics import LOBBY_EVENTS, SCHEMA, SEQUENCE, TYPE
from libs.kernel.ids import MatchId
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


class PostgresOccupancy:
    """An `Occupancy` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match is read. See `Occupancy.position`."""
        row = await self._connections.fetchrow(sql.POSITION, match_id)
        return Position() if row is None else Position(row["last_seq"], row["last_hash"])

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Note how far matches are read. See `Occupancy.move`."""
        # In one order, so that two replicas never wait for each other.
        moved = sorted(positions.items())
        await self._connections.fetch(
            sql.MOVE,
            [match_id for match_id, _ in moved],
            [position.last_seq for _, position in moved],
            [position.last_hash for _, position in moved],
        )

    async def free(
        self, match_id: MatchId, seats: Collection[int] | None, position: Position
    ) -> None:
        """Free people. See `Occupancy.free`."""
        wanted = None if seats is None else list(seats)
        await self._connections.fetch(
            sql.FREE, match_id, wanted, position.last_seq, position.last_hash
        )

    async def forget(self, match_id: MatchId) -> None:
        """Forget how far a match is read. See `Occupancy.forget`."""
        await self._connections.fetch(sql.FORGET, match_id)


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
