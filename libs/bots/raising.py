"""How to pay: at once, after raising cash, with somebody's help, or not at all (DEBT-1, BANK-1)."""

from collections.abc import Sequence

from libs.bots.characters import Character
from libs.bots.dealing import ask_for_rescue
from libs.rules import commands as c
from libs.rules.pending import Debt
from libs.rules.views import View


def settle(view: View, seat: int, debt: Debt, character: Character) -> c.SeatCommand | None:
    """Get on with paying *debt*, for which the cash is short; None while help is waited for."""
    missing = debt.amount - view.cash[seat]
    built, loose, whole, worth = _means(view, seat)
    if worth >= missing:
        if built and (character.sells_levels_first or not loose):
            # Of all streets the highest: it may always go first, and its last level brought least.
            return c.SellLevel(seat, max(built, key=view.level.__getitem__))
        return c.Mortgage(seat, _enough(view, loose or whole, missing))
    if any(offer.proposer == seat for offer in view.offers):
        return None
    # Asked at an even count of events only: a refusal makes it odd, so nobody is asked for ever.
    if character.proposes_every and view.sequence % 2 == 0:
        request = ask_for_rescue(view, seat, missing - worth, character)
        if request is not None:
            return request
    return c.DeclareBankruptcy(seat)


def _means(view: View, seat: int) -> tuple[list[int], list[int], list[int], int]:
    """Return what cash can come from, and how much of it.

    The streets of groups with levels; what may be mortgaged, of incomplete and of whole groups; and
    the cash that the bank would give for all.
    """
    board, level, group_levels = view.board, view.level, view.group_levels
    held, mortgaged_round = view.held[seat], view.mortgaged_round
    group_of, price, size = board.group_of, board.price, board.group_size
    built: list[int] = []
    loose: list[int] = []
    whole: list[int] = []
    worth = 0
    for square in view.owned[seat]:
        if mortgaged_round[square]:
            continue
        group = group_of[square]
        worth += price[square] // 2
        if group_levels[group]:
            built.append(square)
            worth += level[square] * (board.build_cost[square] // 2)
        elif held[group] < size[group]:
            loose.append(square)
        else:
            whole.append(square)
    return built, loose, whole, worth


def _enough(view: View, squares: Sequence[int], missing: int) -> int:
    """Return the first square, so about the cheapest, whose mortgage is enough, else the last."""
    price = view.board.price
    for square in squares:
        if price[square] // 2 >= missing:
            return square
    return squares[-1]
