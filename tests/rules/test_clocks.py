"""Deadlines, time-outs and missed turns (CLOCK-1 to CLOCK-3)."""

from dataclasses import replace

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import fires_at, next_deadline, open_deadlines
from tests.support.builders import (
    BUS,
    CLASSIC_1,
    CLASSIC_2,
    SPEED_1,
    SPEED_2,
    X,
)
from tests.support.spec import Table, every, given, kinds, only

QUIET = (4, 6)


def deadline_of(table: Table) -> str:
    deadline = next_deadline(table.match)
    assert deadline is not None
    return deadline.deadline_id


@pytest.mark.parametrize(
    ("rules", "clock_ms"),
    [(CLASSIC_1, 75_000), (SPEED_1, 45_000), (CLASSIC_2, 75_000), (SPEED_2, 45_000)],
)
def test_the_turn_clock_starts_with_the_pending_roll(rules: str, clock_ms: int) -> None:
    """CLOCK-1."""
    table = given(rules).dice(QUIET)
    table.now += 1_234

    due = only(table.when(c.Roll(0)), e.DeadlineSet)

    assert due == e.DeadlineSet(phases.ROLL, 1, 2, 1, table.now + clock_ms, 0)


def test_the_turn_clock_starts_anew_with_a_further_roll() -> None:
    """CLOCK-1."""
    table = given().standing({0: 8}).dice((1, 1))
    table.now += 60_000
    table.when(c.Roll(0))

    assert table.left_s() == 75


def test_a_decision_has_what_the_turn_clock_has_left() -> None:
    """CLOCK-1."""
    table = given().standing({0: 36}).dice((1, 2))
    table.now += 20_000
    table.when(c.Roll(0))

    assert table.left_s() == 55


@pytest.mark.parametrize(("thinking_s", "left_s"), [(64.999, 10.001), (65, 10), (70, 10), (75, 10)])
def test_each_new_decision_has_ten_seconds_at_least(thinking_s: float, left_s: float) -> None:
    """CLOCK-1."""
    table = given().standing({0: 36}).dice((1, 2))
    table.now += round(thinking_s * 1_000)
    table.when(c.Roll(0))

    assert table.left_s() == left_s


def test_a_roll_that_comes_late_but_in_time_leaves_ten_seconds() -> None:
    """CLOCK-1: a move may be stamped a little after its deadline, before that has fired."""
    table = given().standing({0: 36}).dice((1, 2))
    table.now += 75_200
    table.when(c.Roll(0))

    assert table.left_s() == 10


def test_an_auction_stops_the_turn_clock_which_then_goes_on() -> None:
    """CLOCK-1: an X leads to a decision after it."""
    table = given(SPEED_2, seats=2).round(7).standing({0: 36}).dice((1, 2, X))
    table.wait(20)
    table.when(c.Roll(0))
    table.wait(5)
    opened = only(table.when(c.Decline(0)), e.DeadlineSet)
    assert opened.clock_left == 20_000
    table.wait(8)
    table.when(c.Pass(1))
    table.wait(8)

    events = table.when(c.Pass(0))

    assert only(events, e.PropertyOffered).square == 1
    assert table.left_s() == 20


def test_the_turn_clock_goes_on_after_a_payment_pause() -> None:
    """CLOCK-1: forced bail is paid, and the move leads to a decision."""
    table = given().jailed(0, 2).dice((1, 2))
    table.wait(30)
    table.when(c.Roll(0))
    table.wait(70)

    table.when(c.Pay(0))

    assert table.match.phase == phases.BUY
    assert table.left_s() == 45


def test_a_decision_after_a_run_down_clock_and_a_pause_has_ten_seconds() -> None:
    """CLOCK-1."""
    table = given().jailed(0, 2).dice((1, 2))
    table.wait(74)
    table.when(c.Roll(0))
    table.wait(10)
    table.when(c.Pay(0))

    assert table.left_s() == 10


def test_several_decisions_of_one_roll_share_the_turn_clock() -> None:
    """CLOCK-1."""
    table = given(SPEED_2).round(7).dice((1, 2, BUS))
    table.wait(10)
    table.when(c.Roll(0))
    table.wait(10)
    table.when(c.ChooseBusMove(0, 1))

    assert table.match.phase == phases.BUY
    assert table.left_s() == 25


