"""How a match ends and who is placed where (END-1 to END-3)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, SPEED_1, SPEED_2, TEAMS_2
from tests.support.spec import Table, every, given, kinds, only


def last_turn(rules: str = CLASSIC_2, seats: int = 0) -> Table:
    """Return a table at which the last seat's pending turn completes the last round."""
    table = given(rules, seats)
    seats = len(table.match.out)
    table.round(table.match.rules.round_cap).turn(seats - 1)
    table.match.had_turn = [True] * seats
    return table


def ended(table: Table) -> e.MatchEnded:
    """Let the pending roll time out, which ends the match."""
    return only(table.time_out(), e.MatchEnded)


@pytest.mark.parametrize("rules", [r for r in RULE_SETS if r != TEAMS_2])
def test_one_living_seat_wins_at_once(rules: str) -> None:
    """END-1."""
    table = given(rules)
    table.when(c.Surrender(1))

    events = table.when(c.Surrender(0))

    assert kinds(events) == [e.SeatSurrendered, e.MatchEnded, e.SeedRevealed]
    assert only(events, e.MatchEnded).winners == (2,)
    assert only(events, e.MatchEnded).why == "last_standing"
    assert table.match.phase == phases.ENDED


def test_a_team_wins_when_it_alone_has_living_seats() -> None:
    """END-1."""
    table = given(TEAMS_2)
    table.when(c.Surrender(2))
    assert not every(table.when(c.Surrender(1)), e.MatchEnded)

    events = table.when(c.Surrender(3))

    assert only(events, e.MatchEnded).winners == (0, 2), "who is out wins with its team"
    assert only(events, e.MatchEnded).placing == (0, 2, 3, 1)


def test_the_last_seat_wins_in_whatever_phase() -> None:
    """END-1."""
    table = given(seats=2).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    assert only(table.when(c.Surrender(1)), e.MatchEnded).winners == (0,)


def test_an_open_debt_of_the_winner_stays_unpaid() -> None:
    """END-1."""
    table = given(seats=2).standing({0: 1}).dice((1, 2))
    table.when(c.Roll(0))
    assert table.match.phase == phases.DEBT

    table.when(c.Surrender(1))

    assert table.match.cash[0] == 15_000
    assert table.match.debts == []


def test_a_match_that_is_over_takes_no_commands() -> None:
    """END-1."""
    table = given(seats=2)
    table.when(c.Surrender(1))

    refusals = [
        table.refused(c.Roll(0)),
        table.refused(c.FireDeadline("roll:0:1")),
        table.refused(c.Freeze("late", "operator:1")),
        table.refused(c.Abort("late", "operator:1")),
    ]

    assert [refused.reason for refused in refusals] == [Reason.MATCH_ENDED] * 4
    assert refusals[0].facts == {"winners": (0,)}


@pytest.mark.parametrize(
    ("rules", "cap"), [(CLASSIC_1, 500), (SPEED_1, 300), (CLASSIC_2, 500), (SPEED_2, 300)]
)
def test_the_match_ends_when_the_last_round_is_complete(rules: str, cap: int) -> None:
    """END-2."""
    table = last_turn(rules)

    events = table.time_out()

    assert kinds(events) == [
        e.DecisionTimedOut,
        e.TurnMissed,
        e.TurnEnded,
        e.MatchEnded,
        e.SeedRevealed,
    ]
    assert (only(events, e.MatchEnded).round, only(events, e.MatchEnded).why) == (cap, "round_cap")


def test_the_last_round_is_played_to_its_end() -> None:
    """END-2."""
    table = given().round(500)

    assert not every(table.time_out(), e.MatchEnded)
    assert not every(table.time_out(), e.MatchEnded)


def test_the_richest_wins() -> None:
    """END-2."""
    table = last_turn().cash({0: 100, 1: 300, 2: 200})

    assert ended(table).winners == (1,)


def test_net_worth_is_cash_and_list_prices() -> None:
    """END-2."""
    table = last_turn().cash({0: 7}).owned(0, 39, 5)

    assert ended(table).net_worths[0] == 7 + 4_000 + 2_000


def test_mortgaged_property_counts_half() -> None:
    """END-2."""
    table = last_turn().cash({0: 0}).owned(0, 39, 5).mortgaged(39)

    assert ended(table).net_worths[0] == 2_000 + 2_000


