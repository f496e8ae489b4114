"""Events of progress that are committed and not yet in the event log, in PostgreSQL."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from libs.eventlog.ports import Entry
from libs.eventlog.topics import PROGRESSION_EVENTS, SCHEMA, SEQUENCE, TYPE
from libs.store.connections import Connections
from opolyx.progression.v1 import progression_event_pb2 as pb

_SCHEMA_VERSION: Final = "1"


class PostgresOutbox:
    """An `Outbox`. Raises `StoreUnavailableError` as it is.

    Several replicas may empty it at once: each reads the events of a player from the first one that
    waits on, so that the first time that each is in the log is after those before it.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @asynccontextmanager
    async def batch(self, limit: int) -> AsyncIterator[Sequence[Entry]]:
        """Take the next events. See `Outbox.batch`."""
        rows = await self._connections.fetch(_WAITING, limit)
        yield [_entry(row) for row in rows]
        if rows:
            players = [row["player_id"] for row in rows]
            await self._connections.fetch(_DONE, players, [row["sequence"] for row in rows])

    async def waiting(self) -> int:
        """Return how many there are. See `Outbox.waiting`."""
        row = await self._connections.fetchrow(_SIZE)
        assert row is not None
        size: int = row["size"]
        return size


def _entry(row: Any) -> Entry:
    headers = {
        TYPE: pb.ProgressionEvent.DESCRIPTOR.full_name,
        SCHEMA: _SCHEMA_VERSION,
        SEQUENCE: str(row["sequence"]),
    }
    return Entry(
        topic=PROGRESSION_EVENTS.name, key=row["player_id"], value=row["bytes"], headers=headers
    )


_WAITING: Final = """
    SELECT player_id::text AS player_id, sequence, bytes
    FROM progression.outbox JOIN progression.player_event USING (player_id, sequence)
    ORDER BY outbox.player_id, sequence
    LIMIT $1
"""
_SIZE: Final = "SELECT count(*) AS size FROM progression.outbox"
_DONE: Final = """
    DELETE FROM progression.outbox AS o
    USING unnest($1::uuid[], $2::bigint[]) AS d (player_id, sequence)
    WHERE o.player_id = d.player_id AND o.sequence = d.sequence
"""
