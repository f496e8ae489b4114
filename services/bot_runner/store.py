"""The bot runner's tables: which seats it plays, and how far it has read each match (R2)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId
from libs.store.connections import Connection, Connections
from services.bot_runner.ports import Seats

SCHEMA: Final = "bot_runner"
MIGRATIONS: Final = Path(__file__).parent / "migrations"


class BotSeats:
    """A `BotSeatStore` in PostgreSQL. Raises `StoreUnavailableError` if it is away."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def take(self, match_id: MatchId, seats: Seats) -> None:
        """Play these seats from now on; those that are played already stay as they are.

        Durable when it returns. Nothing happens where the match is done.
        """
        async with self._connections.transaction() as connection:
            await connection.execute(_BEGIN, match_id)
            await connection.execute(_TAKE, match_id, list(seats), list(seats.values()))

    async def going_on(self) -> dict[MatchId, dict[int, str]]:
        """Return all matches that are not done, in the order in which they were made."""
        matches: dict[MatchId, dict[int, str]] = {}
        for row in await self._connections.fetch(_GOING_ON):
            matches.setdefault(MatchId(row["match_id"]), {})[row["seat"]] = row["strength"]
        return matches

    async def finish(self, match_id: MatchId) -> None:
        """Be done with a match, for good."""
        await self._connections.fetch(_FINISH, match_id)

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match has been read in the log, from the start if not at all."""
        row = await self._connections.fetchrow(_POSITION, match_id)
        return Position(row["last_seq"], row["last_hash"]) if row is not None else Position()

    async def learn(self, match_id: MatchId, position: Position, seats: Seats) -> None:
        """Take the seats that the match's first record names, and move the position (R2)."""
        async with self._connections.transaction() as connection:
            await connection.execute(_BEGIN, match_id)
            await connection.execute(_CORRECT, match_id, list(seats), list(seats.values()))
            await _move(connection, match_id, position)

    async def learn_end(self, match_id: MatchId, position: Position) -> None:
        """Be done with a match whose last record this is, and move the position (R2)."""
        async with self._connections.transaction() as connection:
            await connection.execute(_FINISH, match_id)
            await _move(connection, match_id, position)

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Move matches on over records that had no effect; one that is further stays there."""
        # In one order, so that two of these never wait for each other.
        moved = sorted(positions.items())
        await self._connections.fetch(
            _MOVE,
            [match_id for match_id, _ in moved],
            [position.last_seq for _, position in moved],
            [position.last_hash for _, position in moved],
        )

    async def forget(self, match_id: MatchId) -> None:
        """Let a match be read from its first record again. Its seats stay."""
        await self._connections.fetch(_FORGET, match_id)


async def _move(connection: Connection, match_id: MatchId, position: Position) -> None:
    await connection.execute(_GO_ON, match_id, position.last_seq, position.last_hash)


_BEGIN: Final = """
    INSERT INTO bot_runner.played_match (match_id) VALUES ($1) ON CONFLICT (match_id) DO NOTHING
"""
_TAKE: Final = """
    INSERT INTO bot_runner.bot_seat (match_id, seat, strength)
    SELECT $1, seat, strength FROM unnest($2::smallint[], $3::text[]) AS s (seat, strength)
    ON CONFLICT (match_id, seat) DO NOTHING
"""
_CORRECT: Final = """
    INSERT INTO bot_runner.bot_seat (match_id, seat, strength)
    SELECT $1, seat, strength FROM unnest($2::smallint[], $3::text[]) AS s (seat, strength)
    ON CONFLICT (match_id, seat) DO UPDATE SET strength = EXCLUDED.strength
"""
_GOING_ON: Final = """
    SELECT s.match_id::text AS match_id, s.seat, s.strength
    FROM bot_runner.played_match AS m JOIN bot_runner.bot_seat AS s USING (match_id)
    WHERE NOT m.is_done
    ORDER BY s.match_id, s.seat
"""
_FINISH: Final = """
    UPDATE bot_runner.played_match SET is_done = true WHERE match_id = $1 AND NOT is_done
"""
_POSITION: Final = """
    SELECT last_seq, last_hash FROM bot_runner.match_position WHERE match_id = $1
"""
_GO_ON: Final = """
    INSERT INTO bot_runner.match_position AS p VALUES ($1, $2, $3)
    ON CONFLICT (match_id) DO UPDATE
    SET last_seq = EXCLUDED.last_seq, last_hash = EXCLUDED.last_hash
    WHERE p.last_seq < EXCLUDED.last_seq
"""
_MOVE: Final = "SELECT bot_runner.move($1::uuid[], $2::bigint[], $3::bytea[])"
_FORGET: Final = "DELETE FROM bot_runner.match_position WHERE match_id = $1"
