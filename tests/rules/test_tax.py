"""The rent tax (TAX-1, TAX-2)."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.rents import tax_bp, withheld_of
from libs.rules.rule_sets import rule_set
from tests.support.builders import CLASSIC_1, CLASSIC_2, SPEED_1, SPEED_2, TEAMS_2
from tests.support.spec import given, only

CLASSIC_SHARES = [
    (1, 0),
    (99, 0),
    (100, 100),
    (101, 198),
    (149, 4_902),
    (150, 5_000),
    (199, 9_802),
    (200, 9_900),
    (500, 9_900),
]
SPEED_SHARES = [
    (39, 0),
    (40, 100),
    (41, 263),
    (70, 5_000),
    (99, 9_736),
    (100, 9_900),
    (300, 9_900),
]


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2, TEAMS_2])
@pytest.mark.parametrize(("in_round", "share_bp"), CLASSIC_SHARES)
def test_the_share_rises_from_1_to_99_percent_in_classic(
    rules: str, in_round: int, share_bp: int
) -> None:
    """TAX-1."""
    assert tax_bp(rule_set(rules), in_round) == share_bp


@pytest.mark.parametrize("rules", [SPEED_1, SPEED_2])
@pytest.mark.parametrize(("in_round", "share_bp"), SPEED_SHARES)
def test_the_share_rises_from_1_to_99_percent_in_speed(
    rules: str, in_round: int, share_bp: int
) -> None:
    """TAX-1."""
    assert tax_bp(rule_set(rules), in_round) == share_bp


@pytest.mark.parametrize(
    ("amount", "share_bp", "withheld"),
    [(20, 9_900, 19), (20, 100, 0), (100, 100, 1), (99, 100, 0), (20_000, 5_000, 10_000)],
)
def test_what_is_withheld_is_rounded_down(amount: int, share_bp: int, withheld: int) -> None:
    """TAX-1."""
    assert withheld_of(amount, share_bp) == withheld


def test_a_rent_of_20_taxed_in_full_leaves_its_owner_1() -> None:
    """TAX-1."""
    table = given().round(200).owned(0, 1).turn(1).standing({1: 38}).cash({1: 100}).dice((1, 2))
    opened = only(table.when(c.Roll(1)), e.DebtOpened)

    paid = only(table.when(c.Pay(1)), e.DebtPaid)

    assert (opened.amount, opened.withheld, opened.tax_bp) == (20, 19, 9_900)
    assert paid == e.DebtPaid(1, 1, ((0, 1),), 19)
    assert table.match.cash[:2] == [15_001, 2_080]


@pytest.mark.parametrize(
    ("in_round", "withheld"), [(99, 0), (100, 2), (150, 125), (199, 245), (200, 247)]
)
def test_the_tenant_owes_the_full_rent_whatever_is_withheld(in_round: int, withheld: int) -> None:
    """TAX-1."""
    table = given().round(in_round).owned(0, 5).turn(1).standing({1: 2}).dice((1, 2))

    opened = only(table.when(c.Roll(1)), e.DebtOpened)

    assert (opened.amount, opened.withheld) == (250, withheld)
    assert opened.creditors == ((0, 250),)


def test_the_round_of_the_debt_decides_not_that_of_the_payment() -> None:
    """TAX-1."""
    table = given().round(99).owned(0, 5).turn(1).standing({1: 2}).dice((1, 2))
    table.when(c.Roll(1))
    table.round(100)

    paid = only(table.when(c.Pay(1)), e.DebtPaid)

    assert paid == e.DebtPaid(1, 1, ((0, 250),), 0)


@pytest.mark.parametrize(
    ("square", "card", "paid"), [(4, 1, 2_000), (38, 1, 1_000), (7, 3, 500), (7, 12, 500)]
)
def test_taxes_and_chance_payments_are_never_taxed(square: int, card: int, paid: int) -> None:
    """TAX-2."""
    table = given().round(300).standing({0: square - 3}).card(card).dice((1, 2))

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert (opened.amount, opened.withheld, opened.tax_bp) == (paid, 0, 0)


def test_what_card_6_collects_is_never_taxed() -> None:
    """TAX-2."""
    table = given().round(300).standing({0: 4}).card(6).dice((1, 2))

    table.when(c.Roll(0))

    assert table.match.cash == [15_500, 14_750, 14_750]


def test_forced_bail_is_never_taxed() -> None:
    """TAX-2."""
    table = given().round(300).jailed(0, 2).dice((1, 2))

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert (opened.amount, opened.withheld, opened.tax_bp) == (500, 0, 0)


def test_a_jackpot_is_never_taxed() -> None:
    """TAX-2."""
    table = given().round(300).standing({0: 17}).dice((1, 2)).jackpot(4)

    table.when(c.Roll(0), c.BetJackpot(0, (4,)))

    assert table.match.cash[0] == 20_000
