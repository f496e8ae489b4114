"""The timer's tables: how far each match was read, and what was open in it then (R2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Final

import asyncpg

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId
from libs.store.connections import Connections
from services.timer.followed import Followed

SCHEMA: Final = "timer"
MIGRATIONS: Final = Path(__file__).parent / "migrations"


class FollowedMatches:
    """The matches that were read, in PostgreSQL. Raises `StoreUnavailableError` if it is away."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def load(self, match_id: MatchId) -> Followed:
        """Return how far a match was read; `Followed()` if not at all."""
        row = await self._connections.fetchrow(_LOAD, match_id)
        return _followed(row) if row is not None else Followed()

    async def save(self, matches: Mapping[MatchId, Followed]) -> None:
        """Keep positions with what follows from them, in one step; none goes back."""
        # In one order, so that two replicas never wait for each other.
        rows = [
            (
                match_id,
                followed.position.last_seq,
                followed.position.last_hash,
                json.dumps(list(followed.deadlines.items()), separators=(",", ":")),
                followed.is_frozen,
                followed.is_over,
            )
            for match_id, followed in sorted(matches.items(), key=itemgetter(0))
        ]
        if rows:
            await self._connections.fetch(_SAVE, *zip(*rows, strict=True))

    async def forget(self, match_id: MatchId) -> None:
        """Let a match be read from its first record again."""
        await self._connections.fetch(_FORGET, match_id)

    async def going_on(self) -> list[tuple[MatchId, Followed]]:
        """Return all matches that are not over."""
        rows = await self._connections.fetch(_GOING_ON)
        return [(MatchId(row["match_id"]), _followed(row)) for row in rows]


def _followed(row: asyncpg.Record) -> Followed:
    return Followed(
        Position(row["last_seq"], row["last_hash"]),
        dict(json.loads(row["deadlines"])),
        row["is_frozen"],
        row["is_over"],
    )


_LOAD: Final = """
    SELECT match_id::text AS match_id, last_seq, last_hash, deadlines, is_frozen, is_over
    FROM timer.followed_match WHERE match_id = $1
"""
_GOING_ON: Final = """
    SELECT match_id::text AS match_id, last_seq, last_hash, deadlines, is_frozen, is_over
    FROM timer.followed_match WHERE NOT is_over
"""
_FORGET: Final = "DELETE FROM timer.followed_match WHERE match_id = $1"
_SAVE: Final = "SELECT timer.follow($1, $2, $3, $4, $5, $6)"
