"""Chance cards and what they do (DECK-1 to DECK-4, DEBT-3, DEBT-4)."""

from libs.rules import cards, jail
from libs.rules import events as e
from libs.rules.board import SQUARES
from libs.rules.match import Match
from libs.rules.moving import move_back, move_by_card
from libs.rules.paying import open_debt
from libs.rules.ruling import CARRY_ON, NOTHING, Ruling


def draw_card(ruling: Ruling, seat: int) -> None:
    """Draw the next card of the deck and do what it says."""
    match = ruling.match
    number = match.next_card
    card = cards.DECK[number - 1]
    ruling.add(e.CardDrawn(seat, number))
    ruling.next = CARRY_ON
    effect, amount = card.effect, card.amount
    if effect == cards.RECEIVE:
        ruling.add(e.CashReceived(seat, amount, e.BANK, "card"))
    elif effect == cards.PAY:
        _owe(ruling, seat, number, ((e.BANK, amount),))
    elif effect == cards.GO_TO:
        move_by_card(ruling, seat, amount)
    elif effect == cards.NEAREST_STATION:
        move_by_card(ruling, seat, nearest(match, seat, match.board.stations))
    elif effect == cards.NEAREST_UTILITY:
        move_by_card(ruling, seat, nearest(match, seat, match.board.utilities))
    elif effect == cards.COLLECT_EACH:
        _collect_from_each(ruling, seat, number, amount)
    elif effect == cards.PAY_EACH:
        others = match.others_from_left(seat)
        _owe(ruling, seat, number, tuple((other, amount) for other in others))
    elif effect == cards.REPAIRS:
        levels = levels_of(match, seat)
        _owe(ruling, seat, number, ((e.BANK, amount * levels),), ("levels", levels))
    elif effect == cards.TO_JAIL:
        jail.enter(ruling, seat, "card")
    else:
        assert effect == cards.BACK
        move_back(ruling, seat, amount)


def nearest(match: Match, seat: int, group: int) -> int:
    """Return the nearest square of *group* ahead of a seat's token."""
    origin = match.square[seat]
    return min(match.board.groups[group], key=lambda square: (square - origin) % SQUARES)


def levels_of(match: Match, seat: int) -> int:
    """Return how many levels a seat has built in all."""
    return sum(match.level[square] for square in match.properties_of(seat))


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