def test_managing_trading_and_bail_never_lengthen_the_clock() -> None:
    """CLOCK-1."""
    table = given(CLASSIC_1).jailed(0).group(0, "brown").owned(0, 5).owned(1, 12)
    before = next_deadline(table.match)
    assert before is not None
    table.wait(20)

    table.when(c.Build(0, 1), c.SellLevel(0, 1), c.Mortgage(0, 1), c.Redeem(0, 1))
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))), c.RejectTrade(1, 1))
    table.when(c.PayBail(0))

    after = next_deadline(table.match)
    assert after is not None
    assert after.due == before.due


def test_a_payment_pause_is_the_rest_of_the_turn_clock_where_that_is_more() -> None:
    """DEBT-1, CLOCK-1: no rule set of today has such a clock."""
    table = given().standing({1: 36}).owned(0, 39).dice(QUIET, (1, 2))
    table.match.rules = replace(table.match.rules, turn_clock_ms=100_000)
    table.when(c.Roll(0))
    table.wait(10)

    assert only(table.when(c.Roll(1)), e.DeadlineSet).due == table.now + 90_000


def test_a_deadline_is_named_by_its_kind_scope_and_number() -> None:
    """CLOCK-1."""
    table = given().owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))

    assert [d.deadline_id for d in open_deadlines(table.match)] == ["roll:0:1", "offer:1:2"]


def test_the_open_deadlines_are_those_that_were_set() -> None:
    """CLOCK-1."""
    table = given().owned(0, 5).owned(1, 12).dice(QUIET)
    offered = table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))
    rolled = table.when(c.Roll(0))

    assert open_deadlines(table.match) == [
        only(rolled, e.DeadlineSet),
        only(offered, e.DeadlineSet),
    ]


def test_the_deadlines_of_debts_are_named_by_the_debt_and_count_on() -> None:
    """CLOCK-1, DEBT-3."""
    table = given().standing({0: 4}).card(6).dice((1, 2)).cash({1: 0, 2: 0})
    table.when(c.Roll(0))

    assert [d.deadline_id for d in open_deadlines(table.match)] == ["debt:1:2", "debt:2:3"]


def test_a_deadline_does_not_fire_before_its_time() -> None:
    """CLOCK-1."""
    table = given()
    table.now += 74_999

    refused = table.refused(c.FireDeadline("roll:0:1"))

    assert (refused.reason, refused.rule) == (Reason.DEADLINE_NOT_DUE, "CLOCK-1")


def test_a_deadline_fires_when_its_time_is_reached() -> None:
    """CLOCK-1."""
    table = given()
    table.now += 75_000

    events = table.when(c.FireDeadline("roll:0:1"))

    assert events[0] == e.DecisionTimedOut(0, phases.ROLL, 0)


def test_lateness_is_recorded() -> None:
    """CLOCK-1."""
    table = given()
    table.now += 76_500

    assert table.when(c.FireDeadline("roll:0:1"))[0] == e.DecisionTimedOut(0, phases.ROLL, 1_500)


def test_at_the_same_moment_decisions_come_before_offers() -> None:
    """CLOCK-1."""
    table = given().owned(0, 5).owned(1, 12)
    table.wait(15)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))

    fired = table.wait(60)

    assert kinds(fired)[0] is e.DecisionTimedOut
    assert kinds(fired)[-1] is e.TradeClosed


def test_deadlines_fire_in_order_of_their_time() -> None:
    """CLOCK-1."""
    table = given().owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))

    assert kinds(table.wait(80))[:2] == [e.TradeClosed, e.DecisionTimedOut]


def test_a_timed_out_roll_ends_the_turn() -> None:
    """CLOCK-2."""
    events = given().time_out()

    assert kinds(events) == [
        e.DecisionTimedOut,
        e.TurnMissed,
        e.TurnEnded,
        e.TurnStarted,
        e.DeadlineSet,
    ]


def test_a_timed_out_purchase_is_declined() -> None:
    """CLOCK-2."""
    table = given().standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    events = table.time_out()

    assert kinds(events) == [e.DecisionTimedOut, e.PropertyDeclined, e.AuctionOpened, e.DeadlineSet]
    assert only(events, e.PropertyDeclined) == e.PropertyDeclined(0, 39, forced=True)


