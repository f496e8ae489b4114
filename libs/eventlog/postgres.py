"""The local log's entries in PostgreSQL, so that a restart loses nothing.

The schema is `event_log`. No service owns it: it is the log, and the port is the way to it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import asyncpg

from libs.eventlog.ports import Delivery, Entry, LogUnavailableError
from libs.eventlog.storage import Place, share_of
from libs.eventlog.topics import partition_of
from libs.store.connections import Connections
from libs.store.ports import StoreUnavailableError

_APPEND: Final = "SELECT * FROM event_log.append($1, $2, $3, $4, $5, $6)"

_ENDS: Final = """
    SELECT topic, partition, next_offset FROM event_log.partition_end WHERE topic = ANY ($1)
"""

_READ: Final = """
    SELECT e.topic, e.partition, e."offset", e.key, e.value, e.headers::text AS headers, e.at_ms
    FROM unnest($1::text[], $2::int[], $3::bigint[])
        WITH ORDINALITY AS p (topic, partition, next_offset, place)
    CROSS JOIN LATERAL (
        SELECT * FROM event_log.entry AS inner_entry
        WHERE inner_entry.topic = p.topic
            AND inner_entry.partition = p.partition
            AND inner_entry."offset" >= p.next_offset
        ORDER BY inner_entry."offset"
        LIMIT $4
    ) AS e
    ORDER BY p.place, e."offset"
"""

_COMMIT: Final = "SELECT event_log.commit_positions($1, $2, $3, $4)"

_COMMITTED: Final = """
    SELECT topic, partition, next_offset FROM event_log.group_position
    WHERE group_name = $1 AND topic = ANY ($2)
"""

SCHEMA: Final = "event_log"

MIGRATIONS: Final = Path(__file__).parent / "migrations"
"""The files that make the schema, for `libs.store.migrate`."""


class PostgresLogStorage:
    """A `LogStorage` in PostgreSQL, over connections that belong to somebody else."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def append(self, entries: Sequence[Entry], *, at_ms: int) -> Mapping[Place, int]:
        """See `LogStorage.append`. One statement, one commit."""
        return _places(
            await self._fetch(
                _APPEND,
                [entry.topic for entry in entries],
                [partition_of(entry.key) for entry in entries],
                [entry.key for entry in entries],
                [entry.value for entry in entries],
                [json.dumps(dict(entry.headers)) for entry in entries],
                at_ms,
            )
        )

    async def ends(self, topics: Sequence[str]) -> Mapping[Place, int]:
        """See `LogStorage.ends`."""
        return _places(await self._fetch(_ENDS, list(topics)))

    async def read(self, positions: Mapping[Place, int], *, limit: int) -> Sequence[Delivery]:
        """See `LogStorage.read`."""
        share = share_of(limit, len(positions))
        rows = await self._fetch(_READ, *_columns(positions), share)
        return [_delivery(row) for row in rows]

    async def commit(self, group: str, positions: Mapping[Place, int]) -> None:
        """See `LogStorage.commit`."""
        await self._fetch(_COMMIT, group, *_columns(positions))

    async def committed(self, group: str, topics: Sequence[str]) -> Mapping[Place, int]:
        """See `LogStorage.committed`."""
        return _places(await self._fetch(_COMMITTED, group, list(topics)))

    async def _fetch(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        try:
            return await self._connections.fetch(statement, *values)
        except StoreUnavailableError as error:
            raise LogUnavailableError(str(error)) from error


def _columns(positions: Mapping[Place, int]) -> tuple[list[str], list[int], list[int]]:
    topics = [place.topic for place in positions]
    partitions = [place.partition for place in positions]
    return topics, partitions, list(positions.values())


def _places(rows: Sequence[asyncpg.Record]) -> Mapping[Place, int]:
    return {Place(row["topic"], row["partition"]): row["next_offset"] for row in rows}


def _delivery(row: asyncpg.Record) -> Delivery:
    entry = Entry(
        topic=row["topic"],
        key=row["key"],
        value=row["value"],
        headers=json.loads(row["headers"]),
    )
    return Delivery(
        entry=entry, partition=row["partition"], offset=row["offset"], at_ms=row["at_ms"]
    )
