"""Debts and the payment pause (DEBT-1 to DEBT-4)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, SPEED_1, SPEED_2, TEAMS_2
from tests.support.spec import Table, every, given, kinds, only


def landed(rules: str = CLASSIC_2, cash: int = 0, level: int = 0) -> Table:
    """Return a table at which seat 0 landed on seat 1's square 39, and owes its rent.

    Level 0 to 5 make it 500, 2,000, 6,000, 14,000, 17,000 or 20,000.
    """
    table = given(rules, seats=2).standing({0: 36}).owned(1, 39).cash({0: cash}).dice((1, 2))
    if level:
        table.owned(1, 37).levels({39: level, 37: level})
    return table


def test_a_rent_stops_the_match_at_a_payment_pause() -> None:
    """DEBT-1."""
    table = landed(cash=600)

    events = table.when(c.Roll(0))

    assert kinds(events)[2:] == [e.DebtOpened, e.DeadlineSet]
    assert table.match.phase == phases.DEBT
    assert table.match.cash == [600, 15_000], "nothing is deducted silently"


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_debtor_pays_by_a_command(rules: str) -> None:
    """DEBT-1."""
    table = given(rules).standing({0: 36}).owned(1, 39).dice((1, 2))
    table.when(c.Roll(0))

    events = table.when(c.Pay(0))

    assert kinds(events) == [e.DebtPaid, e.TurnEnded, e.TurnStarted, e.DeadlineSet]
    assert events[0] == e.DebtPaid(1, 0, ((1, 500),), 0)
    assert table.match.cash[:2] == [14_500, 15_500]


def test_cash_equal_to_the_debt_is_enough() -> None:
    """DEBT-1."""
    table = landed(cash=500)
    table.when(c.Roll(0), c.Pay(0))

    assert table.match.cash == [0, 15_500]


def test_too_little_cash_is_refused() -> None:
    """DEBT-1."""
    table = landed(cash=499).owned(0, 5)
    table.when(c.Roll(0))

    refused = table.refused(c.Pay(0))

    assert (refused.reason, refused.facts) == (
        Reason.NOT_ENOUGH_CASH,
        {"needed": 500, "cash": 499},
    )


def test_somebody_elses_debt_is_not_ones_own() -> None:
    """DEBT-1."""
    table = landed(cash=500)
    table.when(c.Roll(0))

    refused = table.refused(c.Pay(1))

    assert (refused.reason, refused.facts) == (Reason.NOT_YOUR_DEBT, {"debtors": (0,)})


def test_without_a_debt_there_is_nothing_to_pay() -> None:
    """DEBT-1."""
    assert given().refused(c.Pay(0)).reason is Reason.WRONG_PHASE


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_debtor_may_raise_cash_in_every_way(rules: str) -> None:
    """DEBT-1."""
    table = given(rules).standing({0: 36}).owned(1, 39).cash({0: 0}).dice((1, 2))
    table.group(0, "brown").levels({1: 1}).owned(0, 5, 12)
    table.when(c.Roll(0), c.SellLevel(0, 1), c.Mortgage(0, 5))

    table.when(c.OfferTrade(0, 1, e.Side(0, (12,)), e.Side(1_500)), c.AcceptTrade(1, 1))

    assert table.match.cash[0] == 250 + 1_000 + 1_500


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_debtor_may_accept_an_offer_in_its_pause(rules: str) -> None:
    """DEBT-1, TRADE-1."""
    table = given(rules, 4).turn(3).owned(0, 12).standing({0: 36}).owned(1, 39)
    table.when(c.OfferTrade(3, 0, e.Side(1_500), e.Side(0, (12,))))
    table.turn(0).dice((1, 2)).cash({0: 0})
    table.when(c.Roll(0))

    table.when(c.AcceptTrade(0, 1), c.Pay(0))

    assert table.match.cash[0] == 1_000


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_debtor_may_neither_build_nor_redeem(rules: str) -> None:
    """DEBT-1."""
    table = given(rules).standing({0: 36}).owned(1, 39).dice((1, 2))
    table.group(0, "brown").owned(0, 5).mortgaged(5)
    table.when(c.Roll(0))

    refusals = [table.refused(command) for command in (c.Build(0, 1), c.Redeem(0, 5))]

    assert [refused.reason for refused in refusals] == [Reason.NOT_MANAGING_TIME] * 2
    assert [refused.rule for refused in refusals] == ["DEBT-1"] * 2


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_payment_pause_lasts_75_seconds(rules: str) -> None:
    """DEBT-1."""
    table = given(rules).standing({0: 36}).owned(1, 39).dice((1, 2))
    table.now += 30_000

    opened = only(table.when(c.Roll(0)), e.DeadlineSet)

    assert opened.due == table.now + 75_000


def test_a_debt_in_the_last_second_of_a_speed_turn_has_its_75_seconds() -> None:
    """DEBT-1."""
    table = landed(SPEED_2, cash=500)
    table.wait(44.5)

    opened = only(table.when(c.Roll(0)), e.DeadlineSet)

    assert opened.due == table.now + 75_000
    assert opened.clock_left == 500


def test_each_new_debt_has_its_own_pause() -> None:
    """DEBT-1."""
    table = given().standing({0: 34}).owned(1, 39).card(9).dice((1, 1), (1, 2))
    table.when(c.Roll(0))
    table.wait(60)
    table.when(c.Pay(0))

    table.when(c.Roll(0))

    assert table.match.debts[0].due == table.now + 75_000


def test_a_debt_of_nothing_is_not_opened() -> None:
    """DEBT-1."""
    table = given().standing({0: 4}).card(7).dice((1, 2))

    events = table.when(c.Roll(0))

    assert kinds(events)[2:4] == [e.CardDrawn, e.TurnEnded]


def test_on_time_out_the_engine_pays_from_cash() -> None:
    """DEBT-2, CLOCK-2."""
    table = landed(cash=500).owned(0, 5)
    table.when(c.Roll(0))

    events = table.time_out()

    assert kinds(events)[:2] == [e.DecisionTimedOut, e.DebtPaid]
    assert not every(events, e.PropertyMortgaged)


def test_on_time_out_bare_groups_are_mortgaged_cheapest_first() -> None:
    """DEBT-2."""
    table = landed(cash=0, level=1).owned(0, 24, 11, 5, 1).group(0, "light_blue").levels({6: 1})
    table.when(c.Roll(0))

    events = table.time_out()

    mortgaged = [event.square for event in every(events, e.PropertyMortgaged)]
    assert mortgaged == [1, 11, 5], "300 + 700 + 1,000 is 2,000"
    assert not every(events, e.LevelSold)


def test_on_time_out_the_lower_of_equal_squares_is_mortgaged_first() -> None:
    """DEBT-2."""
    table = landed(cash=0).owned(0, 35, 15, 25)
    table.when(c.Roll(0))

    events = table.time_out()

    assert [event.square for event in every(events, e.PropertyMortgaged)] == [15]


def test_on_time_out_levels_of_the_dearest_group_are_sold_next() -> None:
    """DEBT-2."""
    table = landed(cash=0, level=1).owned(0, 1).group(0, "orange").group(0, "light_blue")
    table.levels({16: 1, 18: 1, 19: 2, 6: 1, 8: 1, 9: 1})
    table.when(c.Roll(0))

    events = table.time_out()

    assert [event.square for event in every(events, e.PropertyMortgaged)] == [1]
    sold = [(event.square, event.level) for event in every(events, e.LevelSold)]
    assert sold == [(19, 1), (19, 0), (18, 0), (16, 0)], "300 + 4 x 500 is 2,300"


def test_on_time_out_the_street_with_most_levels_sells_first_in_speed_too() -> None:
    """DEBT-2."""
    table = landed(SPEED_1, cash=0, level=1).group(0, "orange").levels({16: 4, 19: 1})
    table.when(c.Roll(0))

    sold = every(table.time_out(), e.LevelSold)

    assert [(event.square, event.level) for event in sold] == [(16, 3), (16, 2), (16, 1), (19, 0)]


def test_on_time_out_groups_of_one_build_cost_sell_from_the_highest_street() -> None:
    """DEBT-2."""
    table = landed(cash=0).group(0, "pink").group(0, "orange")
    table.levels({11: 2, 13: 1, 14: 1, 16: 1, 18: 1, 19: 1})
    table.when(c.Roll(0))

    sold = every(table.time_out(), e.LevelSold)

    assert [(event.square, event.level) for event in sold] == [(11, 1)]


def test_on_time_out_what_had_levels_is_mortgaged_last() -> None:
    """DEBT-2."""
    table = landed(cash=0, level=1).group(0, "light_blue").levels({6: 1, 8: 1, 9: 1}).owned(0, 1)
    table.when(c.Roll(0))

    events = table.time_out()

    raised = [event.square for event in every(events, e.PropertyMortgaged)]
    assert len(every(events, e.LevelSold)) == 3
    assert raised == [1, 6, 8], "300 + 3 x 250 + 500 + 500 is 2,050"
    assert table.match.cash[0] == 50


def test_raising_stops_as_soon_as_it_suffices() -> None:
    """DEBT-2."""
    table = landed(cash=200).owned(0, 1, 3)
    table.when(c.Roll(0))

    assert len(every(table.time_out(), e.PropertyMortgaged)) == 1
    assert table.match.cash[0] == 0


def test_what_all_of_it_just_covers_is_paid() -> None:
    """DEBT-2."""
    table = landed(cash=200).owned(0, 1)
    table.when(c.Roll(0))

    assert only(table.time_out(), e.DebtPaid).amounts == ((1, 500),)


def test_a_bankruptcy_is_found_out_before_anything_is_sold() -> None:
    """DEBT-2."""
    table = landed(cash=199).owned(0, 1)
    table.when(c.Roll(0))

    events = table.time_out()

    assert kinds(events)[:3] == [e.DecisionTimedOut, e.SeatBankrupted, e.PropertyReleased]
    assert not every(events, e.PropertyMortgaged)


def collecting(cash: dict[int, int], seats: int = 4, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 draws card 6 while the others have that cash."""
    table = given(rules, seats).standing({0: 4}).card(6).dice((1, 2)).cash(cash)
    table.when(c.Roll(0))
    return table


