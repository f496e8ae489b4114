"""Missed turns in a row, and what ends the run (CLOCK-3)."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from tests.support.builders import CLASSIC_1, CLASSIC_2, REVISION_1, REVISION_2, RULE_SETS
from tests.support.spec import Table, every, given, kinds, only

QUIET = (4, 6)


def missed(rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 has missed a turn before."""
    return given(rules).missed({0: 1})


@pytest.mark.parametrize(
    ("rules", "limit"), [*((r, 3) for r in REVISION_1), *((r, 2) for r in REVISION_2)]
)
def test_missed_turns_in_a_row_surrender_the_seat(rules: str, limit: int) -> None:
    """CLOCK-3."""
    table = given(rules).missed({0: limit - 1})

    events = table.time_out()

    assert kinds(events)[:4] == [
        e.DecisionTimedOut,
        e.TurnMissed,
        e.SeatSurrendered,
        e.TurnEnded,
    ]
    assert only(events, e.TurnMissed) == e.TurnMissed(0, limit)
    assert only(events, e.SeatSurrendered).forced
    assert table.match.out[0]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_one_missed_turn_less_does_not(rules: str) -> None:
    """CLOCK-3."""
    table = given(rules)
    limit = table.match.rules.missed_turns_limit
    table.missed({0: limit - 2})

    assert not every(table.time_out(), e.SeatSurrendered)
    assert table.match.missed_turns[0] == limit - 1


def test_a_turn_in_which_any_decision_timed_out_is_missed_when_it_ends() -> None:
    """CLOCK-3."""
    table = given(seats=2).standing({0: 2}).dice((2, 2), (1, 3))
    table.when(c.Roll(0))
    table.time_out()
    table.wait(20)
    assert table.match.missed_turns[0] == 0, "the turn is not over"

    events = table.when(c.Roll(0))

    assert kinds(events)[2:4] == [e.TurnMissed, e.TurnEnded]


def test_a_timed_out_payment_pause_of_ones_own_turn_is_a_missed_turn() -> None:
    """CLOCK-3."""
    table = given().standing({0: 36}).owned(1, 39).dice((1, 2))
    table.when(c.Roll(0))

    assert only(table.time_out(), e.TurnMissed) == e.TurnMissed(0, 1)


def test_a_timed_out_bid_is_no_missed_turn() -> None:
    """CLOCK-3."""
    table = given(seats=2).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0), c.Decline(0), c.Pass(1))

    events = table.time_out()

    assert kinds(events)[:3] == [e.DecisionTimedOut, e.BidPassed, e.AuctionClosed]
    assert not every(events, e.TurnMissed)


def test_a_timed_out_pause_of_card_6_out_of_turn_is_no_missed_turn() -> None:
    """CLOCK-3."""
    table = given().standing({0: 4}).card(6).dice((1, 2)).cash({1: 0}).owned(1, 5)
    table.when(c.Roll(0))

    events = table.time_out()

    assert not every(events, e.TurnMissed)
    assert table.match.missed_turns == [0, 0, 0]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_turn_of_ones_own_without_a_time_out_ends_the_run(rules: str) -> None:
    """CLOCK-3."""
    table = missed(rules).dice(QUIET)

    table.when(c.Roll(0))

    assert table.match.missed_turns[0] == 0


def acts(table: Table, *commands: c.Command) -> int:
    """Return the missed turns of seat 1 after it acted in the turn of seat 0."""
    table.missed({1: 1})
    table.when(*commands)
    return table.match.missed_turns[1]


def bidding(rules: str) -> Table:
    table = given(rules).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0), c.Decline(0))
    return table


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("command", [c.Bid(1), c.Pass(1)])
def test_bidding_out_of_turn_ends_the_run(rules: str, command: c.SeatCommand) -> None:
    """CLOCK-3."""
    assert acts(bidding(rules), command) == 0


def test_being_passed_does_not_end_the_run() -> None:
    """CLOCK-3."""
    table = bidding(CLASSIC_2).missed({1: 1})

    table.time_out()

    assert table.match.missed_turns[1] == 1


def owing_out_of_turn(rules: str) -> Table:
    table = given(rules).standing({0: 4}).card(6).dice((1, 2)).cash({1: 0}).owned(1, 5, 12)
    table.when(c.Roll(0))
    return table


@pytest.mark.parametrize("rules", RULE_SETS)
def test_paying_out_of_turn_ends_the_run(rules: str) -> None:
    """CLOCK-3."""
    table = owing_out_of_turn(rules)
    table.cash({1: 250})

    assert acts(table, c.Pay(1)) == 0


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_timed_out_payment_out_of_turn_does_not_end_the_run(rules: str) -> None:
    """CLOCK-3."""
    table = owing_out_of_turn(rules).missed({1: 1})

    table.time_out()

    assert table.match.missed_turns[1] == 1


