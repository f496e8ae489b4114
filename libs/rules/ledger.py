"""Where cash moves: the one table of the events that move it, and between whom.

Auditors and tests hold the state to it: every other event leaves all cash as it is, and what a seat
gains is another's loss or the bank's (invariant I9 of the write protocol).
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from libs.rules import events as e
from libs.rules.match import Match


class Transfer(NamedTuple):
    """An amount that went from one seat, or the bank (`BANK`), to another."""

    payer: int
    payee: int
    amount: int


def transfers(match: Match, event: e.Event) -> list[Transfer]:
    """Return what *event* moves, given the match as it was just before; amounts of 0 left out."""
    moved = CASH_EVENTS.get(event.__class__)
    if moved is None:
        return []
    return [transfer for transfer in moved(match, event) if transfer.amount]


def _started(_: Match, event: e.MatchStarted) -> list[Transfer]:
    return [_from_bank(seat, event.starting_cash) for seat in range(len(event.cards))]


def _received(
    _: Match, event: e.SalaryPaid | e.LandingBonusPaid | e.CashReceived
) -> list[Transfer]:
    return [_from_bank(event.seat, event.amount)]


def _bought(_: Match, event: e.PropertyBought) -> list[Transfer]:
    return [_to_bank(event.seat, event.price)]


def _auctioned(_: Match, event: e.AuctionClosed) -> list[Transfer]:
    return [_to_bank(event.winner, event.amount)]


def _debt_paid(_: Match, event: e.DebtPaid) -> list[Transfer]:
    debtor = event.debtor
    paid = [Transfer(debtor, creditor, amount) for creditor, amount in event.amounts]
    return [*paid, _to_bank(debtor, event.withheld)]


def _collected(_: Match, event: e.CashCollected) -> list[Transfer]:
    return [Transfer(event.from_seat, event.to_seat, event.amount)]


def _paid_to_bank(
    _: Match, event: e.LevelBuilt | e.PropertyRedeemed | e.BailPaid
) -> list[Transfer]:
    return [_to_bank(event.seat, event.amount)]


def _sold_to_bank(_: Match, event: e.LevelSold | e.PropertyMortgaged) -> list[Transfer]:
    return [_from_bank(event.seat, event.amount)]


def _bet(_: Match, event: e.JackpotBetPlaced) -> list[Transfer]:
    return [_to_bank(event.seat, event.stake)]


def _jackpot(_: Match, event: e.JackpotRolled) -> list[Transfer]:
    return [_from_bank(event.seat, event.payout)]


def _traded(match: Match, event: e.TradeAccepted) -> list[Transfer]:
    offer = match.offer(event.offer)
    assert offer is not None
    return [
        Transfer(offer.proposer, offer.receiver, offer.give.cash),
        Transfer(offer.receiver, offer.proposer, offer.take.cash),
    ]


def _went_out(match: Match, event: e.SeatBankrupted | e.SeatSurrendered) -> list[Transfer]:
    seat, proceeds = event.seat, event.proceeds
    paid = [Transfer(seat, creditor, amount) for creditor, amount in event.shares]
    kept = proceeds - sum(transfer.amount for transfer in paid)
    # What is left of it, withheld rent included, leaves the match.
    return [_from_bank(seat, proceeds - match.cash[seat]), *paid, _to_bank(seat, kept)]


def _from_bank(seat: int, amount: int) -> Transfer:
    return Transfer(e.BANK, seat, amount)


def _to_bank(seat: int, amount: int) -> Transfer:
    return Transfer(seat, e.BANK, amount)


CASH_EVENTS: Final[dict[type, Callable[[Match, Any], list[Transfer]]]] = {
    e.MatchStarted: _started,
    e.SalaryPaid: _received,
    e.LandingBonusPaid: _received,
    e.PropertyBought: _bought,
    e.AuctionClosed: _auctioned,
    e.CashReceived: _received,
    e.DebtPaid: _debt_paid,
    e.CashCollected: _collected,
    e.LevelBuilt: _paid_to_bank,
    e.LevelSold: _sold_to_bank,
    e.PropertyMortgaged: _sold_to_bank,
    e.PropertyRedeemed: _paid_to_bank,
    e.BailPaid: _paid_to_bank,
    e.JackpotBetPlaced: _bet,
    e.JackpotRolled: _jackpot,
    e.TradeAccepted: _traded,
    e.SeatBankrupted: _went_out,
    e.SeatSurrendered: _went_out,
}
"""The events in which cash moves, and no others."""
