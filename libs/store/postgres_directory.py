"""The directory and the administration of the store in PostgreSQL."""

from __future__ import annotations

import asyncpg

from libs.kernel.ids import CommandId, MatchId
from libs.store import directory_statements as sql
from libs.store.access import Access, Label, Watching
from libs.store.connections import Connections
from libs.store.directory import AdminCall, KeysUsed, Listed, NewCall, Quarantined, Wanted
from libs.store.ports import Head, Status
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord


class PostgresDirectory:
    """The part of `PostgresMatchStore` that finds matches, and keeps what operators do to them."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def listed(
        self, wanted: Wanted, before: MatchId | None = None, limit: int = 1000
    ) -> list[Listed]:
        """Return matches, the newest first. See `Directory.listed`."""
        rows = await self._connections.fetch(
            sql.LISTED[_source(wanted)],
            before,
            limit,
            wanted.match_id,
            wanted.player,
            wanted.rule_set,
            list(wanted.statuses) or None,
            wanted.quarantined,
            wanted.seen_by is None,
            wanted.seen_by or None,
        )
        return [_listed(row) for row in rows]

    async def label(self, match_id: MatchId) -> Label | None:
        """Return a match's label. See `Directory.label`."""
        row = await self._connections.fetchrow(sql.LABEL, match_id)
        return None if row is None else _label(row) or Label("", (), access_of(row))

    async def unlabelled(
        self, after: MatchId | None = None, limit: int = 1000
    ) -> list[tuple[MatchId, StoredRecord]]:
        """Return the matches that lack a label. See `Directory.unlabelled`."""
        rows = await self._connections.fetch(sql.UNLABELLED, after, limit)
        return [(MatchId(row["match_id"]), _first(row)) for row in rows]

    async def put_label(self, match_id: MatchId, label: Label) -> None:
        """Label a match. See `Directory.put_label`."""
        await self._connections.fetch(sql.PUT_LABEL, match_id, *written(label))

    async def note_call(self, asked: NewCall, outcome: str = "") -> int:
        """Write down what is asked for. See `Administration.note_call`."""
        row = await self._connections.fetchrow(sql.NOTE_CALL, *asked, outcome)
        assert row is not None
        number: int = row["number"]
        return number

    async def settle_call(self, number: int, outcome: str) -> None:
        """Write down what became of it. See `Administration.settle_call`."""
        await self._connections.fetch(sql.SETTLE_CALL, number, outcome)

    async def admin_calls(
        self,
        *,
        match_id: MatchId | None = None,
        operator_id: str | None = None,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[AdminCall]:
        """Return calls, the latest first. See `Administration.admin_calls`."""
        rows = await self._connections.fetch(sql.CALLS, before, limit, match_id, operator_id)
        return [_call(row) for row in rows]

    async def quarantined(
        self, after: MatchId | None = None, limit: int = 1000, *, only: MatchId | None = None
    ) -> list[Quarantined]:
        """Return matches in quarantine. See `Administration.quarantined`."""
        rows = await self._connections.fetch(sql.QUARANTINED, after, limit, only)
        return [Quarantined(MatchId(row["match_id"]), *row[1:]) for row in rows]

    async def keys_used(self) -> KeysUsed:
        """Return the keys that were used. See `Keyring.keys_used`."""
        seals = await self._connections.fetch(sql.SEALS)
        signs = await self._connections.fetch(sql.SIGNS)
        return KeysUsed(*({row["key_id"]: row["lost"] for row in rows} for rows in (seals, signs)))


def head_of(match_id: MatchId, row: asyncpg.Record) -> Head:
    """Read a match's head."""
    signed = None
    if row["head_key_id"] is not None:
        signed = SignedHead(
            last_seq=row["seq"],
            hash=row["hash"],
            ended=True,
            key_id=row["head_key_id"],
            signature=row["head_signature"],
        )
    return Head(
        match_id=match_id,
        seq=row["seq"],
        hash=row["hash"],
        fence=row["fence"],
        status=Status(row["status"]),
        signed=signed,
        published_seq=row["published_seq"],
    )


def access_of(row: asyncpg.Record) -> Access:
    """Read who may see a match; a match without a label may be seen by everybody."""
    return Access(Watching(row["watching"] or Watching.EVERYBODY), frozenset(row["guests"]))


def written(label: Label) -> tuple[str, str, list[str], list[str]]:
    """Return a label as the functions of the database take it."""
    watching, guests = label.access.watching, sorted(label.access.guests)
    return label.rule_set, watching, list(label.players), guests


def _source(wanted: Wanted) -> str:
    """Return what a list is read by: that of which there are fewest."""
    if wanted.match_id is not None:
        return "match"
    if wanted.player is not None:
        return "player"
    if wanted.quarantined:
        return "quarantined"
    if wanted.statuses and not any(status.is_over for status in wanted.statuses):
        return "open"
    return "rule_set" if wanted.rule_set is not None else "all"


def _listed(row: asyncpg.Record) -> Listed:
    match_id = MatchId(row["match_id"])
    return Listed(head_of(match_id, row), _first(row), row["quarantined"], _label(row))


def _label(row: asyncpg.Record) -> Label | None:
    if row["rule_set"] is None:
        return None
    return Label(row["rule_set"], tuple(row["players"]), access_of(row))


def _first(row: asyncpg.Record) -> StoredRecord:
    return StoredRecord(1, row["first_last_seq"], row["first_hash"], row["first_bytes"])


def _call(row: asyncpg.Record) -> AdminCall:
    asked = NewCall(
        row["operator_id"],
        row["method"],
        MatchId(row["match_id"]) if row["match_id"] else None,
        CommandId(row["command_id"]) if row["command_id"] else None,
        row["reason"],
    )
    return AdminCall(row["number"], asked, row["at_ms"], row["outcome"])
