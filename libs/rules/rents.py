"""What a tenant owes, and what is withheld of it (RENT-1 to RENT-6, TAX-1)."""

from libs.rules.cards import BONUS
from libs.rules.events import Input
from libs.rules.match import Match
from libs.rules.rule_sets import RuleSet

WHOLE_BP = 10_000


Rent = tuple[int, str, tuple[Input, ...]]
"""An amount, the id of its rule, and the numbers that it comes from."""


def rent_of(match: Match, square: int) -> Rent:
    """Return what landing on the owned, unmortgaged *square* costs a rival, card bonus included."""
    owner, board = match.owner[square], match.board
    group, kind = board.group_of[square], board.kind[square]
    rents, held = board.rents[square], match.held[owner][group]
    rent: Rent
    if kind == "street":
        level = match.level[square]
        if level == 0 and held == board.group_size[group]:
            rent = 2 * rents[0], "RENT-1", (("square", square), ("level", 0), ("doubled", 1))
        else:
            rent = rents[level], "RENT-1", (("square", square), ("level", level))
    elif kind == "station":
        rent = rents[held - 1], "RENT-2", (("square", square), ("owned", held))
    else:
        total, factor = dice_total(match), rents[held - 1]
        inputs = (("square", square), ("dice", total), ("factor", factor))
        rent = total * factor, "RENT-3", inputs
    rarity = match.cards[owner].get(square)
    return rent if rarity is None else _with_card(rent, rarity)


def dice_total(match: Match) -> int:
    """Return the last roll's white dice plus a numbered third die (RENT-3)."""
    total = match.white_1 + match.white_2
    return total + match.third if match.third <= 3 else total  # noqa: PLR2004 - faces 1-3


def tax_bp(rules: RuleSet, in_round: int) -> int:
    """Return the share of a rent that is withheld in a round, in basis points (TAX-1)."""
    first, full = rules.tax_first_round, rules.tax_full_round
    if in_round < first:
        return 0
    if in_round >= full:
        return rules.tax_full_bp
    rise = rules.tax_full_bp - rules.tax_first_bp
    return rules.tax_first_bp + rise * (in_round - first) // (full - first)


def withheld_of(amount: int, share_bp: int) -> int:
    """Return what the bank keeps of a rent of *amount*."""
    return amount * share_bp // WHOLE_BP


def _with_card(rent: Rent, rarity: str) -> Rent:
    """Raise a rent by the owner's collection card for its square (RENT-6)."""
    amount, rule, inputs = rent
    numerator, denominator = BONUS[rarity]
    bonus = amount * numerator // denominator
    return amount + bonus, rule, (*inputs, ("card_bonus", bonus))