def debtors(table: Table) -> list[int]:
    return [debt.debtor for debt in table.match.debts]


def test_card_6_puts_everyone_who_is_short_into_a_pause_of_its_own() -> None:
    """DEBT-3."""
    table = collecting({1: 249, 2: 250, 3: 0})

    assert debtors(table) == [1, 3]
    assert table.match.cash[0] == 15_250
    assert [debt.due for debt in table.match.debts] == [table.now + 75_000] * 2


def test_the_debtors_of_card_6_are_listed_from_the_drawers_left() -> None:
    """DEBT-3."""
    table = given(seats=4).turn(2).standing({2: 4}).card(6).dice((1, 2))
    table.cash({0: 0, 1: 0, 3: 0})

    table.when(c.Roll(2))

    assert debtors(table) == [3, 0, 1]


def test_the_turn_goes_on_when_all_debts_of_card_6_are_settled() -> None:
    """DEBT-3."""
    table = collecting({1: 0, 3: 0}).owned(1, 5).owned(3, 15)
    table.when(c.Mortgage(1, 5), c.Pay(1))
    assert table.match.phase == phases.DEBT

    events = table.when(c.Mortgage(3, 15), c.Pay(3))

    assert kinds(events) == [e.DebtPaid, e.TurnEnded, e.TurnStarted, e.DeadlineSet]
    assert table.match.cash[0] == 15_750


