"""Debts and the payment pause (DEBT-1 to DEBT-4, BANK-1)."""

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import leaving, phases
from libs.rules.jail import leave_by_forced_bail
from libs.rules.match import Match
from libs.rules.pending import Debt
from libs.rules.refusals import Refusal
from libs.rules.ruling import CARRY_ON, Ruling, refuse_unless_affordable


def pay(ruling: Ruling, command: c.Pay) -> Refusal | None:
    """Pay one's debt in cash."""
    match, seat = ruling.match, command.seat
    debt = match.debt_of(seat)
    if debt is None:
        return _refuse_without_debt(match)
    refusal = refuse_unless_affordable(match, seat, debt.amount, "DEBT-1")
    if refusal is not None:
        return refusal
    _settle(ruling, debt)
    return None


def declare_bankruptcy(ruling: Ruling, command: c.DeclareBankruptcy) -> Refusal | None:
    """Give up, where everything sold and mortgaged would not cover the debt (BANK-1)."""
    match, seat = ruling.match, command.seat
    debt = match.debt_of(seat)
    if debt is None:
        return _refuse_without_debt(match)
    could_raise = match.cash[seat] + match.sale_value(seat)
    if could_raise >= debt.amount:
        facts = {"debt": debt.amount, "could_raise": could_raise}
        return Refusal(Reason.CAN_STILL_PAY, "BANK-1", facts)
    leaving.bankrupt(ruling, debt)
    return None


def time_out(ruling: Ruling, debt: Debt) -> None:
    """Pay for a debtor whose clock ran out, raising cash if need be (DEBT-2)."""
    match = ruling.match
    if match.cash[debt.debtor] + match.sale_value(debt.debtor) < debt.amount:
        leaving.bankrupt(ruling, debt)
        return
    _mortgage_until(ruling, debt)
    _sell_until(ruling, debt)
    _mortgage_until(ruling, debt)
    _settle(ruling, debt)


def _settle(ruling: Ruling, debt: Debt) -> None:
    match = ruling.match
    # Only a rent is withheld from, and a rent has one creditor: the owner, or the bank after it.
    amounts = debt.creditors
    if debt.withheld:
        ((creditor, amount),) = amounts
        amounts = ((creditor, amount - debt.withheld),)
    ruling.add(e.DebtPaid(debt.debt, debt.debtor, amounts, debt.withheld))
    if debt.reason == "bail":
        leave_by_forced_bail(ruling, debt.debtor)
    elif not match.debts:
        ruling.next = CARRY_ON


def _mortgage_until(ruling: Ruling, debt: Debt) -> None:
    """Mortgage property of groups without a level, cheapest first, until the debt is covered."""
    match, seat = ruling.match, debt.debtor
    board = match.board
    candidates = [
        square
        for square in match.properties_of(seat)
        if not match.mortgaged_round[square] and not match.group_levels[board.group_of[square]]
    ]
    for square in sorted(candidates, key=lambda square: (board.price[square], square)):
        if match.cash[seat] >= debt.amount:
            return
        ruling.add(e.PropertyMortgaged(seat, square, board.mortgage_value[square]))


def _sell_until(ruling: Ruling, debt: Debt) -> None:
    """Sell levels, of the dearest groups and the highest streets first, until it is covered."""
    match, seat = ruling.match, debt.debtor
    cost, level = match.board.build_cost, match.level
    built = [square for square in match.properties_of(seat) if level[square]]
    while built and match.cash[seat] < debt.amount:
        square = max(built, key=lambda square: (cost[square], level[square], square))
        ruling.add(e.LevelSold(seat, square, level[square] - 1, match.board.level_value[square]))
        if not level[square]:
            built.remove(square)


def _refuse_without_debt(match: Match) -> Refusal:
    if match.phase == phases.DEBT:
        return Refusal(Reason.NOT_YOUR_DEBT, "DEBT-1", {"debtors": tuple(match.pending_seats())})
    return Refusal(Reason.WRONG_PHASE, "DEBT-1", {"phase": match.phase})
