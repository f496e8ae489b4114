"""How debts arise: the match stops and the debtor is asked to pay (DEBT-1)."""

from libs.rules import events as e
from libs.rules.rents import rent_of, tax_bp, withheld_of
from libs.rules.ruling import Ruling


def open_debt(
    ruling: Ruling,
    debtor: int,
    reason: str,
    creditors: tuple[e.Share, ...],
    source: tuple[str, tuple[e.Input, ...]],
) -> None:
    """Open a debt that is never taxed (TAX-2); what comes to 0 is not opened.

    *source* is the rule that the debt rests on, and the numbers that it comes from.
    """
    amount = sum(amount for _, amount in creditors)
    if not amount:
        return
    debt = ruling.match.debt_count + 1
    ruling.add(e.DebtOpened(debt, debtor, reason, amount, 0, 0, creditors, *source))
    ruling.await_payment(debt, debtor)


def open_rent(ruling: Ruling, tenant: int, square: int) -> None:
    """Open the debt for landing on a rival's unmortgaged property (TAX-1)."""
    match = ruling.match
    amount, rule, inputs = rent_of(match, square)
    share_bp = tax_bp(match.rules, match.round)
    withheld = withheld_of(amount, share_bp)
    creditors = ((match.owner[square], amount),)
    debt = match.debt_count + 1
    ruling.add(
        e.DebtOpened(debt, tenant, "rent", amount, withheld, share_bp, creditors, rule, inputs)
    )
    ruling.await_payment(debt, tenant)
