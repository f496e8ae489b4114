"""Mortgages (MORT-1 to MORT-3)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.boards.classic import CLASSIC
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, SPEED_1, SPEED_2, TEAMS_2
from tests.support.spec import every, given, kinds, only

SPEED = (SPEED_1, SPEED_2)
FULL = (CLASSIC_1, CLASSIC_2, TEAMS_2)


@pytest.mark.parametrize("square", CLASSIC.properties)
def test_a_mortgage_pays_half_the_list_price(square: int) -> None:
    """MORT-1."""
    table = given().owned(0, square)
    half = CLASSIC.price[square] // 2

    assert table.when(c.Mortgage(0, square)) == [e.PropertyMortgaged(0, square, half)]
    assert table.match.cash[0] == 15_000 + half
    assert table.match.mortgaged_round[square] == 1


@pytest.mark.parametrize("rules", RULE_SETS)
def test_all_levels_of_the_group_must_be_sold_first(rules: str) -> None:
    """MORT-1."""
    table = given(rules).group(0, "light_blue").levels({6: 1})

    refused = table.refused(c.Mortgage(0, 9))

    assert (refused.reason, refused.rule) == (Reason.GROUP_HAS_LEVELS, "MORT-1")
    assert refused.facts == {"levels": 1}


def test_levels_of_another_group_do_not_matter() -> None:
    """MORT-1."""
    table = given().group(0, "light_blue").levels({6: 1}).owned(0, 11)

    assert only(table.when(c.Mortgage(0, 11)), e.PropertyMortgaged).amount == 700


def test_a_property_is_mortgaged_once() -> None:
    """MORT-1."""
    table = given().owned(0, 5).mortgaged(5)

    assert table.refused(c.Mortgage(0, 5)).reason is Reason.ALREADY_MORTGAGED


def test_a_rivals_property_is_not_mortgaged() -> None:
    """MORT-1."""
    refused = given().owned(1, 5).refused(c.Mortgage(0, 5))

    assert (refused.reason, refused.facts) == (Reason.NOT_OWNER, {"square": 5, "owner": 1})


def test_what_is_no_property_is_not_mortgaged() -> None:
    """MORT-1."""
    assert given().refused(c.Mortgage(0, 20)).reason is Reason.NOT_A_PROPERTY


@pytest.mark.parametrize(
    ("square", "cost"),
    [(1, 330), (5, 1_100), (12, 825), (14, 880), (24, 1_320), (37, 1_925), (39, 2_200)],
)
def test_redeeming_costs_the_half_and_a_tenth_of_it(square: int, cost: int) -> None:
    """MORT-2."""
    table = given().owned(0, square).mortgaged(square)

    assert table.when(c.Redeem(0, square)) == [e.PropertyRedeemed(0, square, cost)]
    assert table.match.cash[0] == 15_000 - cost
    assert table.match.mortgaged_round[square] == 0


def test_redeeming_takes_the_cash_for_it() -> None:
    """MORT-2."""
    table = given().owned(0, 39).mortgaged(39).cash({0: 2_199})

    refused = table.refused(c.Redeem(0, 39))

    assert (refused.reason, refused.rule) == (Reason.NOT_ENOUGH_CASH, "MORT-2")
    assert refused.facts == {"needed": 2_200, "cash": 2_199}


def test_cash_equal_to_the_cost_redeems() -> None:
    """MORT-2."""
    table = given().owned(0, 39).mortgaged(39).cash({0: 2_200})

    table.when(c.Redeem(0, 39))

    assert table.match.cash[0] == 0


def test_what_is_not_mortgaged_is_not_redeemed() -> None:
    """MORT-2."""
    refused = given().owned(0, 39).refused(c.Redeem(0, 39))

    assert (refused.reason, refused.rule) == (Reason.NOT_MORTGAGED, "MORT-2")


def test_a_rivals_mortgage_is_not_redeemed() -> None:
    """MORT-2."""
    table = given().owned(1, 39).mortgaged(39)

    assert table.refused(c.Redeem(0, 39)).reason is Reason.NOT_OWNER


@pytest.mark.parametrize("rules", FULL)
def test_a_mortgage_never_expires_outside_speed(rules: str) -> None:
    """MORT-3."""
    table = given(rules).owned(1, 5).mortgaged(5, in_round=1).round(400)
    for _ in range(table.match.living):
        events = table.time_out()

        assert not every(events, e.PropertyReleased)
        assert not every(events, e.MortgageReminded)


@pytest.mark.parametrize("rules", SPEED)
@pytest.mark.parametrize(("in_round", "left"), [(3, 9), (12, 0), (11, 1), (2, 10)])
def test_each_turn_of_the_owner_begins_with_a_reminder(
    rules: str, in_round: int, left: int
) -> None:
    """MORT-3."""
    table = given(rules).owned(1, 5).mortgaged(5, in_round=2).round(in_round)

    events = table.time_out()

    assert kinds(events)[-3:] == [e.TurnStarted, e.MortgageReminded, e.DeadlineSet]
    assert only(events, e.MortgageReminded) == e.MortgageReminded(1, 5, left)


def test_there_is_one_reminder_for_each_property_by_square() -> None:
    """MORT-3."""
    table = given(SPEED_2).owned(1, 35, 5, 12).mortgaged(35, 5).round(3)

    events = table.time_out()

    assert [reminded.square for reminded in every(events, e.MortgageReminded)] == [5, 35]


def test_nobody_is_reminded_of_anothers_mortgage() -> None:
    """MORT-3."""
    table = given(SPEED_2).owned(2, 5).mortgaged(5).round(3)

    assert not every(table.time_out(), e.MortgageReminded)


@pytest.mark.parametrize("rules", SPEED)
def test_a_mortgage_expires_when_its_tenth_round_after_is_complete(rules: str) -> None:
    """MORT-3."""
    table = given(rules, seats=2).turn(1).owned(1, 5).mortgaged(5, in_round=2).round(12)
    table.match.had_turn = [True, True]

    events = table.time_out()

    assert only(events, e.PropertyReleased) == e.PropertyReleased(5, 1, "mortgage_expired")
    assert kinds(events)[-5:-1] == [
        e.TurnEnded,
        e.PropertyReleased,
        e.RoundStarted,
        e.TurnStarted,
    ]
    assert table.match.owner[5] == e.NOBODY
    assert table.match.mortgaged_round[5] == 0
    assert table.match.cash[1] == 15_000, "without pay"


def test_a_mortgage_does_not_expire_a_round_earlier() -> None:
    """MORT-3."""
    table = given(SPEED_2, seats=2).turn(1).owned(1, 5).mortgaged(5, in_round=2).round(11)
    table.match.had_turn = [True, True]

    assert not every(table.time_out(), e.PropertyReleased)


def test_a_mortgage_can_be_redeemed_in_the_owners_last_turn() -> None:
    """MORT-3."""
    table = given(SPEED_2).owned(0, 5).mortgaged(5, in_round=2).round(12)

    assert only(table.when(c.Redeem(0, 5)), e.PropertyRedeemed).amount == 1_100


def test_several_mortgages_expire_one_by_one_by_square() -> None:
    """MORT-3."""
    table = given(SPEED_2, seats=2).turn(1).owned(0, 35, 39).owned(1, 5)
    table.mortgaged(35, 5, in_round=2).mortgaged(39, in_round=3).round(12)
    table.match.had_turn = [True, True]

    events = table.time_out()

    assert [released.square for released in every(events, e.PropertyReleased)] == [5, 35]


def test_a_jailed_owner_loses_it_alike() -> None:
    """MORT-3."""
    table = given(SPEED_2, seats=2).turn(1).owned(1, 5).mortgaged(5).round(11).jailed(1)
    table.match.had_turn = [True, True]

    assert only(table.time_out(), e.PropertyReleased).square == 5


def test_a_new_mortgage_counts_anew() -> None:
    """MORT-3."""
    table = given(SPEED_2, seats=2).owned(0, 5).mortgaged(5, in_round=2).round(12)
    table.when(c.Redeem(0, 5), c.Mortgage(0, 5))

    assert table.match.mortgaged_round[5] == 12


def test_an_expired_property_may_be_bought_by_whoever_lands_on_it() -> None:
    """MORT-3."""
    table = given(SPEED_1, seats=2).turn(1).owned(1, 5).mortgaged(5).round(11)
    table.match.had_turn = [True, True]
    table.standing({0: 2}).dice((1, 2, e.X))
    table.time_out()

    events = table.when(c.Roll(0))

    assert only(events, e.PropertyOffered) == e.PropertyOffered(0, 5, 2_000)
