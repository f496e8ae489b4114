"""The read model of profiles and cards, in PostgreSQL, written with the events that it follows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import asyncpg

from libs.kernel.ids import PlayerId
from libs.store.connections import Connections

RECENT: Final = 20
"""How many of the last rewards a profile shows."""


@dataclass(frozen=True, slots=True)
class Card:
    """A collection card; *rarity* is its number on the wire, *reward_key* what it came with."""

    square: int
    rarity: int
    sequence: int
    reward_key: str
    match_id: str
    dropped_ms: int

    @property
    def place(self) -> "CardPlace":
        """Where it stands among the cards of its owner."""
        return CardPlace(self.square, self.rarity, self.sequence)


class CardPlace(NamedTuple):
    """A place in somebody's cards: by square, the best first, the oldest first of equal ones."""

    square: int
    rarity: int
    sequence: int


BEFORE_ALL: Final = CardPlace(-1, 0, 0)

_PLACE: Final = re.compile(r"[0-9]{1,3}/[0-9]/[0-9]{1,18}")


def position_of(place: CardPlace) -> str:
    """Return a place as page tokens have it."""
    return "/".join(map(str, place))


def is_place(position: str) -> bool:
    """Tell whether this can be the position of a place."""
    return _PLACE.fullmatch(position) is not None


def place_of(position: str) -> CardPlace:
    """Return the place of a position that `position_of` made."""
    return CardPlace(*map(int, position.split("/")))


@dataclass(frozen=True, slots=True)
class Granted:
    """A reward that was granted, with its cards in the order in which they dropped."""

    match_id: str
    seat: int
    experience: int
    granted_ms: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """Somebody's progress after *sequence* events; all of it zero for somebody without any."""

    player_id: PlayerId
    sequence: int = 0
    experience: int = 0
    card_count: int = 0
    recent: Sequence[Granted] = ()


class Profiles:
    """Looks at what people have earned. Raises `StoreUnavailableError` as it is."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def sequence(self, player_id: PlayerId) -> int:
        """Return how many events somebody's progress has."""
        row = await self._connections.fetchrow(_PROFILE, player_id)
        return row["sequence"] if row is not None else 0

    async def moved(self, known: Mapping[PlayerId, int]) -> list[tuple[PlayerId, int]]:
        """Return whose progress has more events than are *known*, and how many it has."""
        rows = await self._connections.fetch(_MOVED, list(known), list(known.values()))
        return [(PlayerId(row["player_id"]), row["sequence"]) for row in rows]

    async def progress(self, player_id: PlayerId) -> Progress:
        """Return somebody's progress, as it is at one sequence."""
        row = await self._connections.fetchrow(_PROFILE, player_id)
        if row is None:
            return Progress(player_id)
        # Whatever was granted since has a higher sequence, and is left for the next look.
        sequence = row["sequence"]
        rewards = await self._connections.fetch(_RECENT, player_id, sequence, RECENT)
        keys = [reward["reward_key"] for reward in rewards]
        cards = [_card(each) for each in await self._connections.fetch(_CARDS_OF, keys)]
        recent = [
            Granted(
                reward["match_id"],
                reward["seat"],
                reward["experience"],
                reward["granted_ms"],
                tuple(card for card in cards if card.reward_key == reward["reward_key"]),
            )
            for reward in rewards
        ]
        return Progress(player_id, sequence, row["experience"], row["card_count"], recent)

    async def cards(self, player_id: PlayerId, after: CardPlace, limit: int) -> list[Card]:
        """Return somebody's cards behind a place, *limit* at most."""
        rows = await self._connections.fetch(
            _CARDS, player_id, after.square, after.rarity, after.sequence, limit
        )
        return [_card(row) for row in rows]


def _card(row: asyncpg.Record) -> Card:
    return Card(
        row["square"],
        row["rarity"],
        row["sequence"],
        row["reward_key"],
        row["match_id"],
        row["dropped_ms"],
    )


_PROFILE: Final = """
    SELECT sequence, experience, card_count FROM progression.profile WHERE player_id = $1
"""
_MOVED: Final = """
    SELECT player_id::text AS player_id, p.sequence
    FROM unnest($1::uuid[], $2::bigint[]) AS known (player_id, sequence)
        JOIN progression.profile AS p USING (player_id)
    WHERE p.sequence > known.sequence
"""
_RECENT: Final = """
    SELECT reward_key, match_id::text AS match_id, seat, experience, granted_ms
    FROM progression.reward WHERE player_id = $1 AND sequence <= $2
    ORDER BY sequence DESC LIMIT $3
"""
_CARDS_OF: Final = """
    SELECT square, rarity, sequence, reward_key, match_id::text AS match_id, dropped_ms
    FROM progression.card WHERE reward_key = ANY ($1) ORDER BY sequence
"""
# The bound on the square alone lets the index find its way: rarity falls in the order.
_CARDS: Final = """
    SELECT square, rarity, sequence, reward_key, match_id::text AS match_id, dropped_ms
    FROM progression.card
    WHERE player_id = $1 AND square >= $2
        AND (square > $2 OR rarity < $3 OR rarity = $3 AND sequence > $4)
    ORDER BY square, rarity DESC, sequence LIMIT $5
"""