def test_a_timed_out_bus_goes_by_the_sum() -> None:
    """CLOCK-2."""
    table = given(SPEED_2).round(7).dice((4, 6, BUS))
    table.when(c.Roll(0))

    events = table.time_out()

    assert kinds(events)[:3] == [e.DecisionTimedOut, e.BusMoveChosen, e.TokenMoved]
    assert only(events, e.BusMoveChosen) == e.BusMoveChosen(0, 10)


def test_a_timed_out_triple_stays_and_resolves_nothing() -> None:
    """CLOCK-2."""
    table = given(SPEED_2).round(7).standing({0: 39}).dice((2, 2, 2))
    table.when(c.Roll(0))

    events = table.time_out()

    assert kinds(events) == [e.DecisionTimedOut, e.DeadlineSet]
    assert (table.match.phase, table.match.square[0]) == (phases.ROLL, 39)


def test_a_timed_out_jackpot_is_declined() -> None:
    """CLOCK-2."""
    table = given().standing({0: 17}).dice((1, 2))
    table.when(c.Roll(0))

    assert kinds(table.time_out())[:2] == [e.DecisionTimedOut, e.JackpotDeclined]


def test_a_timed_out_bail_choice_is_to_stay() -> None:
    """CLOCK-2."""
    table = given().jailed(0).dice((1, 2))
    table.when(c.Roll(0))

    table.time_out()

    assert table.match.in_jail[0]
    assert table.match.turn == 1


@pytest.mark.parametrize(
    ("dice", "rules"), [((2, 2), CLASSIC_2), ((2, 2, BUS), SPEED_2)], ids=["purchase", "bus"]
)
def test_further_rolls_follow_a_timed_out_decision(dice: tuple[int, ...], rules: str) -> None:
    """CLOCK-2."""
    table = given(rules, seats=2).round(7).standing({0: 4}).owned(0, 8).dice(dice)
    if rules == CLASSIC_2:
        table.standing({0: 2})
    table.when(c.Roll(0))

    table.time_out()
    table.wait(20 if table.match.phase == phases.AUCTION else 0)

    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)


def test_a_timed_out_purchase_is_followed_by_the_jump_of_an_x() -> None:
    """CLOCK-2, DIE3-3."""
    table = given(SPEED_2, seats=2).round(7).standing({0: 36}).dice((1, 2, X))
    table.when(c.Roll(0))
    table.time_out()
    table.time_out()

    assert every(table.time_out(), e.JumpMade)


def test_a_timed_out_roll_is_followed_by_no_jump() -> None:
    """CLOCK-2."""
    table = given(SPEED_2).round(7).dice((5, 5, X))
    table.when(c.Roll(0))

    events = table.time_out()

    assert not every(events, e.JumpMade)
    assert table.match.turn == 1


def test_a_deadline_that_comes_after_its_decision_is_ignored() -> None:
    """CLOCK-3."""
    table = given().standing({0: 36}).dice((1, 2))
    roll = deadline_of(table)
    table.when(c.Roll(0))
    table.now += 80_000

    refused = table.refused(c.FireDeadline(roll))

    assert (refused.reason, refused.facts) == (Reason.DEADLINE_STALE, {"deadline_id": roll})


def test_a_deadline_names_the_decision_it_was_set_for() -> None:
    """CLOCK-3: not the next one of its kind and seat."""
    table = given(seats=2).dice(QUIET, QUIET)
    first = deadline_of(table)
    table.when(c.Roll(0), c.Roll(1))
    table.now += 80_000

    assert table.refused(c.FireDeadline(first)).reason is Reason.DEADLINE_STALE


@pytest.mark.parametrize("name", ["", "roll", "roll:0", "offer:1:1", "nonsense"])
def test_a_deadline_that_never_was_is_ignored(name: str) -> None:
    """CLOCK-3."""
    assert given().refused(c.FireDeadline(name)).reason is Reason.DEADLINE_STALE


def test_a_deadline_is_fired_when_the_grace_for_moves_under_way_is_over() -> None:
    """CLOCK-1."""
    deadline = e.DeadlineSet(phases.ROLL, 1, 2, 1, 75_000, 0)

    assert fires_at(deadline) == 75_250


def test_a_bid_has_no_grace() -> None:
    """CLOCK-1."""
    deadline = e.DeadlineSet(phases.AUCTION, 1, 2, 1, 10_000, 5_000)

    assert fires_at(deadline) == 10_000
