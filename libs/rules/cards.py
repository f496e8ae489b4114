"""The 16 chance cards in their fixed order (DECK-1), and what collection cards add (RENT-6)."""

from typing import Final, NamedTuple

from libs.rules.board import START


class Card(NamedTuple):
    """What a chance card does: *effect* names it, *amount* is its money, square or distance."""

    effect: str
    """receive, pay, go_to, nearest_station, nearest_utility, collect_each, pay_each, repairs, jail
    or back."""
    amount: int = 0


RECEIVE: Final = "receive"
PAY: Final = "pay"
GO_TO: Final = "go_to"
NEAREST_STATION: Final = "nearest_station"
NEAREST_UTILITY: Final = "nearest_utility"
COLLECT_EACH: Final = "collect_each"
PAY_EACH: Final = "pay_each"
REPAIRS: Final = "repairs"
TO_JAIL: Final = "jail"
BACK: Final = "back"

DECK: Final = (
    Card(RECEIVE, 1_000),
    Card(GO_TO, START),
    Card(PAY, 500),
    Card(NEAREST_STATION),
    Card(RECEIVE, 1_500),
    Card(COLLECT_EACH, 250),
    Card(REPAIRS, 250),
    Card(TO_JAIL),
    Card(PAY, 1_500),
    Card(GO_TO, 24),
    Card(RECEIVE, 2_000),
    Card(PAY_EACH, 250),
    Card(BACK, 3),
    Card(NEAREST_UTILITY),
    Card(PAY, 2_500),
    Card(GO_TO, 39),
)
"""Card *n* of the rules is ``DECK[n - 1]``; after 16 comes 1 again."""

DECK_SIZE: Final = 16

RARITIES: Final = ("common", "uncommon", "rare", "epic", "legendary")
"""From the least to the best."""

BONUS: Final = {
    "common": (5, 100),
    "uncommon": (10, 100),
    "rare": (15, 100),
    "epic": (25, 100),
    "legendary": (1, 3),
}
"""The share of the rent that a collection card adds, as numerator and denominator (RENT-6)."""

assert len(DECK) == DECK_SIZE
assert tuple(BONUS) == RARITIES
