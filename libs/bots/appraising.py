"""What a position is worth to a character, and what a deal would change about it (TRADE-4).

A position's worth is its cash, properties and levels, and what holding several of a group adds.
What rivals hold takes away from it only where they own whole groups. In Teams a side's positions
count together.
"""

from functools import cache
from typing import Final, NamedTuple

from libs.bots.characters import Character
from libs.rules.board import Board
from libs.rules.events import Side
from libs.rules.pending import Offer
from libs.rules.views import View

WHOLE_PERCENT: Final = 100


class Deal(NamedTuple):
    """A trade as it could be: *giver* gives one side and takes the other from *taker*."""

    giver: int
    taker: int
    give: Side
    take: Side


class Appraisal:
    """A character's eye for one board, laid out by group and by how many of it are held.

    Attributes:
        bonus: what holding so many adds to a position.
        menace: what a rival's holding so many takes away from one.
        cushion: cash up to this counts half as much again.
        generosity_percent: the character's, at hand for those who only have the tables.

    """

    __slots__ = ("bonus", "cushion", "generosity_percent", "menace")

    def __init__(self, board: Board, character: Character) -> None:
        """Work the tables out."""
        groups = range(len(board.groups))
        near, whole = character.near_percent, character.whole_percent
        self.cushion = character.cushion
        self.generosity_percent = character.generosity_percent
        self.bonus = tuple(_bonuses(board, group, near, whole) for group in groups)
        self.menace = tuple(_bonuses(board, group, 0, character.danger_percent) for group in groups)

    def of_cash(self, cash: int) -> int:
        """Return what cash is worth."""
        return cash + min(cash, self.cushion) // 2


@cache
def appraisal(board: Board, character: Character) -> Appraisal:
    """Return the tables of *character* for *board*, worked out once."""
    return Appraisal(board, character)


def valuation(view: View, seat: int, character: Character) -> int:
    """Return what the table as it stands is worth to *seat* in the eyes of *character*."""
    eye = appraisal(view.board, character)
    value = 0
    for other in range(len(view.out)):
        if view.is_rival(seat, other):
            value -= _menace(view, other, eye)
        else:
            value += _worth(view, other, eye)
    return value


def valuation_after(view: View, seat: int, offer: Offer, character: Character) -> int:
    """Return the valuation of *seat* once *offer* was accepted.

    Accepting one that no longer holds moves nothing (TRADE-3), so it changes nothing here.
    """
    before = valuation(view, seat, character)
    deal = Deal(offer.proposer, offer.receiver, offer.give, offer.take)
    return before + gain(view, seat, deal, character) if is_possible(view, deal) else before


def gain(view: View, seat: int, deal: Deal, character: Character) -> int:
    """Return by how much *deal* raises the valuation of *seat*, itself a part of it or not."""
    eye = appraisal(view.board, character)
    change = deal.take.cash - deal.give.cash
    parties = (
        (deal.giver, deal.take.squares, deal.give.squares, change),
        (deal.taker, deal.give.squares, deal.take.squares, -change),
    )
    total = 0
    for party, gets, loses, cash in parties:
        counts = _counts(view.board, gets, loses)
        if view.is_rival(seat, party):
            total -= _change(view, party, counts, eye.menace)
        else:
            total += _change(view, party, counts, eye.bonus)
            total += eye.of_cash(view.cash[party] + cash) - eye.of_cash(view.cash[party])
            total += sum(property_value(view, square) for square in gets)
            total -= sum(property_value(view, square) for square in loses)
    return total


def is_possible(view: View, deal: Deal) -> bool:
    """Whether *deal* could be carried out as things stand (TRADE-3)."""
    return all(
        view.cash[seat] >= side.cash
        and all(view.owner[square] == seat and is_tradable(view, square) for square in side.squares)
        for seat, side in ((deal.giver, deal.give), (deal.taker, deal.take))
    )


def is_tradable(view: View, square: int) -> bool:
    """Whether a property is unmortgaged and its group without any level (TRADE-1)."""
    return not (view.mortgaged_round[square] or view.group_levels[view.board.group_of[square]])


def property_value(view: View, square: int) -> int:
    """Return what a property is worth by itself: list price, or half where it is mortgaged."""
    price = view.board.price[square]
    return price // 2 if view.mortgaged_round[square] else price


def _bonuses(board: Board, group: int, near_percent: int, whole_percent: int) -> tuple[int, ...]:
    """Return what holding none, one, ... all properties of a group adds."""
    prices = sum(board.price[square] for square in board.groups[group])
    percents = [0] * (board.group_size[group] - 1) + [near_percent, whole_percent]
    return tuple(prices * percent // WHOLE_PERCENT for percent in percents)


def _worth(view: View, seat: int, eye: Appraisal) -> int:
    worth = eye.of_cash(view.cash[seat])
    build_cost, level = view.board.build_cost, view.level
    for square in view.owned[seat]:
        worth += property_value(view, square) + level[square] * build_cost[square]
    for group, held in enumerate(view.held[seat]):
        worth += eye.bonus[group][held]
    return worth


def _menace(view: View, seat: int, eye: Appraisal) -> int:
    return sum(eye.menace[group][held] for group, held in enumerate(view.held[seat]))


def _counts(board: Board, gets: tuple[int, ...], loses: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return by group how many more are held."""
    counts: dict[int, int] = {}
    for squares, step in ((gets, 1), (loses, -1)):
        for square in squares:
            group = board.group_of[square]
            counts[group] = counts.get(group, 0) + step
    return list(counts.items())


def _change(
    view: View, seat: int, counts: list[tuple[int, int]], table: tuple[tuple[int, ...], ...]
) -> int:
    held = view.held[seat]
    return sum(
        table[group][held[group] + count] - table[group][held[group]] for group, count in counts
    )
