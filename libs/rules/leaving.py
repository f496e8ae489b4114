"""How a seat goes out: bankruptcy and surrender (BANK-1 to BANK-4, SURR-1)."""

from libs.rules import auctions, commands, ending, phases
from libs.rules import events as e
from libs.rules.pending import Debt
from libs.rules.refusals import Refusal
from libs.rules.rents import withheld_of
from libs.rules.ruling import CARRY_ON, Ruling


def bankrupt(ruling: Ruling, debt: Debt) -> None:
    """Put the debtor of *debt* out; what it has pays the creditors in proportion (BANK-2)."""
    match, seat = ruling.match, debt.debtor
    proceeds = match.cash[seat] + match.sale_value(seat)
    shares, withheld = divide(debt, proceeds)
    ruling.add(e.SeatBankrupted(seat, proceeds, shares, withheld))
    _clear(ruling, seat, "bankrupt")
    _go_on_without(ruling, seat)


def surrender(ruling: Ruling, command: commands.Surrender) -> Refusal | None:
    """Let a seat leave, in or out of turn (SURR-1)."""
    give_up(ruling, command.seat, forced=False)
    _go_on_without(ruling, command.seat)
    return None


def give_up(ruling: Ruling, seat: int, *, forced: bool) -> None:
    """Record a seat's surrender; how the match goes on without it is the caller's to say."""
    match = ruling.match
    proceeds = match.cash[seat] + match.sale_value(seat)
    debt = match.debt_of(seat)
    shares, withheld = divide(debt, proceeds) if debt else ((), 0)
    ruling.add(e.SeatSurrendered(seat, forced, proceeds, shares, withheld))
    _clear(ruling, seat, "surrendered")


def divide(debt: Debt, proceeds: int) -> tuple[tuple[e.Share, ...], int]:
    """Return what each creditor of *debt* gets of *proceeds*, and the tax withheld of it.

    Shares are in proportion and rounded down; the units left over go by largest remainder, then to
    the lower seat, the bank last (BANK-2). A rent is taxed on what is paid of it (BANK-4).
    """
    paid = min(proceeds, debt.amount)
    parts = [divmod(paid * amount, debt.amount) for _, amount in debt.creditors]
    shares = [share for share, _ in parts]
    claims = sorted(
        range(len(parts)),
        key=lambda n: (-parts[n][1], debt.creditors[n][0] == e.BANK, debt.creditors[n][0], n),
    )
    for claim in claims[: paid - sum(shares)]:
        shares[claim] += 1
    taxes = [withheld_of(share, debt.tax_bp) for share in shares]
    divided = tuple(
        (creditor, share - tax)
        for (creditor, _), share, tax in zip(debt.creditors, shares, taxes, strict=True)
    )
    return divided, sum(taxes)


def _clear(ruling: Ruling, seat: int, why: str) -> None:
    match = ruling.match
    for square in match.properties_of(seat):
        ruling.add(e.PropertyReleased(square, seat, why))
    for offer in match.offers[:]:
        if seat in (offer.proposer, offer.receiver):
            ruling.add(e.TradeClosed(offer.offer, "side_out"))


def _go_on_without(ruling: Ruling, seat: int) -> None:
    match = ruling.match
    if ending.is_decided(match):
        ending.finish(ruling, "last_standing")
    elif match.auction is not None:
        auctions.lose_bidder(ruling, seat)
    elif match.phase == phases.DEBT:
        if not match.debts:
            ruling.next = CARRY_ON
    elif seat == match.turn:
        ruling.next = CARRY_ON
