"""What is committed and not yet in the event log, in PostgreSQL."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from libs.kernel.ids import PlayerId
from libs.store.connections import Connections


class Unpublished(NamedTuple):
    """An event of a player's progress, in bytes, that the event log does not have yet."""

    player_id: PlayerId
    sequence: int
    data: bytes


class Outbox:
    """The events that wait. Raises `StoreUnavailableError` as it is."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def waiting(self, limit: int) -> list[Unpublished]:
        """Return events that wait, of each player the first ones in order."""
        rows = await self._connections.fetch(_WAITING, limit)
        return [Unpublished(row["player_id"], row["sequence"], row["bytes"]) for row in rows]

    async def size(self) -> int:
        """Return how many events wait."""
        row = await self._connections.fetchrow(_SIZE)
        assert row is not None
        size: int = row["size"]
        return size

    async def done(self, published: Sequence[Unpublished]) -> None:
        """Let these wait no more: they are in the log, durably."""
        players = [each.player_id for each in published]
        await self._connections.fetch(_DONE, players, [each.sequence for each in published])


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
