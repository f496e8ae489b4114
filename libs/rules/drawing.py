"""Chance cards and what they do (DECK-1 to DECK-4, DEBT-3, DEBT-4)."""

from collections.abc import Callable
from typing import Final

from libs.rules import cards, jail
from libs.rules import events as e
from libs.rules.board import SQUARES
from libs.rules.match import Match
from libs.rules.moving import move_back, move_by_card
from libs.rules.paying import open_debt
from libs.rules.ruling import CARRY_ON, NOTHING, Ruling


def draw_card(ruling: Ruling, seat: int) -> None:
    """Draw the next card of the deck and do what it says."""
    number = ruling.match.next_card
    card = cards.DECK[number - 1]
    ruling.add(e.CardDrawn(seat, number))
    ruling.next = CARRY_ON
    _EFFECTS[card.effect](ruling, seat, number, card.amount)


def nearest(match: Match, seat: int, group: int) -> int:
    """Return the nearest square of *group* ahead of a seat's token."""
    origin = match.square[seat]
    return min(match.board.groups[group], key=lambda square: (square - origin) % SQUARES)


def levels_of(match: Match, seat: int) -> int:
    """Return how many levels a seat has built in all."""
    return sum(match.level[square] for square in match.properties_of(seat))


def _receive(ruling: Ruling, seat: int, _: int, amount: int) -> None:
    ruling.add(e.CashReceived(seat, amount, e.BANK, "card"))


def _pay(ruling: Ruling, seat: int, card: int, amount: int) -> None:
    _owe(ruling, seat, card, ((e.BANK, amount),))


def _go_to(ruling: Ruling, seat: int, _: int, square: int) -> None:
    move_by_card(ruling, seat, square)


def _go_to_station(ruling: Ruling, seat: int, _: int, __: int) -> None:
    move_by_card(ruling, seat, nearest(ruling.match, seat, ruling.match.board.stations))


def _go_to_utility(ruling: Ruling, seat: int, _: int, __: int) -> None:
    move_by_card(ruling, seat, nearest(ruling.match, seat, ruling.match.board.utilities))


def _pay_each(ruling: Ruling, seat: int, card: int, amount: int) -> None:
    """Pay every other living seat: one pause with several creditors (DEBT-4)."""
    others = ruling.match.others_from_left(seat)
    _owe(ruling, seat, card, tuple((other, amount) for other in others))


def _repair(ruling: Ruling, seat: int, card: int, amount: int) -> None:
    levels = levels_of(ruling.match, seat)
    _owe(ruling, seat, card, ((e.BANK, amount * levels),), ("levels", levels))


def _go_to_jail(ruling: Ruling, seat: int, _: int, __: int) -> None:
    jail.enter(ruling, seat, "card")


def _go_back(ruling: Ruling, seat: int, _: int, distance: int) -> None:
    move_back(ruling, seat, distance)


def _owe(
    ruling: Ruling,
    seat: int,
    card: int,
    creditors: tuple[e.Share, ...],
    *inputs: e.Input,
) -> None:
    """Open a payment pause for a card; with nothing owed the turn goes on (DEBT-1)."""
    open_debt(ruling, seat, "card", creditors, ("DECK-1", (("card", card), *inputs)))
    _pause_if_owed(ruling)


def _collect_from_each(ruling: Ruling, seat: int, card: int, amount: int) -> None:
    """Collect from every other living seat; who is short gets a pause of its own (DEBT-3)."""
    match = ruling.match
    for other in match.others_from_left(seat):
        if match.cash[other] >= amount:
            ruling.add(e.CashCollected(other, seat, amount, card))
        else:
            owed = ((seat, amount),)
            open_debt(ruling, other, "card", owed, ("DEBT-3", (("card", card),)))
    _pause_if_owed(ruling)


def _pause_if_owed(ruling: Ruling) -> None:
    if ruling.match.debts:
        ruling.next = NOTHING


_EFFECTS: Final[dict[str, Callable[[Ruling, int, int, int], None]]] = {
    cards.RECEIVE: _receive,
    cards.PAY: _pay,
    cards.GO_TO: _go_to,
    cards.NEAREST_STATION: _go_to_station,
    cards.NEAREST_UTILITY: _go_to_utility,
    cards.COLLECT_EACH: _collect_from_each,
    cards.PAY_EACH: _pay_each,
    cards.REPAIRS: _repair,
    cards.TO_JAIL: _go_to_jail,
    cards.BACK: _go_back,
}
"""What each card does to a seat: by its number and its amount."""

assert _EFFECTS.keys() == {card.effect for card in cards.DECK}, "every card does something"
