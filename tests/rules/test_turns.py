"""The course of a turn (TURN-1 to TURN-5)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import CLASSIC_1, CLASSIC_2, REVISION_1, REVISION_2, RULE_SETS, SPEED_2
from tests.support.spec import every, given, kinds, only


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_turn_ends_by_itself(rules: str) -> None:
    """TURN-1."""
    table = given(rules).dice((4, 6))

    events = table.when(c.Roll(0))

    assert kinds(events) == [
        e.DiceRolled,
        e.TokenMoved,
        e.TurnEnded,
        e.TurnStarted,
        e.DeadlineSet,
    ]
    assert only(events, e.TurnStarted) == e.TurnStarted(1, 2)


def test_nothing_of_a_turn_is_left_when_the_next_one_begins() -> None:
    """TURN-1, TURN-2."""
    table = given(SPEED_2).round(7).standing({0: 4}).dice((1, 1, e.X), (4, 6, 1))
    table.when(c.Roll(0), c.Buy(0), c.Roll(0))
    assert table.match.phase == phases.BUY

    table.when(c.Surrender(0))

    match = table.match
    assert (match.doubles, match.rolls_again, match.jump_pending) == (0, False, False)
    assert not match.timed_out


def test_the_dice_move_the_token_by_their_sum() -> None:
    """TURN-1."""
    table = given().standing({0: 37}).owned(0, 9).dice((6, 6), (1, 2))

    assert only(table.when(c.Roll(0)), e.TokenMoved) == e.TokenMoved(0, 37, 9, "roll")


def test_each_roll_takes_its_own_blocks_of_chance() -> None:
    """FAIR-1."""
    table = given().dice((4, 6), (4, 6))

    rolls = [only(table.when(c.Roll(seat)), e.DiceRolled) for seat in (0, 1)]

    assert [roll.counter for roll in rolls] == [1, 2], "0 drew the first seat"


def test_doubles_give_another_roll_after_everything_is_resolved() -> None:
    """TURN-2."""
    table = given().standing({0: 4}).dice((2, 2))
    events = table.when(c.Roll(0))
    assert kinds(events)[-2:] == [e.PropertyOffered, e.DeadlineSet]

    events = table.when(c.Buy(0))

    assert kinds(events) == [e.PropertyBought, e.DeadlineSet]
    assert only(events, e.DeadlineSet).kind == phases.ROLL
    assert table.match.turn == 0


def test_a_roll_for_doubles_follows_an_auction_and_a_debt() -> None:
    """TURN-2."""
    table = given(seats=2).standing({0: 4}).owned(1, 6).dice((1, 1), (1, 1))
    table.when(c.Roll(0), c.Pay(0), c.Roll(0), c.Decline(0), c.Pass(1))

    events = table.when(c.Pass(0))

    assert kinds(events) == [e.BidPassed, e.AuctionClosed, e.DeadlineSet]
    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_third_doubles_of_a_turn_lead_to_jail_without_moving(rules: str) -> None:
    """TURN-2, JAIL-1."""
    table = given(rules).standing({0: 2}).owned(0, 6, 8, 9).dice((2, 2), (1, 1), (2, 2))
    table.when(c.Roll(0), c.Roll(0))

    events = table.when(c.Roll(0))

    assert kinds(events)[:4] == [e.DiceRolled, e.JailEntered, e.TokenMoved, e.TurnEnded]
    assert only(events, e.JailEntered) == e.JailEntered(0, "doubles")
    assert only(events, e.TokenMoved) == e.TokenMoved(0, 8, 10, "jail")


def test_doubles_of_one_turn_do_not_add_up_with_those_of_the_next() -> None:
    """TURN-2."""
    table = given(seats=2).standing({0: 2}).owned(0, 6, 8, 11)
    table.dice((2, 2), (1, 1), (1, 2), (4, 6), (5, 5))
    table.when(c.Roll(0), c.Roll(0), c.Roll(0), c.Roll(1))

    events = table.when(c.Roll(0))

    assert not every(events, e.JailEntered)
    assert table.match.doubles == 1


def test_two_doubles_and_a_plain_roll_are_no_way_to_jail() -> None:
    """TURN-2."""
    table = given().standing({0: 2}).owned(0, 6, 8, 11).dice((2, 2), (1, 1), (1, 2))
    table.when(c.Roll(0), c.Roll(0))

    table.when(c.Roll(0))

    assert table.match.square[0] == 11
    assert table.match.turn == 1


def test_being_sent_to_jail_ends_the_turn_even_after_doubles() -> None:
    """TURN-3."""
    table = given().standing({0: 26}).dice((2, 2))

    events = table.when(c.Roll(0))

    assert kinds(events)[2:5] == [e.JailEntered, e.TokenMoved, e.TurnEnded]
    assert only(events, e.JailEntered) == e.JailEntered(0, "square")
    assert table.match.turn == 1


@pytest.mark.parametrize("square", [0, 10])
def test_start_and_visiting_do_nothing(square: int) -> None:
    """TURN-4."""
    table = given().standing({0: (square - 3) % 40}).dice((1, 2))

    table.when(c.Roll(0))

    assert table.match.turn == 1
    assert not table.match.in_jail[0]


@pytest.mark.parametrize("rules", REVISION_1)
def test_square_20_is_free_parking_in_revision_1(rules: str) -> None:
    """TURN-4, JACK-1."""
    table = given(rules).standing({0: 17}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert not every(events, e.JackpotOffered)
    assert table.match.turn == 1


def test_unowned_property_is_bought_at_list_price() -> None:
    """TURN-4."""
    table = given().standing({0: 36}).dice((1, 2))
    assert only(table.when(c.Roll(0)), e.PropertyOffered) == e.PropertyOffered(0, 39, 4_000)

    events = table.when(c.Buy(0))

    assert events[0] == e.PropertyBought(0, 39, 4_000)
    assert table.match.cash[0] == 11_000
    assert table.match.owner[39] == 0


def test_declining_leads_to_an_auction() -> None:
    """TURN-4."""
    table = given().standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    events = table.when(c.Decline(0))

    assert kinds(events) == [e.PropertyDeclined, e.AuctionOpened, e.DeadlineSet]
    assert events[0] == e.PropertyDeclined(0, 39, forced=False)


def test_a_seat_that_goes_out_while_it_decides_leaves_no_auction() -> None:
    """TURN-4."""
    table = given().standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    events = table.when(c.Surrender(0))

    assert kinds(events) == [e.SeatSurrendered, e.TurnEnded, e.TurnStarted, e.DeadlineSet]
    assert table.match.owner[39] == e.NOBODY


def test_cash_equal_to_the_price_is_enough() -> None:
    """TURN-5."""
    table = given().standing({0: 36}).cash({0: 4_000}).dice((1, 2))

    table.when(c.Roll(0), c.Buy(0))

    assert table.match.cash[0] == 0


def test_too_little_cash_is_refused_with_the_reason() -> None:
    """TURN-5."""
    table = given().standing({0: 36}).cash({0: 3_999}).dice((1, 2))
    table.when(c.Roll(0))

    refused = table.refused(c.Buy(0))

    assert (refused.reason, refused.rule) == (Reason.NOT_ENOUGH_CASH, "TURN-5")
    assert refused.facts == {"needed": 4_000, "cash": 3_999}


@pytest.mark.parametrize("rules", REVISION_1)
def test_revision_1_lets_the_buyer_raise_cash_first(rules: str) -> None:
    """TURN-5."""
    table = given(rules).standing({0: 36}).cash({0: 3_000}).owned(0, 5).dice((1, 2))
    table.when(c.Roll(0), c.Mortgage(0, 5))

    table.when(c.Buy(0))

    assert table.match.owner[39] == 0


@pytest.mark.parametrize("rules", [CLASSIC_2, SPEED_2])
def test_revision_2_does_not_let_the_buyer_raise_cash_first(rules: str) -> None:
    """TURN-5."""
    table = given(rules).standing({0: 36}).cash({0: 3_000}).owned(0, 5).dice((1, 2))
    table.when(c.Roll(0))

    assert table.refused(c.Mortgage(0, 5)).reason is Reason.NOT_MANAGING_TIME


@pytest.mark.parametrize("rules", REVISION_2)
def test_a_seat_whose_turn_it_is_not_does_not_roll(rules: str) -> None:
    """TURN-1."""
    refused = given(rules).refused(c.Roll(1))

    assert (refused.reason, refused.facts) == (Reason.NOT_YOUR_TURN, {"turn": 0})


def test_a_pending_purchase_is_not_rolled_away() -> None:
    """TURN-1."""
    table = given(CLASSIC_1).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    refused = table.refused(c.Roll(0))

    assert (refused.reason, refused.facts) == (Reason.WRONG_PHASE, {"phase": "buy"})
