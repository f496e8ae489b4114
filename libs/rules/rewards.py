"""What a match pays the people who played it, once it has ended (XP-1 to XP-6).

All of it follows from the stream: `MatchEnded` tells places and groups, `SeatBankrupted` and
`SeatSurrendered` tell who is out. A net worth of 0 does not: a living seat may have nothing left.
"""

from collections.abc import Sequence
from math import isqrt
from typing import Final, NamedTuple

from libs.kernel.chance import BlockReader
from libs.rules import events as e
from libs.rules.board import Board
from libs.rules.rule_sets import RuleSet

UNPAID_ROUNDS: Final = 20
"""A match that ends in this round or earlier pays nothing (XP-1)."""
WINNER_XP: Final = 200
PLACE_XP: Final = (200, 120, 80, 60, 40, 20)
GROUP_XP: Final = 25
LIVING_XP: Final = 30

LEVEL_MAX: Final = 60
LEVEL_XP: Final = 50
LEVELS_PER_CARD: Final = 3

RANKS: Final = (
    (1, "Newcomer"),
    (10, "Trader"),
    (20, "Broker"),
    (30, "Investor"),
    (40, "Magnate"),
    (50, "Tycoon"),
)
"""Ranks by the level that each begins with (XP-4)."""

RARITY_PERCENT: Final = (
    ("common", 60),
    ("uncommon", 25),
    ("rare", 10),
    ("epic", 4),
    ("legendary", 1),
)
"""How often a dropped card has each rarity (XP-5)."""

_PERCENT: Final = 100
assert sum(percent for _, percent in RARITY_PERCENT) == _PERCENT


class Reward(NamedTuple):
    """What one seat earns: experience, and *cards* beside those that new levels drop."""

    seat: int
    experience: int
    cards: int = 0


class CardDrop(NamedTuple):
    """A collection card: the square that it belongs to, and its rarity."""

    square: int
    rarity: str


def rewards(
    ended: e.MatchEnded, specs: Sequence[e.SeatSpec], rules: RuleSet, out: Sequence[bool]
) -> tuple[Reward, ...]:
    """Return what each seat of a person earns, by seat; *out* tells who had gone out before.

    A match that ended early pays nothing (XP-1), and an aborted one has no `MatchEnded` at all.
    """
    if ended.round <= UNPAID_ROUNDS:
        return ()
    people = [seat for seat, spec in enumerate(specs) if spec.kind == e.PERSON]
    if not rules.every_seat_earns:
        return tuple(Reward(seat, WINNER_XP, cards=1) for seat in people if seat in ended.winners)
    return tuple(
        Reward(
            seat,
            PLACE_XP[_place(ended, rules, seat)]
            + GROUP_XP * ended.groups_held[seat]
            + (0 if out[seat] else LIVING_XP),
        )
        for seat in people
    )


def reward_key(match_id: str, seat: int) -> str:
    """Return the name under which a seat's reward is granted: at most once, ever (XP-6).

    It depends on nothing but the match and the seat, so every reading of the stream agrees on it.
    """
    return f"{match_id}:{seat}"


def experience_needed(level: int) -> int:
    """Return the experience that *level*, from 1 to 60, takes in all (XP-4)."""
    assert 1 <= level <= LEVEL_MAX, level
    return LEVEL_XP * level * (level - 1)


def level_of(experience: int) -> int:
    """Return the level that so much experience has reached; there is none above 60."""
    # The greatest n with n(n - 1) <= q is the floor of (1 + sqrt(1 + 4q)) / 2.
    level = (1 + isqrt(1 + 4 * (experience // LEVEL_XP))) // 2
    return min(level, LEVEL_MAX)


def rank_of(level: int) -> str:
    """Return the rank of a level, from 1."""
    assert level >= 1, level
    return next(rank for first, rank in reversed(RANKS) if level >= first)


def level_drops(before: int, after: int) -> int:
    """Return how many cards drop when experience rises: one for every third level (XP-5)."""
    return level_of(after) // LEVELS_PER_CARD - level_of(before) // LEVELS_PER_CARD


def drop_card(reader: BlockReader, board: Board) -> CardDrop:
    """Draw a card: its square evenly from all properties, then its rarity (XP-5)."""
    square = board.properties[reader.below(len(board.properties))]
    drawn = reader.below(_PERCENT)
    for rarity, percent in RARITY_PERCENT[:-1]:
        if drawn < percent:
            return CardDrop(square, rarity)
        drawn -= percent
    return CardDrop(square, RARITY_PERCENT[-1][0])


def _place(ended: e.MatchEnded, rules: RuleSet, seat: int) -> int:
    """Return a seat's place from 0; in Teams all winners are first, all others second (XP-3)."""
    if rules.teams:
        return 0 if seat in ended.winners else 1
    return ended.placing.index(seat)
