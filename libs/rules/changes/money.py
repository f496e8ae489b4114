"""How cash moves, debts are paid and seats go out."""

from collections.abc import Callable
from typing import Any, Final

from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.pending import Debt


def _amount_received(
    match: Match, event: e.SalaryPaid | e.LandingBonusPaid | e.CashReceived
) -> None:
    match.cash[event.seat] += event.amount


def _bail_paid(match: Match, event: e.BailPaid) -> None:
    match.cash[event.seat] -= event.amount


def _cash_collected(match: Match, event: e.CashCollected) -> None:
    match.cash[event.from_seat] -= event.amount
    match.cash[event.to_seat] += event.amount


def _jackpot_bet_placed(match: Match, event: e.JackpotBetPlaced) -> None:
    match.cash[event.seat] -= event.stake


def _debt_opened(match: Match, event: e.DebtOpened) -> None:
    match.debt_count = event.debt
    match.debts.append(
        Debt(
            event.debt,
            event.debtor,
            event.reason,
            event.amount,
            event.withheld,
            event.tax_bp,
            event.creditors,
        )
    )


def _debt_paid(match: Match, event: e.DebtPaid) -> None:
    debts, cash = match.debts, match.cash
    debtor = event.debtor
    place = 0
    while debts[place].debt != event.debt:
        place += 1
    debt = debts.pop(place)
    paid = event.withheld
    for seat, amount in event.amounts:
        paid += amount
        if seat != e.BANK:
            cash[seat] += amount
    cash[debtor] -= paid
    if debtor != match.turn and not debt.timed_out:
        match.missed_turns[debtor] = 0


def _seat_bankrupted(match: Match, event: e.SeatBankrupted) -> None:
    _go_out(match, event.seat, event.shares)


def _seat_surrendered(match: Match, event: e.SeatSurrendered) -> None:
    _go_out(match, event.seat, event.shares)


def _go_out(match: Match, seat: int, shares: tuple[e.Share, ...]) -> None:
    for creditor, amount in shares:
        if creditor != e.BANK:
            match.cash[creditor] += amount
    match.cash[seat] = 0
    match.out[seat] = True
    match.out_order.append(seat)
    match.living -= 1
    match.acting = tuple(other for other in match.acting if other != seat)
    match.in_jail[seat] = False
    match.jail_attempts[seat] = 0
    if seat == match.turn:
        match.jump_pending = False
        match.rolls_again = False
    match.debts[:] = [debt for debt in match.debts if debt.debtor != seat]
    for debt in match.debts:
        # BANK-3: the share of a creditor who is gone goes to the bank, as an entry of its own.
        debt.creditors = tuple(
            (e.BANK if creditor == seat else creditor, amount)
            for creditor, amount in debt.creditors
        )


CHANGES: Final[dict[type, Callable[[Match, Any], None]]] = {
    e.SalaryPaid: _amount_received,
    e.LandingBonusPaid: _amount_received,
    e.CashReceived: _amount_received,
    e.DebtOpened: _debt_opened,
    e.DebtPaid: _debt_paid,
    e.CashCollected: _cash_collected,
    e.BailPaid: _bail_paid,
    e.JackpotBetPlaced: _jackpot_bet_placed,
    e.SeatBankrupted: _seat_bankrupted,
    e.SeatSurrendered: _seat_surrendered,
}
