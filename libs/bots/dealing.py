"""Trades: which to propose, on which terms, and how to answer them (TRADE-1 to TRADE-4)."""

from collections.abc import Iterator
from typing import NamedTuple

from libs.bots.appraising import (
    WHOLE_PERCENT,
    Appraisal,
    Deal,
    appraisal,
    gain,
    is_possible,
    is_tradable,
)
from libs.bots.characters import Character
from libs.rules import commands as c
from libs.rules.events import NOBODY, Side
from libs.rules.views import View

Squares = tuple[int, ...]


class _Swap(NamedTuple):
    """Properties for properties, before cash; those of one side are of one group."""

    seat: int
    other: int
    given: Squares
    taken: Squares


def answer(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    """Answer the first offer that waits for *seat*, or take back an own one gone bad.

    An offer is accepted exactly if it does not lower the own valuation (TRADE-4).
    """
    for offer in view.offers:
        if seat not in (offer.receiver, offer.proposer):
            continue
        deal = Deal(offer.proposer, offer.receiver, offer.give, offer.take)
        is_stale = not is_possible(view, deal)
        if offer.receiver == seat:
            # One that no longer holds would move nothing, and so lowers nothing (TRADE-3).
            if is_stale or gain(view, seat, deal, character) >= 0:
                return c.AcceptTrade(seat, offer.offer)
            return c.RejectTrade(seat, offer.offer)
        if is_stale or gain(view, seat, deal, character) < 0:
            return c.WithdrawTrade(seat, offer.offer)
    return None


def propose(view: View, seat: int, character: Character) -> c.OfferTrade | None:
    """Propose a trade that brings *seat* closer to a group, if the other side may agree.

    The first that is good enough: swaps of property before cash, which makes up the difference.
    """
    eye = appraisal(view.board, character)
    for other, taken in _wanted(view, seat):
        for given in _offerable(view, seat, other, taken):
            swap = _Swap(seat, other, given, taken)
            own_gain, cash = _terms(view, eye, swap)
            if own_gain > 0:
                return _offer(swap, cash)
    return None


def ask_for_rescue(
    view: View, seat: int, missing: int, character: Character
) -> c.OfferTrade | None:
    """Look for somebody whose cash could save a debtor from bankruptcy.

    An ally is asked for the cash itself; a rival is offered a property for what it is worth to it,
    where that brings *missing* more than the bank would give for it.
    """
    eye = appraisal(view.board, character)
    saving = _saving(view, seat, missing)
    for other, is_out in enumerate(view.out):
        if is_out or other == seat:
            continue
        if not view.is_rival(seat, other):
            if view.cash[other] >= missing:
                return c.OfferTrade(seat, other, Side(), Side(missing))
            continue
        for square in saving:
            swap = _Swap(seat, other, (square,), ())
            own_gain, cash = _terms(view, eye, swap)
            if own_gain > 0 and -cash - view.board.price[square] // 2 >= missing:
                return _offer(swap, cash)
    return None


def _saving(view: View, seat: int, missing: int) -> list[int]:
    """Return what could bring *missing* more from a rival than from the bank, at a fair price."""
    price, share = view.board.price, view.rules.fair_share_percent
    return [
        square
        for square in view.owned[seat]
        if price[square] * WHOLE_PERCENT >= (missing + price[square] // 2) * share
        and is_tradable(view, square)
    ]


def _offer(swap: _Swap, cash: int) -> c.OfferTrade:
    give, take = Side(max(cash, 0), swap.given), Side(max(-cash, 0), swap.taken)
    return c.OfferTrade(swap.seat, swap.other, give, take)


def _wanted(view: View, seat: int) -> Iterator[tuple[int, Squares]]:
    """Yield who owns what would complete a group of *seat*, or bring it closer."""
    board, owner, mortgaged_round = view.board, view.owner, view.mortgaged_round
    size = board.group_size
    for group, held in enumerate(view.held[seat]):
        if not held or held == size[group]:
            continue
        theirs: dict[int, Squares] = {}
        for square in board.groups[group]:
            other = owner[square]
            if other == NOBODY or mortgaged_round[square]:
                break
            if other != seat:
                theirs[other] = (*theirs.get(other, ()), square)
        else:
            yield from theirs.items()


def _offerable(view: View, seat: int, other: int, taken: Squares) -> Iterator[Squares]:
    """Yield what *seat* could give: what completes a group of *other*, then nothing but cash."""
    board, held, theirs = view.board, view.held[seat], view.held[other]
    for group, size in enumerate(board.group_size):
        if held[group] + theirs[group] != size or not (held[group] and theirs[group]):
            continue
        squares = board.groups[group]
        if taken[0] not in squares and not any(view.mortgaged_round[square] for square in squares):
            yield tuple(square for square in squares if view.owner[square] == seat)
    yield ()


def _terms(view: View, eye: Appraisal, swap: _Swap) -> tuple[int, int]:
    """Return what a swap gains its proposer with fair cash, and this cash, negative if taken.

    The cash shares what both sides gain together. How the other side counts is not known: as
    oneself does is the best guess. A gain of 0 says that there are no terms to agree on.
    """
    own_gain, their_gain = _group_gains(view, eye, swap)
    surplus = own_gain + their_gain
    if surplus <= 0 or not view.is_rival(swap.seat, swap.other):
        return surplus, 0
    price = view.board.price
    given_value = sum([price[square] for square in swap.given])
    taken_value = sum([price[square] for square in swap.taken])
    their_gain += given_value - taken_value
    cash = surplus * eye.generosity_percent // WHOLE_PERCENT - their_gain
    cash = _made_fair(given_value, taken_value, view.rules.fair_share_percent, cash)
    their_gain += cash
    # Cash below the cushion counts for more, so nobody shall have to pay out of that.
    payer = swap.seat if cash > 0 else swap.other
    if their_gain < 0 or abs(cash) > view.cash[payer] - eye.cushion:
        return 0, 0
    return surplus - their_gain, cash


def _group_gains(view: View, eye: Appraisal, swap: _Swap) -> tuple[int, int]:
    """Return what both sides gain by their groups, prices and cash left out of account."""
    seat, other, given, taken = swap
    held, theirs, group_of = view.held[seat], view.held[other], view.board.group_of
    own_gain = their_gain = 0
    is_rival = view.is_rival(seat, other)
    for squares, sign in ((taken, 1), (given, -1)):
        if squares:
            group, count = group_of[squares[0]], len(squares) * sign
            mine, yours = held[group], theirs[group]
            bonus, menace = eye.bonus[group], eye.menace[group]
            own_gain += bonus[mine + count] - bonus[mine]
            their_gain += bonus[yours - count] - bonus[yours]
            if is_rival:
                own_gain -= menace[yours - count] - menace[yours]
                their_gain -= menace[mine + count] - menace[mine]
    return own_gain, their_gain


def _made_fair(given: int, taken: int, share: int, cash: int) -> int:
    """Return the fair amount nearest to *cash*, negative where it is asked for (TRADE-2).

    *given* and *taken* are list prices, *share* is what the smaller side is worth at least of the
    larger, in percent; 0 where any price is fair.
    """
    if not share:
        return cash
    least = taken - given * WHOLE_PERCENT // share
    if least > 0:
        least = _least_fair(taken, share) - given
    most = taken * WHOLE_PERCENT // share - given
    if most < 0:
        most = taken - _least_fair(given, share)
    return min(max(cash, least), most)


def _least_fair(value: int, share: int) -> int:
    """Return the least that is fair against *value*, rounded up."""
    return -(-value * share // WHOLE_PERCENT)