MANAGING = [
    c.Mortgage(1, 5),
    c.OfferTrade(1, 2, e.Side(0, (5,)), e.Side(2_000)),
]


@pytest.mark.parametrize("command", MANAGING, ids=lambda command: type(command).__name__)
@pytest.mark.parametrize(("rules", "left"), [(CLASSIC_1, 0), (CLASSIC_2, 1)])
def test_managing_out_of_turn_ends_the_run_in_revision_1_alone(
    command: c.SeatCommand, rules: str, left: int
) -> None:
    """CLOCK-3."""
    assert acts(owing_out_of_turn(rules), command) == left


@pytest.mark.parametrize(("rules", "left"), [(CLASSIC_1, 0), (CLASSIC_2, 1)])
def test_selling_a_level_out_of_turn_ends_the_run_in_revision_1_alone(
    rules: str, left: int
) -> None:
    """CLOCK-3."""
    table = given(rules).standing({0: 4}).card(6).dice((1, 2)).cash({1: 0})
    table.group(1, "brown").levels({1: 1})
    table.when(c.Roll(0))

    assert acts(table, c.SellLevel(1, 1)) == left


def offered(rules: str, *, holds: bool = True) -> Table:
    """Return a table at which seat 0 offered its station to seat 1."""
    table = given(rules).owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))
    if not holds:
        table.when(c.Mortgage(0, 5))
    return table


@pytest.mark.parametrize("command", [c.AcceptTrade(1, 1), c.RejectTrade(1, 1)])
@pytest.mark.parametrize(("rules", "left"), [(CLASSIC_1, 0), (CLASSIC_2, 1)])
def test_answering_an_offer_ends_the_run_in_revision_1_alone(
    command: c.SeatCommand, rules: str, left: int
) -> None:
    """CLOCK-3."""
    assert acts(offered(rules), command) == left


@pytest.mark.parametrize(("rules", "left"), [(CLASSIC_1, 0), (CLASSIC_2, 1)])
def test_accepting_a_stale_offer_ends_the_run_in_revision_1_alone(rules: str, left: int) -> None:
    """CLOCK-3."""
    assert acts(offered(rules, holds=False), c.AcceptTrade(1, 1)) == left


@pytest.mark.parametrize(("rules", "left"), [(CLASSIC_1, 0), (CLASSIC_2, 1)])
def test_withdrawing_an_offer_ends_the_run_in_revision_1_alone(rules: str, left: int) -> None:
    """CLOCK-3."""
    table = given(rules).turn(1).owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(1, 0, e.Side(0, (12,)), e.Side(0, (5,))))
    table.turn(0)

    assert acts(table, c.WithdrawTrade(1, 1)) == left


@pytest.mark.parametrize("rules", RULE_SETS)
def test_an_offer_that_lapses_ends_no_run(rules: str) -> None:
    """CLOCK-3."""
    table = offered(rules).missed({1: 1})

    table.wait(60)

    assert table.match.missed_turns[1] == 1


@pytest.mark.parametrize("rules", RULE_SETS)
def test_acting_in_ones_own_turn_ends_the_run_with_the_turn_alone(rules: str) -> None:
    """CLOCK-3."""
    table = missed(rules).owned(0, 5)
    table.when(c.Mortgage(0, 5))

    assert table.match.missed_turns[0] == 1


@pytest.mark.parametrize("rules", RULE_SETS)
def test_acting_in_a_turn_that_then_times_out_does_not_end_the_run(rules: str) -> None:
    """CLOCK-3."""
    table = missed(rules).owned(0, 5)
    table.when(c.Mortgage(0, 5))

    assert only(table.time_out(), e.TurnMissed).in_a_row == 2


def test_a_seat_that_goes_out_has_no_missed_turn_counted() -> None:
    """CLOCK-3: it keeps its square and what was counted."""
    table = given(seats=3).missed({0: 1}).standing({0: 36}).owned(1, 39).cash({0: 0}).dice((1, 2))
    table.when(c.Roll(0))

    events = table.time_out()

    assert not every(events, e.TurnMissed)
    assert table.match.missed_turns[0] == 1
    assert table.match.square[0] == 39


def test_who_lets_every_clock_run_out_is_surrendered_and_the_match_ends() -> None:
    """CLOCK-3, END-1."""
    table = given()

    events = table.wait(3_600)

    assert kinds(events)[-2:] == [e.MatchEnded, e.SeedRevealed]
    assert table.match.round == 2
