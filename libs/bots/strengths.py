"""The bots that there are, by the name of their strength."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from libs.bots import buying, dealing, managing, raising, travelling
from libs.bots.characters import NOVICE, SHARK, STEADY, Character
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.views import View

Strategy = Callable[[View, LegalCommands], c.SeatCommand | None]
"""Chooses what the viewer's seat does now; None where there is nothing to do for it.

It is asked again after each command, so what takes several, such as levels, comes one by one.
"""

SEATS_MOST: Final = 8

# Commands that say nothing but the seat are made once: they are never assigned to.
_ROLL: Final = tuple(c.Roll(seat) for seat in range(SEATS_MOST))
_BUY: Final = tuple(c.Buy(seat) for seat in range(SEATS_MOST))
_PAY: Final = tuple(c.Pay(seat) for seat in range(SEATS_MOST))


def strategy(character: Character) -> Strategy:
    """Return the strategy that plays as *character* would."""

    def choose(view: View, legal: LegalCommands) -> c.SeatCommand | None:
        seat, phase = view.viewer, view.phase
        if view.offers and phase != phases.AUCTION:
            command = dealing.answer(view, seat, character)
            if command is not None:
                return command
        if phase == phases.ROLL:
            return _before_roll(view, legal, seat, character) if seat == view.turn else None
        decide = _DECISIONS.get(phase)
        return None if decide is None else decide(view, seat, character)

    return choose


def _before_roll(
    view: View, legal: LegalCommands, seat: int, character: Character
) -> c.SeatCommand:
    """Build, redeem, propose and pay bail as long as there is something to do; then roll."""
    command: c.SeatCommand | None
    if view.whole_groups[seat] and view.cash[seat] > character.building_reserve:
        command = managing.build(view, seat, character)
        if command is not None:
            return command
    # Some things are thought about at some moments only, which saves time. And nothing is
    # remembered: but a refused proposal has moved the count of events on, so it isn't made again.
    moment = view.sequence % character.proposes_every
    if moment == 0 and not view.offers:
        command = dealing.propose(view, seat, character)
        if command is not None:
            return command
    elif moment == 1 and view.mortgage_count:
        command = managing.redeem(view, legal, seat, character)
        if command is not None:
            return command
    can_leave = view.in_jail[seat] and view.rules.bail_before_roll
    if can_leave and travelling.wants_out(view, seat, character):
        return c.PayBail(seat)
    return _ROLL[seat]


def _in_debt(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    for debt in view.debts:
        if debt.debtor == seat:
            if debt.amount <= view.cash[seat]:
                return _PAY[seat]
            return raising.settle(view, seat, debt, character)
    return None


def _on_property(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    if seat != view.turn:
        return None
    return _BUY[seat] if buying.wants_to_buy(view, seat, character) else c.Decline(seat)


def _in_auction(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    auction = view.auction
    if auction is None or auction.bidder != seat:
        return None
    return c.Bid(seat) if buying.wants_to_bid(view, seat, character) else c.Pass(seat)


def _on_bail(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    if seat != view.turn:
        return None
    wants_out = travelling.wants_out(view, seat, character)
    return c.PayBail(seat) if wants_out else c.StayInJail(seat)


def _on_bus(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    return travelling.choose_bus(view, seat, character) if seat == view.turn else None


def _on_triple(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    return travelling.choose_teleport(view, seat, character) if seat == view.turn else None


def _at_jackpot(view: View, seat: int, character: Character) -> c.SeatCommand | None:
    """Bet now and then; the odds are even, so only the wish to play speaks for it."""
    if seat != view.turn:
        return None
    turn, stake = view.turn_number, view.rules.jackpot_stake
    if turn % character.bets_every or view.cash[seat] < stake + character.purchase_reserve:
        return c.DeclineJackpot(seat)
    count, first = turn // character.bets_every % 3 + 1, turn % 4 + 1
    return c.BetJackpot(seat, tuple(range(first, first + count)))


_DECISIONS: Final[dict[str, Callable[[View, int, Character], c.SeatCommand | None]]] = {
    phases.DEBT: _in_debt,
    phases.BUY: _on_property,
    phases.AUCTION: _in_auction,
    phases.BAIL: _on_bail,
    phases.BUS: _on_bus,
    phases.TELEPORT: _on_triple,
    phases.JACKPOT: _at_jackpot,
}

STRENGTHS: Final[Mapping[str, Strategy]] = MappingProxyType(
    {
        "novice": strategy(NOVICE),
        "steady": strategy(STEADY),
        "shark": strategy(SHARK),
    }
)
"""All bots, from the weakest to the strongest."""
