"""Building and selling levels (BUILD-1 to BUILD-3)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.boards.classic import CLASSIC
from tests.support.builders import (
    CLASSIC_1,
    CLASSIC_2,
    RULE_SETS,
    SPEED_1,
    SPEED_2,
    TEAMS_2,
)
from tests.support.spec import Table, given, only

EVEN = (CLASSIC_1, CLASSIC_2, TEAMS_2)
UNEVEN = (SPEED_1, SPEED_2)
COSTS = {
    "brown": 500,
    "light_blue": 500,
    "pink": 1_000,
    "orange": 1_000,
    "red": 1_500,
    "yellow": 1_500,
    "green": 2_000,
    "dark_blue": 2_000,
}


def builder(rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 owns light blue (6, 8, 9) and is to roll."""
    return given(rules).group(0, "light_blue")


@pytest.mark.parametrize(("group", "cost"), COSTS.items())
def test_a_level_costs_its_groups_build_cost(group: str, cost: int) -> None:
    """BUILD-1."""
    square = CLASSIC.groups[CLASSIC.group_names.index(group)][0]
    table = given().group(0, group)

    assert table.when(c.Build(0, square)) == [e.LevelBuilt(0, square, 1, cost)]
    assert table.match.cash[0] == 15_000 - cost


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_whole_group_must_be_owned(rules: str) -> None:
    """BUILD-1."""
    refused = given(rules).owned(0, 6, 8).owned(2, 9).refused(c.Build(0, 6))

    assert (refused.reason, refused.rule) == (Reason.GROUP_INCOMPLETE, "BUILD-1")
    assert refused.facts == {"held": 2, "needed": 3}


def test_an_ally_does_not_complete_a_group() -> None:
    """BUILD-1."""
    table = given(TEAMS_2).owned(0, 6, 8).owned(2, 9)

    assert table.refused(c.Build(0, 6)).reason is Reason.GROUP_INCOMPLETE


@pytest.mark.parametrize("rules", RULE_SETS)
def test_nothing_of_the_group_may_be_mortgaged(rules: str) -> None:
    """BUILD-1."""
    refused = builder(rules).mortgaged(9).refused(c.Build(0, 6))

    assert (refused.reason, refused.facts) == (Reason.GROUP_MORTGAGED, {"mortgaged": (9,)})


@pytest.mark.parametrize("rules", RULE_SETS)
def test_there_is_no_level_above_5(rules: str) -> None:
    """BUILD-1."""
    refused = builder(rules).levels({6: 5, 8: 5, 9: 5}).refused(c.Build(0, 6))

    assert (refused.reason, refused.facts) == (Reason.LEVEL_LIMIT, {"level": 5})


def test_the_fifth_level_can_be_built() -> None:
    """BUILD-1."""
    table = builder().levels({6: 4, 8: 4, 9: 4})

    assert only(table.when(c.Build(0, 9)), e.LevelBuilt).level == 5


def test_stations_and_utilities_are_no_streets() -> None:
    """BUILD-1."""
    table = given().group(0, "station").group(0, "utility")

    assert table.refused(c.Build(0, 5)).reason is Reason.NOT_A_STREET
    assert table.refused(c.SellLevel(0, 12)).reason is Reason.NOT_A_STREET


@pytest.mark.parametrize("square", [-1, 0, 7, 40])
def test_what_is_no_property_cannot_be_built_on(square: int) -> None:
    """BUILD-1, BOARD-2."""
    assert builder().refused(c.Build(0, square)).reason is Reason.NOT_A_PROPERTY


def test_a_level_takes_the_cash_for_it() -> None:
    """BUILD-1."""
    refused = builder().cash({0: 499}).refused(c.Build(0, 6))

    assert (refused.reason, refused.rule) == (Reason.NOT_ENOUGH_CASH, "BUILD-1")
    assert refused.facts == {"needed": 500, "cash": 499}


def test_cash_equal_to_the_cost_is_enough() -> None:
    """BUILD-1."""
    table = builder().cash({0: 500})

    table.when(c.Build(0, 6))

    assert table.match.cash[0] == 0


@pytest.mark.parametrize("rules", EVEN)
def test_no_street_rises_more_than_one_level_above_another(rules: str) -> None:
    """BUILD-2."""
    refused = builder(rules).levels({6: 1}).refused(c.Build(0, 6))

    assert (refused.reason, refused.rule) == (Reason.UNEVEN_BUILDING, "BUILD-2")
    assert refused.facts == {"level": 1, "lowest": 0}


@pytest.mark.parametrize("rules", UNEVEN)
def test_speed_builds_unevenly(rules: str) -> None:
    """BUILD-2."""
    table = builder(rules).levels({6: 4})

    assert only(table.when(c.Build(0, 6)), e.LevelBuilt) == e.LevelBuilt(0, 6, 5, 500)


@pytest.mark.parametrize("rules", EVEN)
def test_levels_are_sold_evenly(rules: str) -> None:
    """BUILD-2."""
    refused = builder(rules).levels({6: 2, 8: 1, 9: 2}).refused(c.SellLevel(0, 8))

    assert (refused.reason, refused.rule) == (Reason.UNEVEN_BUILDING, "BUILD-2")
    assert refused.facts == {"level": 1, "highest": 2}


