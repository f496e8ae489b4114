"""Commands that may make no sense at all, many and fast, driven by one number.

What hypothesis draws shrinks well and costs a millisecond; this costs microseconds.
"""

from typing import Final

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from tests.support.strategies import OF_OFFERS, OF_SQUARES, PLAIN
from tests.support.walks import Dice

_OTHERS: Final = 5


def anything(match: Match, dice: Dice) -> c.SeatCommand:
    """Return any command of any seat, with plausible and impossible fields alike."""
    seat = _seat(match, dice)
    kind = dice.below(len(PLAIN) + len(OF_SQUARES) + len(OF_OFFERS) + _OTHERS)
    if kind < len(PLAIN):
        return PLAIN[kind](seat)
    kind -= len(PLAIN)
    if kind < len(OF_SQUARES):
        return OF_SQUARES[kind](seat, _square(match, dice, seat))
    kind -= len(OF_SQUARES)
    if kind < len(OF_OFFERS):
        return OF_OFFERS[kind](seat, match.offer_count - dice.below(3))
    kind -= len(OF_OFFERS)
    if kind == 0:
        return c.ChooseBusMove(seat, dice.below(14))
    if kind == 1:
        return c.BetJackpot(seat, tuple(dice.below(8) for _ in range(dice.below(5))))
    if kind == 2:
        return c.ContributeSeed(seat, bytes((0, 1, 15, 16, 32, 33)[dice.below(6)]))
    to = dice.below(len(match.specs) + 1)
    return c.OfferTrade(seat, to, _side(match, dice, seat), _side(match, dice, to))


def _seat(match: Match, dice: Dice) -> int:
    """Return a seat that must decide, any other, or one that the match does not have."""
    pending = match.pending_seats()
    if pending and dice.below(2):
        return pending[dice.below(len(pending))]
    return dice.below(len(match.specs) + 1) - (dice.below(10) == 0)


def _square(match: Match, dice: Dice, seat: int) -> int:
    owned = match.properties_of(seat) if match.has_seat(seat) else ()
    if owned and dice.below(4):
        return owned[dice.below(len(owned))]
    return dice.below(42) - 1


def _side(match: Match, dice: Dice, seat: int) -> e.Side:
    squares = tuple(_square(match, dice, seat) for _ in range(dice.below(4)))
    if dice.below(2):
        return e.Side(0, squares)
    most = match.cash[seat] if match.has_seat(seat) else 1
    return e.Side(
        (-1, most, most + 1, *(dice.below(3_000) for _ in range(5)))[dice.below(8)], squares
    )
