"""The third die (DIE3-1 to DIE3-5)."""

from dataclasses import replace

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.boards.classic import CLASSIC
from libs.rules.third_die import jump_target
from tests.support.builders import BUS, CLASSIC_1, CLASSIC_2, SPEED_1, SPEED_2, TEAMS_2, X
from tests.support.spec import Table, every, given, kinds, only

SPEED = (SPEED_1, SPEED_2)


def speed(*rolls: tuple[int, ...], rules: str = SPEED_2, seats: int = 3) -> Table:
    """Return a table of Speed in round 7, with the dice that will fall."""
    return given(rules, seats).round(7).dice(*rolls)


@pytest.mark.parametrize("rules", SPEED)
def test_there_is_no_third_die_before_round_7(rules: str) -> None:
    """DIE3-1."""
    table = given(rules).round(6).dice((4, 6))

    assert only(table.when(c.Roll(0)), e.DiceRolled).third == 0


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2, TEAMS_2])
def test_there_is_no_third_die_outside_speed(rules: str) -> None:
    """DIE3-1."""
    table = given(rules).round(400).dice((4, 6))

    assert only(table.when(c.Roll(0)), e.DiceRolled).third == 0


def test_a_rule_set_may_roll_it_from_the_first_round_on() -> None:
    """DIE3-1."""
    table = given(SPEED_2).dice((4, 6, 2))
    table.match.rules = replace(table.match.rules, third_die_round=1)

    assert only(table.when(c.Roll(0)), e.DiceRolled).third == 2


@pytest.mark.parametrize("rules", SPEED)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_number_adds_to_the_move(rules: str, number: int) -> None:
    """DIE3-1."""
    table = speed((6, 3, number), rules=rules)

    assert only(table.when(c.Roll(0)), e.TokenMoved).target == 9 + number


@pytest.mark.parametrize("rules", SPEED)
def test_a_bus_offers_the_sum_and_either_die(rules: str) -> None:
    """DIE3-2."""
    table = speed((6, 4, BUS), rules=rules)

    events = table.when(c.Roll(0))

    assert kinds(events) == [e.DiceRolled, e.BusOffered, e.DeadlineSet]
    assert only(events, e.BusOffered) == e.BusOffered(0, (4, 6, 10))


def test_a_bus_after_doubles_offers_each_total_once() -> None:
    """DIE3-2, DIE3-5."""
    table = speed((2, 2, BUS))

    assert only(table.when(c.Roll(0)), e.BusOffered).totals == (2, 4)


@pytest.mark.parametrize("total", [4, 6, 10])
def test_the_bus_goes_as_far_as_was_chosen(total: int) -> None:
    """DIE3-2."""
    table = speed((6, 4, BUS))
    table.when(c.Roll(0))

    events = table.when(c.ChooseBusMove(0, total))

    assert kinds(events)[:2] == [e.BusMoveChosen, e.TokenMoved]
    assert only(events, e.TokenMoved) == e.TokenMoved(0, 0, total, "roll")


@pytest.mark.parametrize("total", [-1, 0, 2, 5, 11, 13])
def test_another_total_is_no_choice(total: int) -> None:
    """DIE3-2."""
    table = speed((6, 4, BUS))
    table.when(c.Roll(0))

    refused = table.refused(c.ChooseBusMove(0, total))

    assert (refused.reason, refused.facts) == (Reason.INVALID_CHOICE, {"totals": (4, 6, 10)})


def test_a_bus_with_doubles_gives_another_roll() -> None:
    """DIE3-2, DIE3-5."""
    table = speed((5, 5, BUS))
    table.when(c.Roll(0), c.ChooseBusMove(0, 10))

    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)


def test_an_x_jumps_ahead_at_the_end_of_the_turn() -> None:
    """DIE3-3."""
    table = speed((4, 6, X))

    events = table.when(c.Roll(0))

    assert kinds(events) == [
        e.DiceRolled,
        e.TokenMoved,
        e.JumpMade,
        e.TokenMoved,
        e.PropertyOffered,
        e.DeadlineSet,
    ]
    assert only(events, e.JumpMade) == e.JumpMade(0, 10, 11)
    assert every(events, e.TokenMoved)[1] == e.TokenMoved(0, 10, 11, "jump")


def test_what_the_roll_reached_is_resolved_before_the_jump() -> None:
    """DIE3-3."""
    table = speed((4, 2, X))
    table.when(c.Roll(0))
    assert table.match.phase == phases.BUY

    events = table.when(c.Buy(0))

    assert kinds(events)[:3] == [e.PropertyBought, e.JumpMade, e.TokenMoved]
    assert only(events, e.JumpMade).target == 8


