"""The board, Start and its salary (BOARD-1 to BOARD-3)."""

import csv
from pathlib import Path

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.board import Square
from libs.rules.boards.classic import CLASSIC
from libs.rules.rule_sets import RULE_SETS
from tests.support.builders import CLASSIC_1, CLASSIC_2, REVISION_1, REVISION_2, SPEED_2
from tests.support.spec import every, given, kinds, only

TABLE = Path(__file__).with_name("board.tsv")

GROUPS = {
    "brown": (1, 3),
    "light_blue": (6, 8, 9),
    "pink": (11, 13, 14),
    "orange": (16, 18, 19),
    "red": (21, 23, 24),
    "yellow": (26, 27, 29),
    "green": (31, 32, 34),
    "dark_blue": (37, 39),
    "station": (5, 15, 25, 35),
    "utility": (12, 28),
}


def test_the_board_equals_the_table() -> None:
    """BOARD-1."""
    with TABLE.open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))

    assert [int(row["square"]) for row in rows] == list(range(40))
    assert tuple(_square(row) for row in rows) == CLASSIC.squares


def test_every_rule_set_is_played_on_this_board() -> None:
    """BOARD-1."""
    assert all(rules.board is CLASSIC for rules in RULE_SETS.values())


def test_the_28_properties_form_ten_groups() -> None:
    """BOARD-2."""
    groups = dict(zip(CLASSIC.group_names, CLASSIC.groups, strict=True))

    assert groups == GROUPS
    assert CLASSIC.properties == tuple(sorted(sq for group in GROUPS.values() for sq in group))
    assert {CLASSIC.group_names[group] for group in CLASSIC.street_groups} == set(GROUPS) - {
        "station",
        "utility",
    }


def test_corners_taxes_and_chance_squares_lie_where_they_should() -> None:
    """BOARD-2."""
    kinds_by_square = {square: CLASSIC.kind[square] for square in (0, 10, 20, 30, 4, 38)}

    assert kinds_by_square == {
        0: "start",
        10: "jail",
        20: "corner20",
        30: "go_to_jail",
        4: "tax",
        38: "tax",
    }
    assert CLASSIC.chance == (2, 7, 17, 22, 33, 36)


@pytest.mark.parametrize(("square", "tax"), [(4, 2_000), (38, 1_000)])
def test_a_tax_square_makes_a_debt_to_the_bank(square: int, tax: int) -> None:
    """BOARD-2, TURN-4."""
    table = given().standing({0: square - 3}).dice((1, 2))

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert (opened.debtor, opened.reason, opened.amount) == (0, "tax", tax)
    assert opened.creditors == ((e.BANK, tax),)
    assert opened.withheld == 0


def test_all_tokens_begin_on_start() -> None:
    """BOARD-3."""
    assert given(seats=6).match.square == [0] * 6


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2])
def test_passing_start_pays_the_salary(rules: str) -> None:
    """BOARD-3."""
    table = given(rules).standing({0: 39}).owned(0, 3).dice((1, 3))

    events = table.when(c.Roll(0))

    assert kinds(events)[:3] == [e.DiceRolled, e.TokenMoved, e.SalaryPaid]
    assert only(events, e.SalaryPaid) == e.SalaryPaid(0, 2_000)
    assert table.match.cash[0] == 17_000


@pytest.mark.parametrize("rules", REVISION_2)
def test_landing_on_start_pays_a_bonus_in_revision_2(rules: str) -> None:
    """BOARD-3."""
    table = given(rules).standing({0: 37}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert kinds(events)[2:4] == [e.SalaryPaid, e.LandingBonusPaid]
    assert only(events, e.LandingBonusPaid) == e.LandingBonusPaid(0, 1_000)
    assert table.match.cash[0] == 18_000


@pytest.mark.parametrize("rules", REVISION_1)
def test_landing_on_start_pays_no_bonus_in_revision_1(rules: str) -> None:
    """BOARD-3."""
    table = given(rules).standing({0: 37}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert not every(events, e.LandingBonusPaid)
    assert table.match.cash[0] == 17_000


def test_the_salary_is_never_taxed() -> None:
    """BOARD-3, TAX-2."""
    table = given().round(300).standing({0: 37}).dice((1, 2))

    table.when(c.Roll(0))

    assert table.match.cash[0] == 18_000


def test_the_way_to_jail_passes_no_squares() -> None:
    """BOARD-3."""
    table = given().standing({0: 27}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert [moved.target for moved in every(events, e.TokenMoved)] == [30, 10]
    assert not every(events, e.SalaryPaid)


def test_moving_back_over_start_pays_nothing() -> None:
    """BOARD-3."""
    table = given().standing({0: 39}).owned(0, 39).card(13).dice((1, 2))

    events = table.when(c.Roll(0))

    assert every(events, e.TokenMoved)[-1] == e.TokenMoved(0, 2, 39, "card")
    assert len(every(events, e.SalaryPaid)) == 1, "for passing Start by the roll alone"


def test_a_triples_teleport_over_start_pays_nothing() -> None:
    """BOARD-3."""
    table = given(SPEED_2).round(7).standing({0: 30}).owned(0, 1).dice((2, 2, 2))
    table.when(c.Roll(0))

    events = table.when(c.ChooseTeleport(0, 1))

    assert not every(events, e.SalaryPaid)


def test_stopping_on_start_by_a_teleport_pays_as_landing() -> None:
    """BOARD-3."""
    table = given(SPEED_2).round(7).standing({0: 30}).dice((2, 2, 2))
    table.when(c.Roll(0))

    events = table.when(c.ChooseTeleport(0, 0))

    assert only(events, e.SalaryPaid) == e.SalaryPaid(0, 2_000)
    assert only(events, e.LandingBonusPaid) == e.LandingBonusPaid(0, 1_000)


def test_choosing_start_while_standing_on_it_pays_as_landing() -> None:
    """BOARD-3, DIE3-4."""
    table = given(SPEED_2).round(7).dice((2, 2, 2))
    table.when(c.Roll(0))

    table.when(c.ChooseTeleport(0, 0))

    assert table.match.cash[0] == 18_000


def test_an_x_jump_over_start_pays_nothing() -> None:
    """BOARD-3."""
    table = given(SPEED_2).round(7).standing({0: 34}).dice((1, 3, e.X))
    table.owned(1, *(sq for sq in CLASSIC.properties if sq != 1)).mortgaged(
        *(sq for sq in CLASSIC.properties if sq != 1)
    )

    table.when(c.Roll(0), c.Pay(0))

    assert table.match.square[0] == 1
    assert table.match.cash[0] == 14_000


def _square(row: dict[str, str]) -> Square:
    if row["kind"] in ("start", "chance", "jail", "corner20", "go_to_jail"):
        return Square(row["kind"])
    rents = tuple(int(row[f"rent{n}"]) for n in range(6) if row[f"rent{n}"] != "-")
    build_cost = 0 if row["build_cost"] == "-" else int(row["build_cost"])
    return Square(row["kind"], row["group"], int(row["price"]), build_cost, rents)
