"""When a round is complete (ROUND-1)."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, SPEED_2
from tests.support.spec import Table, every, given, kinds, only

QUIET = (4, 6)
"""From Start to jail, to visit: nothing happens there."""


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_first_round_is_round_1(rules: str) -> None:
    """ROUND-1."""
    assert given(rules).match.round == 1


def test_a_round_is_complete_when_every_seat_has_had_its_turn() -> None:
    """ROUND-1."""
    table = given().dice(QUIET, QUIET, QUIET)
    table.when(c.Roll(0), c.Roll(1))
    assert table.match.round == 1

    events = table.when(c.Roll(2))

    assert kinds(events)[-4:] == [e.TurnEnded, e.RoundStarted, e.TurnStarted, e.DeadlineSet]
    assert only(events, e.RoundStarted) == e.RoundStarted(2)
    assert table.match.turn == 0


def test_skipped_turns_count() -> None:
    """ROUND-1."""
    table = given()
    table.time_out()
    table.time_out()

    assert only(table.time_out(), e.RoundStarted) == e.RoundStarted(2)


def test_turns_in_jail_count() -> None:
    """ROUND-1."""
    table = given(CLASSIC_1).turn(1).jailed(2).jailed(0).dice(QUIET, (1, 2), (1, 2))
    table.when(c.Roll(1), c.Roll(2))

    assert only(table.when(c.Roll(0)), e.RoundStarted) == e.RoundStarted(2)


def test_further_rolls_of_a_turn_do_not_count() -> None:
    """ROUND-1."""
    table = given(seats=2).standing({0: 6, 1: 6}).dice((2, 2), QUIET, QUIET)
    table.when(c.Roll(0))
    assert table.match.round == 1

    table.standing({0: 0}).when(c.Roll(0))

    assert table.match.round == 1
    assert table.match.turn == 1


def test_a_round_is_keyed_on_no_particular_seat() -> None:
    """ROUND-1: the round of seat 1 ends before seat 1 plays again."""
    table = given().turn(1)
    table.when(c.Surrender(1))
    table.time_out()
    assert table.match.round == 1

    events = table.time_out()

    assert only(events, e.RoundStarted) == e.RoundStarted(2)
    assert table.match.turn == 2


def test_the_starter_of_round_1_may_go_out_in_its_turn() -> None:
    """ROUND-1: its turn counts as had."""
    table = given(seats=3)

    events = table.when(c.Surrender(0))

    assert table.match.round == 1
    assert only(events, e.TurnStarted) == e.TurnStarted(1, 2)


def test_the_only_seat_still_to_play_may_go_out_in_somebody_elses_turn() -> None:
    """ROUND-1: the round is complete with that turn."""
    table = given()
    table.time_out()
    events = table.when(c.Surrender(2))
    assert not every(events, e.RoundStarted)

    events = table.time_out()

    assert only(events, e.RoundStarted) == e.RoundStarted(2)
    assert table.match.turn == 0


def test_a_seat_that_has_played_may_go_out_in_somebody_elses_turn() -> None:
    """ROUND-1."""
    table = given()
    table.time_out()
    table.when(c.Surrender(0))

    events = table.time_out()

    assert not every(events, e.RoundStarted)
    assert table.match.turn == 2


def test_the_only_seat_still_to_play_may_go_out_in_its_own_turn() -> None:
    """ROUND-1."""
    table = given()
    table.time_out()
    table.time_out()

    events = table.when(c.Surrender(2))

    assert only(events, e.RoundStarted) == e.RoundStarted(2)


def test_turns_are_counted_through_the_whole_match() -> None:
    """TURN-1."""
    table = given(seats=2)
    starts = [only(table.time_out(), e.TurnStarted) for _ in range(2)]

    assert starts == [e.TurnStarted(1, 2), e.TurnStarted(0, 3)]


@pytest.mark.parametrize(
    ("in_round", "faces"), [(6, (4, 6)), (7, (4, 6, e.X))], ids=["before", "from"]
)
def test_the_third_die_counts_these_rounds(in_round: int, faces: tuple[int, ...]) -> None:
    """ROUND-1, DIE3-1."""
    table = given(SPEED_2).round(in_round).dice(faces)

    rolled = only(table.when(c.Roll(0)), e.DiceRolled)

    assert rolled.third == (e.X if in_round == 7 else 0)


def play_round(table: Table) -> list[e.Event]:
    """Let every seat's clock run out once; returns the events of the last record."""
    events: list[e.Event] = []
    for _ in range(table.match.living):
        events = table.time_out()
    return events


def test_the_round_cap_counts_these_rounds() -> None:
    """ROUND-1, END-2."""
    table = given(CLASSIC_2).round(500)

    events = play_round(table)

    assert only(events, e.MatchEnded).round == 500
    assert table.match.round == 500
