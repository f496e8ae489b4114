"""Who serves which shard, in PostgreSQL. See `libs.store.ownership`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from libs.store.connections import Connection, Connections
from libs.store.ownership import Assignment, Lease, Outage, fair_shares

_LOCK: Final = 0x6F706F6C79780002  # "opolyx", 2

_FORGET_AFTER_MS: Final = 24 * 60 * 60 * 1000
"""A lease that lapsed so long ago and has no shard left says nothing any more."""


class PostgresOwnership:
    """An `Ownership` over a database whose schema `match_engine` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def take_lease(self, instance: str, address: str, ttl_ms: int) -> Lease:
        """Begin to live under a name. See `Ownership.take_lease`."""
        async with self._alone() as connection:
            now_ms = await connection.fetchval(_NOW)
            # Before the lease is renewed: its last renewal is where the outages begin.
            await connection.execute(_RETAKE, instance, now_ms)
            epoch = await connection.fetchval(_TAKE, instance, address, now_ms, now_ms + ttl_ms)
        return Lease(instance=instance, address=address, epoch=epoch, expires_at_ms=now_ms + ttl_ms)

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease | None:
        """Live on. See `Ownership.renew_lease`."""
        row = await self._connections.fetchrow(_RENEW, lease.instance, lease.epoch, ttl_ms)
        if row is None:
            return None
        return Lease(
            instance=lease.instance,
            address=lease.address,
            epoch=lease.epoch,
            expires_at_ms=row["expires_at_ms"],
        )

    async def release_lease(self, lease: Lease) -> None:
        """End in good order. See `Ownership.release_lease`."""
        # A renewal for no time at all: the outage begins here, and everybody sees it.
        await self._connections.fetchrow(_RENEW, lease.instance, lease.epoch, 0)

    async def claim_shards(self, lease: Lease) -> frozenset[int] | None:
        """Take the caller's fair share. See `Ownership.claim_shards`."""
        async with self._alone() as connection:
            now_ms = await connection.fetchval(_NOW)
            await connection.execute(_FORGET, now_ms - _FORGET_AFTER_MS)
            living = {
                row["instance"]: row["epoch"] for row in await connection.fetch(_LIVING, now_ms)
            }
            if living.get(lease.instance) != lease.epoch:
                return None
            holders = {row["shard"]: row["instance"] for row in await connection.fetch(_HOLDERS)}
            shares = fair_shares(living, holders)
            wanted = {shard for shard, name in shares.items() if name == lease.instance}
            held = {shard for shard, name in holders.items() if name == lease.instance}
            taken = sorted(wanted - held)
            if taken:
                orphaned = [shard for shard in taken if holders.get(shard, "") not in living]
                await connection.execute(_ADD_OUTAGES, orphaned, now_ms)
                await connection.execute(_ASSIGN, taken, lease.instance)
        return frozenset(wanted | held)

    async def assignments(self) -> list[Assignment]:
        """Return the shards whose engine lives. See `Ownership.assignments`."""
        return [Assignment(*row) for row in await self._connections.fetch(_ASSIGNMENTS)]

    async def outages(self, shard: int, after: int = 0) -> list[Outage]:
        """Return a shard's outages. See `Ownership.outages`."""
        return [Outage(*row) for row in await self._connections.fetch(_OUTAGES, shard, after)]

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[Connection]:
        """Begin a transaction that no other taking of leases or shards runs beside."""
        async with self._connections.transaction() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            yield connection


_NOW: Final = "SELECT match_engine.now_ms()"

_TAKE: Final = """
    INSERT INTO match_engine.engine_lease AS l VALUES ($1, $2, 1, $3, $4)
    ON CONFLICT (instance) DO UPDATE
    SET address = excluded.address, epoch = l.epoch + 1,
        renewed_at_ms = excluded.renewed_at_ms, expires_at_ms = excluded.expires_at_ms
    RETURNING epoch
"""

# Locks only its own row: a thousand renewals never wait for one taking.
_RENEW: Final = """
    UPDATE match_engine.engine_lease SET renewed_at_ms = now_ms, expires_at_ms = now_ms + $3::bigint
    FROM match_engine.now_ms()
    WHERE instance = $1 AND epoch = $2 AND expires_at_ms > now_ms
    RETURNING expires_at_ms
"""

_RETAKE: Final = """
    WITH shards AS (
        UPDATE match_engine.shard_assignment SET epoch = epoch + 1
        WHERE instance = $1 RETURNING shard
    )
    INSERT INTO match_engine.shard_outage
    SELECT shard, match_engine.next_outage(shard), renewed_at_ms, greatest($2, renewed_at_ms)
    FROM shards, match_engine.engine_lease WHERE instance = $1
"""

_ADD_OUTAGES: Final = """
    INSERT INTO match_engine.shard_outage
    SELECT shard, match_engine.next_outage(shard), renewed_at_ms, greatest($2, renewed_at_ms)
    FROM match_engine.shard_assignment JOIN match_engine.engine_lease USING (instance)
    WHERE shard = ANY($1::smallint[])
"""

_ASSIGN: Final = """
    INSERT INTO match_engine.shard_assignment AS a
    SELECT shard, $2, 1 FROM unnest($1::smallint[]) AS shard
    ON CONFLICT (shard) DO UPDATE SET instance = excluded.instance, epoch = a.epoch + 1
"""

_FORGET: Final = """
    DELETE FROM match_engine.engine_lease l WHERE expires_at_ms < $1
    AND NOT EXISTS (SELECT 1 FROM match_engine.shard_assignment a WHERE a.instance = l.instance)
"""

_LIVING: Final = "SELECT instance, epoch FROM match_engine.engine_lease WHERE expires_at_ms > $1"

_HOLDERS: Final = "SELECT shard, instance FROM match_engine.shard_assignment"

_ASSIGNMENTS: Final = """
    SELECT shard, instance, address, a.epoch
    FROM match_engine.shard_assignment a JOIN match_engine.engine_lease USING (instance)
    WHERE expires_at_ms > match_engine.now_ms() ORDER BY shard
"""

_OUTAGES: Final = """
    SELECT n, from_ms, to_ms FROM match_engine.shard_outage
    WHERE shard = $1 AND n > $2 ORDER BY n
"""
