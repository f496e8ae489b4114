"""Jail (JAIL-1 to JAIL-5)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import (
    CLASSIC_1,
    CLASSIC_2,
    REVISION_1,
    REVISION_2,
    RULE_SETS,
    SPEED_1,
    SPEED_2,
)
from tests.support.spec import every, given, kinds, only

NO_DOUBLES = (1, 2)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_rent_is_still_collected_in_jail(rules: str) -> None:
    """JAIL-1."""
    table = given(rules).jailed(1).owned(1, 39).standing({0: 36}).dice((1, 2))

    table.when(c.Roll(0), c.Pay(0))

    assert table.match.cash[1] == 15_500


@pytest.mark.parametrize("rules", RULE_SETS)
def test_property_is_managed_and_trades_are_made_in_jail(rules: str) -> None:
    """JAIL-1."""
    table = given(rules).jailed(0).group(0, "brown").owned(0, 5, 12)

    table.when(c.Build(0, 1), c.Mortgage(0, 5))
    table.when(c.OfferTrade(0, 1, e.Side(0, (12,)), e.Side(1_500)), c.AcceptTrade(1, 1))

    assert table.match.owner[12] == 1


@pytest.mark.parametrize("rules", RULE_SETS)
def test_sitting_in_jail_costs_nothing(rules: str) -> None:
    """JAIL-1."""
    table = given(rules).jailed(0).cash({0: 0}).dice(NO_DOUBLES)

    table.when(c.Roll(0))

    assert table.match.cash[0] == 0
    assert table.match.turn == 1


@pytest.mark.parametrize("rules", REVISION_1)
def test_revision_1_pays_bail_before_a_normal_roll(rules: str) -> None:
    """JAIL-2."""
    table = given(rules).jailed(0, 1).dice((6, 4))

    events = table.when(c.PayBail(0))

    assert events == [e.BailPaid(0, 500), e.JailLeft(0, "bail")]
    assert (table.match.phase, table.match.jail_attempts[0]) == (phases.ROLL, 0)
    assert only(table.when(c.Roll(0)), e.TokenMoved) == e.TokenMoved(0, 10, 20, "roll")


def test_the_roll_after_bail_is_normal_to_its_doubles() -> None:
    """JAIL-2, TURN-2."""
    table = given(CLASSIC_1).jailed(0).dice((5, 5))
    table.when(c.PayBail(0))

    table.when(c.Roll(0))

    assert table.match.doubles == 1
    assert (table.match.turn, table.match.phase) == (0, phases.ROLL)


def test_the_roll_after_bail_has_its_third_die() -> None:
    """JAIL-2, DIE3-1."""
    table = given(SPEED_1).round(7).jailed(0).dice((6, 3, 1))
    table.when(c.PayBail(0))

    assert only(table.when(c.Roll(0)), e.TokenMoved).target == 20


def test_revision_1_pays_bail_with_the_cash_in_hand() -> None:
    """JAIL-2."""
    table = given(CLASSIC_1).jailed(0).cash({0: 499}).owned(0, 5)
    refused = table.refused(c.PayBail(0))
    assert (refused.reason, refused.rule) == (Reason.NOT_ENOUGH_CASH, "JAIL-2")
    assert refused.facts == {"needed": 500, "cash": 499}

    table.when(c.Mortgage(0, 5), c.PayBail(0))

    assert table.match.cash[0] == 999


def test_cash_equal_to_the_bail_is_enough() -> None:
    """JAIL-2."""
    table = given(CLASSIC_1).jailed(0).cash({0: 500})
    table.when(c.PayBail(0))

    assert table.match.cash[0] == 0


def test_who_is_free_pays_no_bail() -> None:
    """JAIL-2."""
    assert given(CLASSIC_1).refused(c.PayBail(0)).reason is Reason.NOT_IN_JAIL


@pytest.mark.parametrize("rules", RULE_SETS)
def test_doubles_free_and_move_with_no_further_roll(rules: str) -> None:
    """JAIL-2, JAIL-3."""
    table = given(rules).jailed(0, 1).owned(0, 16).dice((3, 3))

    events = table.when(c.Roll(0))

    assert kinds(events)[:4] == [e.DiceRolled, e.JailLeft, e.TokenMoved, e.TurnEnded]
    assert only(events, e.JailLeft) == e.JailLeft(0, "doubles")
    assert only(events, e.TokenMoved) == e.TokenMoved(0, 10, 16, "roll")
    assert table.match.jail_attempts[0] == 0


@pytest.mark.parametrize("rules", REVISION_1)
def test_revision_1_ends_the_turn_without_doubles(rules: str) -> None:
    """JAIL-2."""
    table = given(rules).jailed(0).dice(NO_DOUBLES)

    events = table.when(c.Roll(0))

    assert kinds(events)[:3] == [e.DiceRolled, e.JailAttemptFailed, e.TurnEnded]
    assert only(events, e.JailAttemptFailed) == e.JailAttemptFailed(0, 1)


@pytest.mark.parametrize("rules", REVISION_2)
def test_revision_2_offers_bail_without_doubles(rules: str) -> None:
    """JAIL-3."""
    table = given(rules).jailed(0).dice(NO_DOUBLES)

    events = table.when(c.Roll(0))

    assert kinds(events) == [e.DiceRolled, e.JailAttemptFailed, e.BailOffered, e.DeadlineSet]
    assert only(events, e.BailOffered) == e.BailOffered(0, 500)


@pytest.mark.parametrize("rules", REVISION_2)
def test_revision_2_moves_by_that_roll_after_bail(rules: str) -> None:
    """JAIL-3."""
    table = given(rules).jailed(0).owned(0, 13).dice(NO_DOUBLES)
    table.when(c.Roll(0))

    events = table.when(c.PayBail(0))

    assert kinds(events)[:4] == [e.BailPaid, e.JailLeft, e.TokenMoved, e.TurnEnded]
    assert only(events, e.JailLeft) == e.JailLeft(0, "bail")
    assert only(events, e.TokenMoved).target == 13
    assert table.match.cash[0] == 14_500


@pytest.mark.parametrize("rules", REVISION_2)
def test_revision_2_lets_stay(rules: str) -> None:
    """JAIL-3."""
    table = given(rules).jailed(0).dice(NO_DOUBLES)
    table.when(c.Roll(0))

    events = table.when(c.StayInJail(0))

    assert kinds(events)[0] is e.TurnEnded
    assert table.match.in_jail[0]
    assert table.match.jail_attempts[0] == 1


@pytest.mark.parametrize(("cash", "offers"), [(499, 0), (500, 1)])
def test_with_less_than_the_bail_there_is_no_choice(cash: int, offers: int) -> None:
    """JAIL-3."""
    table = given().jailed(0).cash({0: cash}).dice(NO_DOUBLES)

    assert len(every(table.when(c.Roll(0)), e.BailOffered)) == offers


def test_revision_2_pays_no_bail_before_the_roll() -> None:
    """JAIL-3."""
    refused = given().jailed(0).refused(c.PayBail(0))

    assert (refused.reason, refused.facts) == (Reason.WRONG_PHASE, {"phase": "roll"})


def test_revision_1_knows_no_staying() -> None:
    """JAIL-2."""
    assert given(CLASSIC_1).jailed(0).refused(c.StayInJail(0)).reason is Reason.WRONG_PHASE


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2])
def test_a_timed_out_turn_is_no_attempt(rules: str) -> None:
    """JAIL-4."""
    table = given(rules).jailed(0, 2)

    table.time_out()

    assert table.match.jail_attempts[0] == 2


@pytest.mark.parametrize("rules", RULE_SETS)
def test_after_the_third_failed_roll_the_bail_is_a_debt(rules: str) -> None:
    """JAIL-4."""
    table = given(rules).jailed(0, 2).dice(NO_DOUBLES)

    events = table.when(c.Roll(0))

    assert kinds(events) == [e.DiceRolled, e.JailAttemptFailed, e.DebtOpened, e.DeadlineSet]
    opened = only(events, e.DebtOpened)
    assert (opened.reason, opened.amount, opened.creditors) == ("bail", 500, ((e.BANK, 500),))


@pytest.mark.parametrize("rules", RULE_SETS)
def test_after_paying_forced_bail_the_token_moves_by_that_roll(rules: str) -> None:
    """JAIL-4."""
    table = given(rules).jailed(0, 2).owned(0, 13).dice(NO_DOUBLES)
    table.when(c.Roll(0))

    events = table.when(c.Pay(0))

    assert kinds(events)[:4] == [e.DebtPaid, e.JailLeft, e.TokenMoved, e.TurnEnded]
    assert only(events, e.JailLeft) == e.JailLeft(0, "forced_bail")
    assert only(events, e.TokenMoved).target == 13
    assert table.match.jail_attempts[0] == 0


def test_doubles_on_the_third_roll_free_without_bail() -> None:
    """JAIL-4."""
    table = given().jailed(0, 2).owned(0, 16).dice((3, 3))

    assert not every(table.when(c.Roll(0)), e.DebtOpened)


def test_forced_bail_that_times_out_is_paid_and_the_token_moves() -> None:
    """JAIL-4, DEBT-2."""
    table = given().jailed(0, 2).owned(0, 13, 5).cash({0: 0}).dice(NO_DOUBLES)
    table.when(c.Roll(0))

    events = table.time_out()

    assert kinds(events)[:5] == [
        e.DecisionTimedOut,
        e.PropertyMortgaged,
        e.DebtPaid,
        e.JailLeft,
        e.TokenMoved,
    ]


def test_who_cannot_pay_forced_bail_goes_bankrupt() -> None:
    """JAIL-4, BANK-1."""
    table = given().jailed(0, 2).cash({0: 499}).dice(NO_DOUBLES)
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert events[0] == e.SeatBankrupted(0, 499, ((e.BANK, 499),), 0)
    assert not table.match.in_jail[0]


def test_the_count_of_attempts_is_anew_after_being_sent_again() -> None:
    """JAIL-4."""
    table = given().jailed(0, 1).dice(NO_DOUBLES, (6, 6))
    table.when(c.Roll(0), c.PayBail(0), c.Buy(0))
    table.turn(0).standing({0: 18})
    table.when(c.Roll(0))

    assert table.match.in_jail[0]
    assert table.match.jail_attempts[0] == 0


def test_what_the_freed_token_reaches_is_resolved() -> None:
    """JAIL-3, JAIL-4."""
    table = given().jailed(0).dice((3, 3))

    assert only(table.when(c.Roll(0)), e.PropertyOffered).square == 16


@pytest.mark.parametrize("rules", [SPEED_1, SPEED_2])
def test_the_third_die_is_never_rolled_in_jail(rules: str) -> None:
    """JAIL-5."""
    table = given(rules).round(7).jailed(0).dice((1, 2))

    assert only(table.when(c.Roll(0)), e.DiceRolled).third == 0


def test_doubles_in_jail_do_not_count_towards_three() -> None:
    """JAIL-5."""
    table = given().jailed(0).owned(0, 16).dice((3, 3))

    table.when(c.Roll(0))

    assert table.match.doubles == 0


@pytest.mark.parametrize("rules", REVISION_1)
def test_bail_is_paid_in_ones_own_turn(rules: str) -> None:
    """JAIL-2."""
    assert given(rules).jailed(1).refused(c.PayBail(1)).reason is Reason.NOT_YOUR_TURN