def test_a_debt_is_paid_before_the_jump() -> None:
    """DIE3-3."""
    table = speed((1, 3, X))
    table.when(c.Roll(0))

    events = table.when(c.Pay(0))

    assert kinds(events)[:3] == [e.DebtPaid, e.JumpMade, e.TokenMoved]


def test_the_jump_waits_for_further_rolls() -> None:
    """DIE3-3."""
    table = speed((5, 5, X), (4, 6, 2)).owned(0, 22 + 1)
    table.when(c.Roll(0))
    assert table.match.jump_pending

    events = table.when(c.Roll(0))

    assert kinds(events)[:2] == [e.DiceRolled, e.TokenMoved]
    assert every(events, e.CardDrawn)
    assert only(events, e.JumpMade) == e.JumpMade(0, 22, 24)


def test_several_x_make_one_jump() -> None:
    """DIE3-3."""
    table = speed((5, 5, X), (6, 4, X))
    table.when(c.Roll(0), c.Roll(0))
    assert table.match.phase == phases.JACKPOT

    events = table.when(c.DeclineJackpot(0))

    assert len(every(events, e.JumpMade)) == 1
    assert kinds(table.when(c.Buy(0))) == [
        e.PropertyBought,
        e.TurnEnded,
        e.TurnStarted,
        e.DeadlineSet,
    ]


def test_a_jailed_seat_does_not_jump() -> None:
    """DIE3-3."""
    table = speed((1, 2, X)).standing({0: 27})

    events = table.when(c.Roll(0))

    assert not every(events, e.JumpMade)
    assert table.match.turn == 1
    assert not table.match.jump_pending


def test_a_seat_that_went_out_does_not_jump() -> None:
    """DIE3-3."""
    table = speed((1, 2, X)).standing({0: 36}).owned(1, 39).cash({0: 0})
    table.when(c.Roll(0))

    assert not every(table.when(c.DeclareBankruptcy(0)), e.JumpMade)


def test_a_jump_does_not_outlive_its_turn() -> None:
    """DIE3-3."""
    table = speed((5, 5, X), (4, 6), seats=2)
    table.when(c.Roll(0))

    events = table.time_out()

    assert not every(events, e.JumpMade)
    assert not table.match.jump_pending


def test_the_jump_prefers_unowned_property_to_a_nearer_rivals() -> None:
    """DIE3-3."""
    table = speed((4, 6, X)).owned(1, 11, 12, 13)

    assert only(table.when(c.Roll(0)), e.JumpMade).target == 14


def test_without_unowned_property_the_jump_goes_to_an_unmortgaged_one_of_a_rival() -> None:
    """DIE3-3."""
    table = speed((4, 6, X)).owned(0, *(sq for sq in CLASSIC.properties if sq not in (14, 15, 16)))
    table.owned(1, 14, 15).owned(2, 16).mortgaged(14)

    events = table.when(c.Roll(0))

    assert only(events, e.JumpMade).target == 15
    assert only(events, e.DebtOpened).amount == 250


def test_without_a_target_there_is_no_jump() -> None:
    """DIE3-3."""
    table = speed((4, 6, X)).owned(0, *CLASSIC.properties)

    events = table.when(c.Roll(0))

    assert not every(events, e.JumpMade)
    assert table.match.turn == 1


def test_the_jump_goes_round_the_board_but_never_to_where_one_stands() -> None:
    """DIE3-3."""
    table = speed((1, 2, X)).owned(0, *(sq for sq in CLASSIC.properties if sq not in (3, 1)))

    table.when(c.Roll(0))
    events = table.when(c.Buy(0))

    assert only(events, e.JumpMade) == e.JumpMade(0, 3, 1)


def test_the_only_unowned_property_is_not_jumped_to_from_itself() -> None:
    """DIE3-3."""
    table = speed().owned(0, *(sq for sq in CLASSIC.properties if sq != 3)).standing({0: 3})

    assert jump_target(table.match, 0) is None


def test_an_allys_property_is_no_target() -> None:
    """DIE3-3."""
    table = given(TEAMS_2).owned(2, *(sq for sq in CLASSIC.properties if sq != 15)).owned(1, 15)

    assert jump_target(table.match, 0) == 15


def test_another_reading_jumps_to_the_nearest_of_either() -> None:
    """DIE3-3."""
    table = speed((4, 6, X)).owned(0, 11).owned(1, 12, 13).mortgaged(12)
    table.match.rules = replace(table.match.rules, jump_to_nearest_of_either=True)

    assert jump_target(table.match, 0) == 1
    table.standing({0: 10})
    assert jump_target(table.match, 0) == 13
    table.owned(0, *(sq for sq in CLASSIC.properties if table.match.owner[sq] == e.NOBODY))
    assert jump_target(table.match, 0) == 13
    table.mortgaged(13)
    assert jump_target(table.match, 0) is None


