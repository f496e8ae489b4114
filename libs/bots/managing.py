"""What to build and redeem before a roll (BUILD-1, BUILD-2, MORT-2).

A bot thinks about this before every roll, so the choices are looked for by hand, the cheapest
question first, and seldom in the listing of legal commands. Tests see that none is ever refused.
"""

from typing import Final

from libs.bots.characters import Character
from libs.rules import commands as c
from libs.rules.board import MAX_LEVEL
from libs.rules.legal import LegalCommands
from libs.rules.views import View

NOWHERE: Final = -1


def build(view: View, seat: int, character: Character) -> c.Build | None:
    """Build the level that brings most for its cost, as long as the reserve stays untouched."""
    board, group_levels = view.board, view.group_levels
    spare = view.cash[seat] - character.building_reserve
    best, best_cost, best_rise = NOWHERE, 1, 0
    for group in view.whole_groups[seat]:
        squares = board.groups[group]
        cost = board.build_cost[squares[0]]
        if cost <= spare and group_levels[group] < MAX_LEVEL * len(squares):
            square, rise = _next_level(view, squares)
            # Of two groups, that where the rise is a larger share of the cost.
            if rise * best_cost > best_rise * cost:
                best, best_cost, best_rise = square, cost, rise
    return None if best == NOWHERE else c.Build(seat, best)


def redeem(
    view: View, legal: LegalCommands, seat: int, character: Character
) -> c.SeatCommand | None:
    """Lift a mortgage, of what is cheapest first."""
    spare = view.cash[seat] - character.building_reserve
    if not _has_mortgage_below(view, seat, spare):
        return None
    choice = min(legal.redemptions(), key=lambda choice: choice.cost, default=None)
    return choice.command if choice is not None and choice.cost <= spare else None


def _next_level(view: View, squares: tuple[int, ...]) -> tuple[int, int]:
    """Return the dearest of a group's lowest streets, and how its rent would rise.

    `NOWHERE` where none of them may grow now.
    """
    level, built, limit = view.level, view.built, view.rules.levels_per_turn
    mortgaged_round = view.mortgaged_round
    lowest, best = MAX_LEVEL - 1, NOWHERE
    for square in squares:
        if mortgaged_round[square]:
            return NOWHERE, 0
        height = level[square]
        if height < lowest:
            lowest, best = height, NOWHERE
        if height == lowest and (not limit or built[square] < limit):
            best = square
    if best == NOWHERE:
        return NOWHERE, 0
    rents = view.board.rents[best]
    return best, rents[lowest + 1] - rents[lowest]


def _has_mortgage_below(view: View, seat: int, spare: int) -> bool:
    """Whether there is something to redeem for a half price below *spare*."""
    mortgaged_round, price = view.mortgaged_round, view.board.price
    for square in view.owned[seat]:
        if mortgaged_round[square] and price[square] // 2 < spare:
            return True
    return False
