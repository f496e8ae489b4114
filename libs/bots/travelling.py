"""Where to go: jail or not, the bus, a triple (JAIL-2, JAIL-3, DIE3-2, DIE3-4)."""

from typing import Final

from libs.bots.appraising import appraisal
from libs.bots.characters import Character
from libs.rules import commands as c
from libs.rules.board import SQUARES, START
from libs.rules.events import NOBODY
from libs.rules.views import View

TYPICAL_ROLL: Final = 7
JAIL_LOSS: Final = 800
"""What being sent to jail is thought to cost: turns, and the bail in the end."""


def wants_out(view: View, seat: int, character: Character) -> bool:
    """Whether bail is worth it: the table is not yet so dear that jail is the safer place."""
    return (
        view.cash[seat] >= view.rules.bail + character.purchase_reserve
        and worst_rent(view, seat) < character.stays_from_rent
    )


def choose_bus(view: View, seat: int, character: Character) -> c.ChooseBusMove:
    """Go where it is best, by one white die, the other or both."""
    white_1, white_2, _ = view.dice
    best, best_prospect = white_1 + white_2, _prospect(view, seat, white_1 + white_2, character)
    for total in (white_1, white_2):
        prospect = _prospect(view, seat, total, character)
        if prospect > best_prospect:
            best, best_prospect = total, prospect
    return c.ChooseBusMove(seat, best)


def choose_teleport(view: View, seat: int, character: Character) -> c.ChooseTeleport:
    """Go to the best square of all; of equals to the last, where property is dearer."""
    squares = range(SQUARES - 1, -1, -1)
    return c.ChooseTeleport(
        seat, max(squares, key=lambda square: landing_value(view, seat, square, character))
    )


def landing_value(view: View, seat: int, square: int, character: Character) -> int:
    """Return what stopping on *square* is worth, negative where it costs."""
    board, rules = view.board, view.rules
    if board.group_of[square] >= 0:
        return _property_prospect(view, seat, square, character)
    kind = board.kind[square]
    if kind == "tax":
        return -board.price[square]
    if kind == "go_to_jail":
        return -JAIL_LOSS
    return rules.salary + rules.landing_bonus if square == START else 0


def worst_rent(view: View, seat: int) -> int:
    """Return the highest rent of a street with levels that rivals of *seat* ask for."""
    board, level, owner = view.board, view.level, view.owner
    rents, groups, is_team_game = board.rents, board.groups, view.rules.teams
    worst = 0
    for group, levels in enumerate(view.group_levels):
        if not levels:
            continue
        squares = groups[group]
        landlord = owner[squares[0]]
        if landlord != seat and not (is_team_game and not view.is_rival(seat, landlord)):
            for square in squares:
                worst = max(worst, rents[square][level[square]])
    return worst


def expected_rent(view: View, square: int) -> int:
    """Return about what an owned, unmortgaged property asks of a visitor."""
    board = view.board
    group = board.group_of[square]
    rents = board.rents[square]
    held = view.held[view.owner[square]][group]
    kind = board.kind[square]
    if kind == "station":
        return rents[held - 1]
    if kind == "utility":
        return rents[held - 1] * TYPICAL_ROLL
    level = view.level[square]
    is_doubled = level == 0 and held == board.group_size[group]
    return rents[0] * 2 if is_doubled else rents[level]


def _prospect(view: View, seat: int, total: int, character: Character) -> int:
    origin = view.square[seat]
    target = (origin + total) % SQUARES
    # Landing exactly on Start counts the salary already.
    passes_start = START < target < origin
    salary = view.rules.salary if passes_start else 0
    return landing_value(view, seat, target, character) + salary


def _property_prospect(view: View, seat: int, square: int, character: Character) -> int:
    owner = view.owner[square]
    if owner == NOBODY:
        price = view.board.price[square]
        if view.cash[seat] < price:
            return 0
        group = view.board.group_of[square]
        bonus = appraisal(view.board, character).bonus[group]
        held = view.held[seat][group]
        return price // 10 + bonus[held + 1] - bonus[held]
    if view.mortgaged_round[square] or not view.is_rival(seat, owner):
        return 0
    return -expected_rent(view, square)