def test_of_several_debtors_one_pays_one_surrenders_and_one_times_out() -> None:
    """DEBT-3."""
    table = collecting({1: 0, 2: 100, 3: 0}).owned(1, 5).owned(3, 15)
    table.when(c.Mortgage(1, 5), c.Pay(1), c.Surrender(2))

    events = table.time_out()

    assert kinds(events)[:3] == [e.DecisionTimedOut, e.PropertyMortgaged, e.DebtPaid]
    assert table.match.cash[0] == 15_000 + 250 + 100 + 250
    assert table.match.turn == 1


def test_debts_that_end_at_the_same_moment_fire_in_their_order() -> None:
    """DEBT-3."""
    table = collecting({1: 0, 2: 0, 3: 0}).owned(1, 5).owned(2, 15).owned(3, 25)

    fired = [only(table.time_out(), e.DecisionTimedOut).seat for _ in range(3)]

    assert fired == [1, 2, 3]


def test_a_later_debtor_may_pay_first() -> None:
    """DEBT-3."""
    table = collecting({1: 0, 3: 0}).owned(3, 15)
    table.when(c.Mortgage(3, 15), c.Pay(3))

    assert debtors(table) == [1]


def test_when_the_drawer_goes_out_the_debts_go_on_to_the_bank() -> None:
    """DEBT-3, BANK-3."""
    table = collecting({1: 0}).owned(1, 5)
    table.when(c.Surrender(0))
    assert table.match.debts[0].creditors == ((e.BANK, 250),)

    events = table.when(c.Mortgage(1, 5), c.Pay(1))

    assert kinds(events)[:2] == [e.DebtPaid, e.TurnEnded]
    assert only(events, e.DebtPaid).amounts == ((e.BANK, 250),)
    assert table.match.turn == 1


