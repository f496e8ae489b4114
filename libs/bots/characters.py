"""How bots differ: one set of decisions, weighed by numbers."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Character:
    """What somebody holds dear, and how far they go for it. Money in whole units."""

    whole_percent: int
    """What owning a whole group adds to its properties, in percent of their list prices."""
    near_percent: int
    """What owning all but one adds."""
    danger_percent: int
    """What a rival's whole group takes off one's own position, of its list prices."""
    cushion: int
    """Cash up to this is worth half as much again: it is what the next rent is paid from."""

    purchase_reserve: int
    """Cash to keep when buying what completes nothing, at list price or in an auction."""
    building_reserve: int
    """Cash to keep when building and redeeming."""
    bid_percent: int
    """How high it bids, in percent of what the property is worth to it."""

    proposes_every: int
    """It thinks about a trade at one moment in so many, and about its mortgages as often."""
    generosity_percent: int
    """The share of a trade's gain that it leaves to the other side."""

    bets_every: int
    """It bets the jackpot in one turn of so many."""
    stays_from_rent: int
    """It stays in jail when rivals ask such a rent somewhere."""
    sells_levels_first: bool = False
    """Whether it raises cash from its levels, the worst way, before it mortgages."""


NOVICE: Final = Character(
    whole_percent=40,
    near_percent=5,
    danger_percent=0,
    cushion=4_000,
    purchase_reserve=4_000,
    building_reserve=6_000,
    bid_percent=90,
    proposes_every=16,
    generosity_percent=50,
    bets_every=1,
    stays_from_rent=100_000,
    sells_levels_first=True,
)
"""Keeps its cash together, thinks little of groups and bets whenever it can."""

STEADY: Final = Character(
    whole_percent=100,
    near_percent=20,
    danger_percent=20,
    cushion=1_500,
    purchase_reserve=500,
    building_reserve=2_500,
    bid_percent=90,
    proposes_every=14,
    generosity_percent=50,
    bets_every=3,
    stays_from_rent=4_000,
)
"""Buys, completes groups and builds, with something left for the next rent."""

SHARK: Final = Character(
    whole_percent=150,
    near_percent=40,
    danger_percent=70,
    cushion=1_000,
    purchase_reserve=0,
    building_reserve=0,
    bid_percent=120,
    proposes_every=4,
    generosity_percent=10,
    bets_every=7,
    stays_from_rent=3_000,
)
"""Puts all it has into groups and levels, and leaves little to the other side of a trade."""