@pytest.mark.parametrize("rules", SPEED)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_triple_goes_to_any_square_and_rolls_again(rules: str, number: int) -> None:
    """DIE3-4."""
    table = speed((number, number, number), rules=rules)
    events = table.when(c.Roll(0))
    assert kinds(events) == [e.DiceRolled, e.TeleportOffered, e.DeadlineSet]

    events = table.when(c.ChooseTeleport(0, 10))

    assert kinds(events) == [e.TeleportChosen, e.TokenMoved, e.DeadlineSet]
    assert only(events, e.TokenMoved) == e.TokenMoved(0, 0, 10, "teleport")
    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)


@pytest.mark.parametrize("face", [BUS, X])
def test_doubles_of_fours_or_fives_with_a_bus_or_an_x_are_no_triple(face: int) -> None:
    """DIE3-4, DIE3-5: faces are not their numbers."""
    table = speed((face, face, face))

    assert not every(table.when(c.Roll(0)), e.TeleportOffered)


def test_the_square_chosen_is_resolved() -> None:
    """DIE3-4."""
    table = speed((2, 2, 2)).owned(1, 39)
    table.when(c.Roll(0))

    assert only(table.when(c.ChooseTeleport(0, 39)), e.DebtOpened).amount == 500


def test_choosing_square_30_is_going_to_jail() -> None:
    """DIE3-4."""
    table = speed((2, 2, 2))
    table.when(c.Roll(0))

    events = table.when(c.ChooseTeleport(0, 30))

    assert only(events, e.JailEntered) == e.JailEntered(0, "square")
    assert table.match.turn == 1, "no further roll"


def test_the_square_one_stands_on_may_be_chosen_and_is_landed_on() -> None:
    """DIE3-4."""
    table = speed((2, 2, 2)).standing({0: 39})
    table.when(c.Roll(0))

    events = table.when(c.ChooseTeleport(0, 39))

    assert only(events, e.TokenMoved) == e.TokenMoved(0, 39, 39, "teleport")
    assert only(events, e.PropertyOffered).square == 39


@pytest.mark.parametrize("square", [-1, 40])
def test_a_square_off_the_board_is_no_choice(square: int) -> None:
    """DIE3-4."""
    table = speed((2, 2, 2))
    table.when(c.Roll(0))

    refused = table.refused(c.ChooseTeleport(0, square))

    assert (refused.reason, refused.rule) == (Reason.INVALID_CHOICE, "DIE3-4")


def test_a_triple_breaks_a_run_of_doubles() -> None:
    """DIE3-4."""
    table = speed((2, 2, 3), (1, 1, X), (2, 2, 2), (3, 3, X)).owned(0, 7 + 2, 11)
    table.standing({0: 2})
    table.when(c.Roll(0), c.Roll(0))
    assert table.match.doubles == 2
    table.when(c.Roll(0), c.ChooseTeleport(0, 10))
    assert table.match.doubles == 0

    events = table.when(c.Roll(0))

    assert not every(events, e.JailEntered)
    assert table.match.doubles == 1


def test_a_triple_after_two_doubles_does_not_lead_to_jail() -> None:
    """DIE3-4."""
    table = speed((2, 2, 2))
    table.match.doubles = 2

    assert not every(table.when(c.Roll(0)), e.JailEntered)


def test_a_pending_x_stays_pending_after_a_triple() -> None:
    """DIE3-4."""
    table = speed((5, 5, X), (2, 2, 2), (4, 6, 1))
    table.when(c.Roll(0), c.Roll(0), c.ChooseTeleport(0, 10))
    assert table.match.jump_pending

    events = table.when(c.Roll(0), c.Buy(0))

    assert only(events, e.JumpMade) == e.JumpMade(0, 21, 23)


@pytest.mark.parametrize("face", [1, 3, BUS, X])
def test_doubles_with_another_face_are_doubles(face: int) -> None:
    """DIE3-5."""
    table = speed((2, 2, face))

    table.when(c.Roll(0))

    assert table.match.doubles == 1
    assert table.match.rolls_again


@pytest.mark.parametrize("face", [1, 3, BUS, X])
def test_the_third_doubles_lead_to_jail_whatever_the_third_die(face: int) -> None:
    """DIE3-5, TURN-2."""
    table = speed((2, 2, face))
    table.match.doubles = 2

    events = table.when(c.Roll(0))

    assert kinds(events)[1] is e.JailEntered
    assert not every(events, e.BusOffered)


def test_only_doubles_give_another_roll() -> None:
    """DIE3-5: a white die that equals the third is none."""
    table = speed((4, 3, 3))

    table.when(c.Roll(0))

    assert table.match.turn == 1