def test_a_debt_of_card_6_that_ends_the_match_drops_the_others() -> None:
    """DEBT-3, END-1."""
    table = collecting({1: 0, 2: 0}, seats=3)
    table.time_out()

    events = table.time_out()

    assert kinds(events) == [e.DecisionTimedOut, e.SeatBankrupted, e.MatchEnded, e.SeedRevealed]
    assert table.match.debts == []


def test_the_others_debts_are_dropped_when_the_drawers_team_wins() -> None:
    """DEBT-3, END-1."""
    table = given(TEAMS_2).standing({0: 4}).card(6).dice((1, 2))
    table.cash({1: 0, 2: 0}).gone(3)
    table.when(c.Roll(0))
    assert debtors(table) == [1, 2]

    events = table.when(c.DeclareBankruptcy(1))

    assert kinds(events) == [e.SeatBankrupted, e.MatchEnded, e.SeedRevealed]
    assert table.match.winners == (0, 2)
    assert table.match.debts == []


def test_the_turns_seat_manages_meanwhile_in_revision_1() -> None:
    """DEBT-3."""
    table = collecting({1: 0}, rules=CLASSIC_1).group(0, "brown")

    assert only(table.when(c.Build(0, 1)), e.LevelBuilt).level == 1


def test_the_turns_seat_does_not_manage_meanwhile_in_revision_2() -> None:
    """DEBT-3."""
    table = collecting({1: 0}).group(0, "brown")

    assert table.refused(c.Build(0, 1)).reason is Reason.NOT_MANAGING_TIME


def test_the_debtor_out_of_turn_may_manage_and_propose() -> None:
    """DEBT-3, DEBT-1."""
    table = collecting({1: 0}).owned(1, 5, 12)

    table.when(c.Mortgage(1, 12), c.OfferTrade(1, 2, e.Side(0, (5,)), e.Side(2_000)))

    assert table.match.offers[0].proposer == 1


def test_after_doubles_the_roll_follows_the_debts_of_card_6() -> None:
    """DEBT-3, TURN-2."""
    table = given(seats=2).standing({0: 5}).card(6).dice((1, 1)).cash({1: 0}).owned(1, 5)
    table.when(c.Roll(0), c.Mortgage(1, 5))

    events = table.when(c.Pay(1))

    assert kinds(events) == [e.DebtPaid, e.DeadlineSet]
    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)


def test_card_12_is_one_pause_with_several_creditors() -> None:
    """DEBT-4."""
    table = given(seats=4).standing({0: 4}).card(12).dice((1, 2)).cash({0: 750})
    table.when(c.Roll(0))

    paid = only(table.when(c.Pay(0)), e.DebtPaid)

    assert paid.amounts == ((1, 250), (2, 250), (3, 250))
    assert table.match.cash == [0, 15_250, 15_250, 15_250]


def test_a_creditor_of_card_12_who_leaves_is_replaced_by_the_bank() -> None:
    """DEBT-4, BANK-3."""
    table = given(seats=4).standing({0: 4}).card(12).dice((1, 2))
    table.when(c.Roll(0), c.Surrender(2))

    paid = only(table.when(c.Pay(0)), e.DebtPaid)

    assert paid.amounts == ((1, 250), (e.BANK, 250), (3, 250))
    assert table.match.cash == [14_250, 15_250, 0, 15_250]


def test_a_rent_whose_owner_leaves_is_paid_to_the_bank_whole() -> None:
    """BANK-3."""
    table = given().round(200).standing({0: 36}).owned(1, 39).dice((1, 2))
    table.when(c.Roll(0), c.Surrender(1))

    paid = only(table.when(c.Pay(0)), e.DebtPaid)

    assert (paid.amounts, paid.withheld) == (((e.BANK, 5),), 495)
    assert table.match.cash == [14_500, 0, 15_000]
