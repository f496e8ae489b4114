"""The store of matches in PostgreSQL (version 15 or newer), by asyncpg.

What is atomic is a function of the database: see the engine's migrations. One statement is one
round trip and one commit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import asyncpg

from libs.kernel.ids import CommandId, MatchId
from libs.kernel.shards import shard_of
from libs.store import statements as sql
from libs.store.access import Label
from libs.store.connections import ReplyLostError
from libs.store.ports import (
    FIRST_FENCE,
    RECORDS_MAX,
    Appended,
    Conflict,
    Created,
    Dup,
    Fenced,
    Head,
    Loaded,
    Looked,
    NewRecord,
    Ok,
    Published,
    SealedSeed,
    Snapshot,
    Status,
    Unknown,
    Wake,
)
from libs.store.postgres_directory import PostgresDirectory, access_of, head_of, written
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord


class PostgresMatchStore(PostgresDirectory):
    """An `EngineStore` over a database whose schema `match_engine` is in place."""

    async def create(
        self,
        match_id: MatchId,
        record: NewRecord,
        seed: SealedSeed,
        wake_at_ms: int | None,
        label: Label | None,
    ) -> Created:
        """Begin a match. See `MatchStore.create`."""
        first_seq, last_seq, last_hash, data = record.stored
        assert first_seq == 1, first_seq
        try:
            await self._connections.fetchrow(
                sql.CREATE,
                match_id,
                shard_of(match_id),
                last_seq,
                last_hash,
                FIRST_FENCE,
                record.command_id,
                record.request_hash,
                data,
                record.at_ms,
                wake_at_ms,
                seed.key_id,
                seed.sealed,
                *(written(label) if label is not None else (None, None, None, None)),
            )
        except ReplyLostError:
            return Unknown()
        except asyncpg.UniqueViolationError:
            return await self.find_command(match_id, record.command_id) or Conflict()
        return Ok()

    async def append(  # noqa: PLR0913 - the port of the write protocol
        self,
        match_id: MatchId,
        fence: int,
        expected_seq: int,
        record: NewRecord,
        wake_at_ms: int | None,
        *,
        status: Status = Status.LIVE,
        signed: SignedHead | None = None,
    ) -> Appended:
        """Append a record. See `MatchStore.append`."""
        first_seq, last_seq, last_hash, data = record.stored
        assert first_seq == expected_seq + 1, (first_seq, expected_seq)
        try:
            row = await self._connections.fetchrow(
                sql.APPEND,
                match_id,
                fence,
                expected_seq,
                last_seq,
                last_hash,
                record.command_id,
                record.request_hash,
                data,
                record.at_ms,
                wake_at_ms,
                status,
                signed and signed.key_id,
                signed and signed.signature,
            )
        except ReplyLostError:
            return Unknown()
        except asyncpg.UniqueViolationError:
            dup = await self.find_command(match_id, record.command_id)
            if dup is None:
                # A record lies behind the head: nothing that this port does can have put it there.
                raise
            return dup
        assert row is not None
        return _outcome(row)

    async def fence_and_load(self, match_id: MatchId, *, schema_version: int) -> Loaded | None:
        """Become the match's writer, and read it. See `MatchStore.fence_and_load`."""
        row = await self._connections.fetchrow(sql.FENCE, match_id, schema_version)
        if row is None:
            return None
        head = head_of(match_id, row)
        snapshot = None
        if row["snapshot_seq"] is not None:
            snapshot = Snapshot(
                row["snapshot_seq"],
                row["rule_set"],
                schema_version,
                row["state"],
                row["state_hash"],
            )
        # Up to the head as it was then: a newer writer may have appended in between.
        rows = await self._connections.fetch(
            sql.TAIL, match_id, snapshot.seq if snapshot else 0, head.seq
        )
        seen = await self._connections.fetchrow(sql.ACCESS, match_id)
        assert seen is not None
        return Loaded(
            head=head,
            snapshot=snapshot,
            records=[_stored(found) for found in rows],
            wake_at_ms=row["wake_at_ms"],
            quarantined=row["quarantined"],
            access=access_of(seen),
        )

    async def look(
        self, match_id: MatchId, fence: int, expected_seq: int, wake_at_ms: int | None
    ) -> Looked:
        """Set the wake-up bound after a look. See `MatchStore.look`."""
        try:
            row = await self._connections.fetchrow(
                sql.LOOK, match_id, fence, expected_seq, wake_at_ms
            )
        except ReplyLostError:
            return Unknown()
        assert row is not None
        outcome = _outcome(row)
        assert not isinstance(outcome, Dup)
        return outcome

    async def find_command(self, match_id: MatchId, command_id: CommandId) -> Dup | None:
        """Return an accepted command's reply. See `MatchStore.find_command`."""
        row = await self._connections.fetchrow(sql.FIND_COMMAND, match_id, command_id)
        return None if row is None else Dup(row["last_seq"], row["hash"], row["request_hash"])

    async def head(self, match_id: MatchId) -> Head | None:
        """Return a match's head. See `MatchStore.head`."""
        row = await self._connections.fetchrow(sql.HEAD, match_id)
        return None if row is None else head_of(match_id, row)

    async def open_heads(self, shards: Collection[int]) -> list[Head]:
        """Return what goes on or is not wholly published. See `MatchStore.open_heads`."""
        rows = await self._connections.fetch(sql.OPEN_HEADS, list(shards))
        return [head_of(MatchId(row["match_id"]), row) for row in rows]

    async def match_ids(self, after: MatchId | None = None, limit: int = 1000) -> list[MatchId]:
        """Return a page of ids. See `MatchStore.match_ids`."""
        rows = await self._connections.fetch(sql.MATCH_IDS, after, limit)
        return [MatchId(row["match_id"]) for row in rows]

    async def records(
        self, match_id: MatchId, after_seq: int, limit: int = RECORDS_MAX
    ) -> list[StoredRecord]:
        """Return records from a sequence on. See `MatchStore.records`."""
        rows = await self._connections.fetch(sql.RECORDS, match_id, after_seq, limit)
        return [_stored(row) for row in rows]

    async def snapshot(
        self, match_id: MatchId, seq: int, *, schema_version: int
    ) -> Snapshot | None:
        """Return the newest snapshot at or before *seq*. See `MatchStore.snapshot`."""
        row = await self._connections.fetchrow(sql.SNAPSHOT, match_id, seq, schema_version)
        return None if row is None else Snapshot(*row)

    async def put_snapshot(self, match_id: MatchId, snapshot: Snapshot) -> None:
        """Keep a snapshot. See `MatchStore.put_snapshot`."""
        await self._connections.fetch(sql.PUT_SNAPSHOT, match_id, *snapshot)

    async def seed(self, match_id: MatchId) -> SealedSeed | None:
        """Return a match's sealed seed. See `MatchStore.seed`."""
        row = await self._connections.fetchrow(sql.SEED, match_id)
        return None if row is None else SealedSeed(*row)

    async def wakes_due(self, shards: Collection[int], by_ms: int, limit: int) -> list[Wake]:
        """Return the matches to be looked at. See `MatchStore.wakes_due`."""
        rows = await self._connections.fetch(sql.WAKES_DUE, list(shards), by_ms, limit)
        return [Wake(MatchId(row["match_id"]), row["wake_at_ms"]) for row in rows]

    async def set_published(self, positions: Sequence[Published]) -> None:
        """Move published positions on. See `MatchStore.set_published`."""
        # In one order for all, so that two publishers cannot hold each other up.
        ordered = sorted(positions)
        await self._connections.fetch(
            sql.SET_PUBLISHED,
            [position.match_id for position in ordered],
            [position.seq for position in ordered],
            [position.complete for position in ordered],
        )

    async def admit(self, match_id: MatchId, fence: int, player_id: str) -> Ok | Fenced:
        """Add a guest. See `MatchStore.admit`."""
        row = await self._connections.fetchrow(sql.ADMIT, match_id, fence, player_id)
        assert row is not None
        return Ok() if row["outcome"] == "ok" else Fenced()

    async def quarantine(self, match_id: MatchId, reason: str) -> None:
        """Mark a match that does not check out. See `MatchStore.quarantine`."""
        await self._connections.fetch(sql.QUARANTINE, match_id, reason)

    async def release(self, match_id: MatchId) -> None:
        """Take a match out of quarantine. See `MatchStore.release`."""
        await self._connections.fetch(sql.RELEASE, match_id)

    async def now_ms(self) -> int:
        """Return the database's time. See `MatchStore.now_ms`."""
        row = await self._connections.fetchrow(sql.NOW_MS)
        assert row is not None
        now_ms: int = row["now_ms"]
        return now_ms


def _outcome(row: asyncpg.Record) -> Ok | Dup | Conflict | Fenced:
    match row["outcome"]:
        case "ok":
            return Ok()
        case "dup":
            return Dup(row["last_seq"], row["hash"], row["request_hash"])
        case "fenced":
            return Fenced()
        case outcome:
            assert outcome == "conflict", outcome
            return Conflict()


def _stored(row: asyncpg.Record) -> StoredRecord:
    return StoredRecord(*row)
