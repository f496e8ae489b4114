"""Who plays and played which match, in PostgreSQL: the schema `lobby`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId
from libs.store.connections import Connections
from services.lobby.history import Fate, Outcome, Played
from services.lobby.store import room_of

_POSITION: Final = "SELECT last_seq, last_hash FROM lobby.followed_match WHERE match_id = $1"

_FORGET: Final = "DELETE FROM lobby.followed_match WHERE match_id = $1"

_MOVE: Final = """
    INSERT INTO lobby.followed_match AS known (match_id, last_seq, last_hash)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[])
    ON CONFLICT (match_id) DO UPDATE
    SET last_seq = excluded.last_seq, last_hash = excluded.last_hash
    WHERE known.last_seq < excluded.last_seq
"""

_AND_MOVE: Final = """
    INSERT INTO lobby.followed_match AS known (match_id, last_seq, last_hash) VALUES ($1, $2, $3)
    ON CONFLICT (match_id) DO UPDATE
    SET last_seq = excluded.last_seq, last_hash = excluded.last_hash
    WHERE known.last_seq < excluded.last_seq
"""

_PUT_OUT: Final = f"""
    WITH freed AS (
        DELETE FROM lobby.occupancy WHERE match_id = $1 AND match_seat = ANY ($5::int[])
    ), told AS (
        UPDATE lobby.player_match SET outcome = 'lost', ended_ms = $4
        WHERE match_id = $1 AND seat = ANY ($5::int[]) AND outcome = 'playing'
    )
    {_AND_MOVE}
"""  # noqa: S608 - of constants

_END: Final = f"""
    WITH freed AS (
        DELETE FROM lobby.occupancy WHERE match_id = $1
    ), told AS (
        UPDATE lobby.player_match AS played
        SET outcome = fate.outcome, place = fate.place, ended_ms = coalesce(played.ended_ms, $4)
        FROM unnest($5::int[], $6::text[], $7::int[]) AS fate (seat, outcome, place)
        WHERE played.match_id = $1 AND played.seat = fate.seat
    )
    {_AND_MOVE}
"""  # noqa: S608 - likewise

_ABORT: Final = f"""
    WITH freed AS (
        DELETE FROM lobby.occupancy WHERE match_id = $1
    ), told AS (
        UPDATE lobby.player_match SET outcome = 'aborted', ended_ms = $4
        WHERE match_id = $1 AND outcome = 'playing'
    )
    {_AND_MOVE}
"""  # noqa: S608 - likewise

_OF: Final = """
    SELECT played.*, room.facts, room.stored, room.changed_ms
    FROM lobby.player_match AS played JOIN lobby.room AS room USING (room_id)
    WHERE played.player_id = $1 AND ($2::uuid IS NULL OR played.match_id < $2)
    ORDER BY played.match_id DESC LIMIT $3
"""


class PostgresOutcomes:
    """`Outcomes` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match is read. See `Outcomes.position`."""
        row = await self._connections.fetchrow(_POSITION, match_id)
        return Position() if row is None else Position(row["last_seq"], row["last_hash"])

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Note how far matches are read. See `Outcomes.move`."""
        # In one order, so that two replicas never wait for each other.
        moved = sorted(positions.items())
        await self._connections.fetch(
            _MOVE,
            [match_id for match_id, _ in moved],
            [position.last_seq for _, position in moved],
            [position.last_hash for _, position in moved],
        )

    async def put_out(
        self, match_id: MatchId, seats: Collection[int], at_ms: int, position: Position
    ) -> None:
        """Free who has lost. See `Outcomes.put_out`."""
        await self._connections.fetch(_PUT_OUT, match_id, *_values(position), at_ms, list(seats))

    async def end(
        self, match_id: MatchId, fates: Sequence[Fate], at_ms: int, position: Position
    ) -> None:
        """Free everybody after a match. See `Outcomes.end`."""
        columns: tuple[list[Any], ...] = (
            [fate.seat for fate in fates],
            [fate.outcome for fate in fates],
            [fate.place for fate in fates],
        )
        await self._connections.fetch(_END, match_id, *_values(position), at_ms, *columns)

    async def abort(self, match_id: MatchId, at_ms: int, position: Position) -> None:
        """Free everybody of a match that was aborted. See `Outcomes.abort`."""
        await self._connections.fetch(_ABORT, match_id, *_values(position), at_ms)

    async def forget(self, match_id: MatchId) -> None:
        """Forget how far a match is read. See `Outcomes.forget`."""
        await self._connections.fetch(_FORGET, match_id)


class PostgresHistory:
    """`History` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def of(self, player: str, *, before: str | None, limit: int) -> Sequence[Played]:
        """Return somebody's matches. See `History.of`."""
        return [_played(row) for row in await self._connections.fetch(_OF, player, before, limit)]


def _values(position: Position) -> tuple[int, bytes]:
    return position.last_seq, position.last_hash


def _played(row: Any) -> Played:
    room = room_of(row)
    return Played(
        match_id=str(row["match_id"]),
        room_id=room.room_id,
        rule_set=room.rule_set,
        seat=row["seat"],
        # Of a room that has become a match nothing changes any more.
        seats=tuple(spec for spec in room.table if spec is not None),
        outcome=Outcome(row["outcome"]),
        place=row["place"],
        started_ms=row["started_ms"],
        ended_ms=row["ended_ms"],
    )