def test_levels_count_at_their_build_cost() -> None:
    """END-2."""
    table = last_turn().cash({0: 0}).group(0, "dark_blue").levels({37: 2, 39: 3})

    assert ended(table).net_worths[0] == 3_500 + 4_000 + 5 * 2_000


def test_a_tie_goes_to_the_lower_seat() -> None:
    """END-2."""
    table = last_turn().cash({0: 100, 1: 200, 2: 200})

    assert ended(table).winners == (1,)


def test_the_result_is_counted_before_any_mortgage_expires() -> None:
    """END-2, MORT-3."""
    table = last_turn(SPEED_2).cash({0: 0, 1: 999, 2: 0}).owned(0, 5).mortgaged(5, in_round=290)

    events = table.time_out()

    assert not every(events, e.PropertyReleased)
    assert only(events, e.MatchEnded).winners == (0,)
    assert table.match.owner[5] == 0


def test_teams_compare_the_sum_of_their_living_seats() -> None:
    """END-2."""
    table = last_turn(TEAMS_2, 6).gone(4).cash({0: 400, 1: 300, 2: 300, 3: 301, 5: 100})

    assert ended(table).winners == (1, 3, 5)


def test_one_living_seat_of_each_team_stands_for_its_team() -> None:
    """END-2."""
    table = last_turn(TEAMS_2).gone(1, 2).cash({0: 10, 3: 500})

    assert ended(table).winners == (1, 3)


def test_a_tie_of_teams_goes_to_team_0() -> None:
    """END-2."""
    table = last_turn(TEAMS_2).cash({0: 100, 1: 200, 2: 300, 3: 200})

    assert ended(table).winners == (0, 2)


def test_the_missed_turn_that_completes_the_last_round_may_surrender_first() -> None:
    """END-2, CLOCK-3: the surrender comes before the end."""
    table = last_turn().missed({2: 1}).cash({2: 90_000})

    events = table.time_out()

    assert kinds(events)[1:5] == [e.TurnMissed, e.SeatSurrendered, e.TurnEnded, e.MatchEnded]
    assert only(events, e.MatchEnded).winners == (0,)


def test_a_forced_surrender_that_leaves_one_seat_ends_the_match() -> None:
    """END-1, CLOCK-3."""
    table = given(seats=2).missed({0: 1})

    events = table.time_out()

    assert kinds(events) == [
        e.DecisionTimedOut,
        e.TurnMissed,
        e.SeatSurrendered,
        e.TurnEnded,
        e.MatchEnded,
        e.SeedRevealed,
    ]
    assert only(events, e.MatchEnded).why == "last_standing"


def test_the_winner_is_first_then_the_living_by_net_worth_then_the_last_out() -> None:
    """END-3."""
    table = last_turn(seats=6).gone(4, 1).cash({0: 100, 2: 300, 3: 200, 5: 300})

    assert ended(table).placing == (2, 5, 3, 0, 1, 4)


def test_living_seats_of_equal_worth_are_placed_by_number() -> None:
    """END-3."""
    table = last_turn(seats=4).cash({0: 100, 1: 100, 2: 900, 3: 100})

    assert ended(table).placing == (2, 0, 1, 3)


def test_the_winning_team_is_placed_first_in_its_own_order() -> None:
    """END-3."""
    table = last_turn(TEAMS_2, 6).gone(1, 2)
    table.cash({0: 50, 3: 900, 4: 10, 5: 10})

    result = ended(table)

    assert result.winners == (1, 3, 5)
    assert result.placing == (3, 5, 1, 0, 4, 2)


def test_a_poor_member_of_the_winning_team_is_placed_before_a_rich_loser() -> None:
    """END-3."""
    table = last_turn(TEAMS_2).cash({0: 10, 1: 500, 2: 600, 3: 0})

    assert ended(table).placing == (2, 0, 1, 3)


def test_whole_street_groups_are_counted_for_the_rewards() -> None:
    """XP-3: stations and utilities are no street groups."""
    table = last_turn().group(0, "brown").group(0, "pink").group(0, "station").owned(1, 37)
    table.group(2, "utility")

    assert ended(table).groups_held == (2, 0, 0)


def test_what_was_going_on_is_gone_at_the_end() -> None:
    """END-1."""
    table = given(seats=3).owned(0, 5).owned(1, 12).standing({0: 36}).dice((1, 2))
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))
    table.when(c.Roll(0), c.Decline(0), c.Surrender(2))

    table.when(c.Surrender(1))

    assert table.state()["offers"] == []
    assert table.state()["auction"] is None
    assert table.state()["deadline"] is None