@pytest.mark.parametrize("rules", UNEVEN)
def test_speed_sells_unevenly(rules: str) -> None:
    """BUILD-2."""
    table = builder(rules).levels({6: 5, 8: 1})

    assert only(table.when(c.SellLevel(0, 8)), e.LevelSold).level == 0


@pytest.mark.parametrize("rules", EVEN)
def test_even_selling_holds_in_a_payment_pause_too(rules: str) -> None:
    """BUILD-2."""
    table = builder(rules).levels({6: 2, 8: 1, 9: 1}).standing({0: 1}).dice((1, 2))
    table.when(c.Roll(0))

    assert table.refused(c.SellLevel(0, 8)).reason is Reason.UNEVEN_BUILDING
    assert only(table.when(c.SellLevel(0, 6)), e.LevelSold).level == 1


@pytest.mark.parametrize("rules", [r for r in RULE_SETS if r != SPEED_1])
def test_a_street_gains_one_level_in_a_turn(rules: str) -> None:
    """BUILD-2."""
    table = builder(rules)
    table.when(c.Build(0, 6), c.Build(0, 8), c.Build(0, 9))

    refused = table.refused(c.Build(0, 6))

    assert (refused.reason, refused.facts) == (Reason.TURN_LEVEL_LIMIT, {"built": 1})


def test_speed_1_builds_without_limit() -> None:
    """BUILD-2."""
    table = builder(SPEED_1)

    table.when(*[c.Build(0, 6)] * 5)

    assert table.match.level[6] == 5


def test_the_limit_counts_a_whole_turn_with_all_its_rolls() -> None:
    """BUILD-2."""
    table = builder().standing({0: 4}).dice((1, 1))
    table.when(c.Build(0, 6), c.Build(0, 8), c.Build(0, 9), c.Roll(0))

    assert table.refused(c.Build(0, 6)).reason is Reason.TURN_LEVEL_LIMIT


def test_the_next_turn_may_build_again() -> None:
    """BUILD-2."""
    table = given(seats=2).group(0, "light_blue").dice((4, 6), (4, 6))
    table.when(c.Build(0, 6), c.Build(0, 8), c.Build(0, 9), c.Roll(0), c.Roll(1))

    assert only(table.when(c.Build(0, 6)), e.LevelBuilt).level == 2


def test_a_sale_does_not_give_a_build_back() -> None:
    """BUILD-2."""
    table = builder()
    table.when(c.Build(0, 6), c.SellLevel(0, 6))

    assert table.refused(c.Build(0, 6)).reason is Reason.TURN_LEVEL_LIMIT


@pytest.mark.parametrize(("group", "cost"), COSTS.items())
def test_a_level_is_sold_for_half_its_cost(group: str, cost: int) -> None:
    """BUILD-3."""
    squares = CLASSIC.groups[CLASSIC.group_names.index(group)]
    table = given().group(0, group).levels(dict.fromkeys(squares, 3))

    assert table.when(c.SellLevel(0, squares[0])) == [e.LevelSold(0, squares[0], 2, cost // 2)]
    assert table.match.cash[0] == 15_000 + cost // 2


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_bare_street_has_nothing_to_sell(rules: str) -> None:
    """BUILD-3."""
    refused = builder(rules).refused(c.SellLevel(0, 6))

    assert (refused.reason, refused.rule) == (Reason.NO_LEVEL, "BUILD-3")


def test_another_seats_street_is_not_ones_own() -> None:
    """BUILD-1."""
    table = given().group(1, "light_blue").levels({6: 1})

    assert table.refused(c.Build(0, 6)).reason is Reason.NOT_OWNER
    assert table.refused(c.SellLevel(0, 6)).reason is Reason.NOT_OWNER


@pytest.mark.parametrize("rules", [CLASSIC_1, SPEED_1])
def test_revision_1_builds_at_any_time_in_ones_own_turn(rules: str) -> None:
    """BUILD-1: while a purchase is pending, too."""
    table = builder(rules).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    assert only(table.when(c.Build(0, 6)), e.LevelBuilt).level == 1


@pytest.mark.parametrize("rules", [CLASSIC_2, SPEED_2, TEAMS_2])
def test_revision_2_builds_while_ones_own_roll_is_pending_alone(rules: str) -> None:
    """BUILD-1."""
    table = builder(rules).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    refused = table.refused(c.Build(0, 6))

    assert refused.reason is Reason.NOT_MANAGING_TIME
    assert refused.facts["phase"] == "buy"


@pytest.mark.parametrize("rules", RULE_SETS)
def test_nobody_builds_in_another_seats_turn(rules: str) -> None:
    """BUILD-1."""
    table = given(rules).group(1, "light_blue")

    assert table.refused(c.Build(1, 6)).reason is Reason.NOT_MANAGING_TIME


def test_a_roll_that_is_pending_again_lets_build_again() -> None:
    """BUILD-1, TURN-2."""
    table = builder().standing({0: 4}).dice((1, 1))
    table.when(c.Roll(0))

    assert only(table.when(c.Build(0, 6)), e.LevelBuilt).level == 1
