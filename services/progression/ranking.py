"""The leaderboard: everybody who has finished a match, by their experience."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import asyncpg

from libs.kernel.ids import PlayerId, is_uuid
from libs.store.connections import Connections


class Standpoint(NamedTuple):
    """A point in the order: the most experience first, then by player id."""

    experience: int
    player_id: str


TOP: Final = Standpoint(2**63 - 1, "00000000-0000-0000-0000-000000000000")
"""Before everybody."""

_STANDPOINT: Final = re.compile(r"([0-9]{1,18})/(.+)")


def position_of(point: Standpoint) -> str:
    """Return a standpoint as page tokens have it."""
    return "/".join(map(str, point))


def is_standpoint(position: str) -> bool:
    """Tell whether this can be the position of a standpoint."""
    found = _STANDPOINT.fullmatch(position)
    return found is not None and is_uuid(found[2])


def standpoint_of(position: str) -> Standpoint:
    """Return the standpoint of a position that `position_of` made."""
    experience, player_id = position.split("/")
    return Standpoint(int(experience), player_id)


class Ranked(NamedTuple):
    """Somebody in the order, with their *place* from 1, which people with the same share."""

    place: int
    point: Standpoint


class Leaderboard:
    """Looks at everybody's experience. Raises `StoreUnavailableError` as it is."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def page(self, after: Standpoint, limit: int) -> list[Ranked]:
        """Return those behind a point, *limit* at most, as they stand at one moment."""
        rows = await self._connections.fetch(_PAGE, after.experience, after.player_id, limit)
        return list(_ranked(rows))

    async def before(self, player_id: PlayerId, by: int) -> Standpoint | None:
        """Return a point with at most *by* people between it and a player, who comes after them.

        None if the player is not in it.
        """
        row = await self._connections.fetchrow(_BEFORE, player_id, by)
        if row is None:
            return None
        return Standpoint(row["experience"], row["player_id"]) if row["player_id"] else TOP


def _ranked(rows: Sequence[asyncpg.Record]) -> Iterator[Ranked]:
    place, last = 0, -1
    for index, row in enumerate(rows):
        experience = row["experience"]
        if not index:
            place = row["more"] + 1
        elif experience != last:
            place = row["before"] + index + 1
        last = experience
        yield Ranked(place, Standpoint(experience, row["player_id"]))


# The bound on the experience alone lets the index find its way: it falls in the order.
_PAGE: Final = """
    WITH page AS MATERIALIZED (
        SELECT experience, player_id FROM progression.profile
        WHERE sequence > 0 AND experience <= $1 AND (experience < $1 OR player_id > $2)
        ORDER BY experience DESC, player_id LIMIT $3
    ), first AS MATERIALIZED (
        SELECT experience, player_id FROM page ORDER BY experience DESC, player_id LIMIT 1
    ), ahead AS (
        SELECT count(*) AS before, count(*) FILTER (WHERE p.experience > f.experience) AS more
        FROM first AS f, progression.profile AS p
        WHERE p.sequence > 0 AND p.experience >= f.experience
            AND (p.experience > f.experience OR p.player_id < f.player_id)
    )
    SELECT page.experience, page.player_id::text AS player_id, before, more
    FROM page, ahead ORDER BY page.experience DESC, page.player_id
"""
_BEFORE: Final = """
    SELECT there.experience, there.player_id::text AS player_id
    FROM progression.profile AS here LEFT JOIN LATERAL (
        SELECT experience, player_id FROM progression.profile AS p
        WHERE p.sequence > 0 AND p.experience >= here.experience
            AND (p.experience > here.experience OR p.player_id < here.player_id)
        ORDER BY experience, player_id DESC OFFSET $2 LIMIT 1
    ) AS there ON true
    WHERE here.player_id = $1 AND here.sequence > 0
"""
