"""The order of the events in one record: the cause first, then what follows from it."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from tests.support.builders import CLASSIC_1, CLASSIC_2, SPEED_2, X
from tests.support.spec import Table, every, given, kinds


def pairs(events: list[e.Event]) -> list[tuple[type, type]]:
    """Return each event's class with that of the one right after it."""
    return list(zip(kinds(events), kinds(events)[1:], strict=False))


def test_cards_6_and_12_name_seats_in_turn_order_from_the_drawer() -> None:
    """DEBT-3, DEBT-4."""
    table = given(seats=4).turn(1).standing({1: 4}).card(6).dice((1, 2)).cash({3: 0})

    events = table.when(c.Roll(1))

    assert kinds(events)[2:] == [
        e.CardDrawn,
        e.CashCollected,
        e.DebtOpened,
        e.DeadlineSet,
        e.CashCollected,
    ]
    assert [event.from_seat for event in every(events, e.CashCollected)] == [2, 0]


def test_a_missed_roll() -> None:
    """CLOCK-2, CLOCK-3."""
    assert kinds(given().missed({0: 1}).time_out())[:4] == [
        e.DecisionTimedOut,
        e.TurnMissed,
        e.SeatSurrendered,
        e.TurnEnded,
    ]


def test_a_forced_surrender_releases_and_closes_before_the_turn_ends() -> None:
    """CLOCK-3, SURR-1."""
    table = given().missed({0: 1}).owned(0, 5).owned(1, 12)
    table.wait(30)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))

    assert kinds(table.time_out())[1:6] == [
        e.TurnMissed,
        e.SeatSurrendered,
        e.PropertyReleased,
        e.TradeClosed,
        e.TurnEnded,
    ]


def last_of_round(rules: str) -> Table:
    table = given(rules, seats=2).turn(1)
    table.match.had_turn = [True, True]
    return table


def test_a_turns_end_then_the_next_round_with_its_reminders() -> None:
    """ROUND-1, MORT-3."""
    table = last_of_round(SPEED_2).owned(0, 5, 15).owned(1, 25).round(11)
    table.mortgaged(25, in_round=1).mortgaged(5, 15, in_round=5)

    assert kinds(table.time_out()) == [
        e.DecisionTimedOut,
        e.TurnMissed,
        e.TurnEnded,
        e.PropertyReleased,
        e.RoundStarted,
        e.TurnStarted,
        e.MortgageReminded,
        e.MortgageReminded,
        e.DeadlineSet,
    ]


def test_a_turns_end_then_the_end_of_the_match() -> None:
    """END-2."""
    table = last_of_round(CLASSIC_2).round(500)

    assert kinds(table.time_out())[-3:] == [e.TurnEnded, e.MatchEnded, e.SeedRevealed]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_match_that_ends_inside_a_turn_has_no_turn_ended(seat: int) -> None:
    """END-1."""
    events = given(seats=2).when(c.Surrender(seat))

    assert kinds(events) == [e.SeatSurrendered, e.MatchEnded, e.SeedRevealed]


def test_a_choice_or_a_jump_is_followed_by_its_token_moved() -> None:
    """DIE3-2 to DIE3-4."""
    table = given(SPEED_2).round(7).dice((4, 6, e.BUS), (2, 2, 2), (4, 6, X))
    table.when(c.Roll(0))
    bus = table.when(c.ChooseBusMove(0, 10))
    table.turn(0).when(c.Roll(0))
    teleport = table.when(c.ChooseTeleport(0, 0))
    jump = table.when(c.Roll(0))

    assert (e.BusMoveChosen, e.TokenMoved) in pairs(bus)
    assert (e.TeleportChosen, e.TokenMoved) in pairs(teleport)
    assert (e.JumpMade, e.TokenMoved) in pairs(jump)


def test_several_releases_go_by_square_and_several_closings_by_offer() -> None:
    """SURR-1."""
    table = given().owned(0, 39, 5, 12).owned(1, 15).owned(2, 25)
    for receiver, square in ((2, 25), (1, 15), (2, 25)):
        table.when(c.OfferTrade(0, receiver, e.Side(0, (5,)), e.Side(0, (square,))))

    events = table.when(c.Surrender(0))

    assert [event.square for event in every(events, e.PropertyReleased)] == [5, 12, 39]
    assert [event.offer for event in every(events, e.TradeClosed)] == [1, 2, 3]


def test_an_auctions_leader_who_surrenders() -> None:
    """AUC-4."""
    table = given(seats=4).standing({0: 36}).dice((1, 2)).owned(1, 5)
    table.when(c.Roll(0), c.Decline(0), c.Bid(1))

    assert kinds(table.when(c.Surrender(1))) == [
        e.SeatSurrendered,
        e.PropertyReleased,
        e.BidVoided,
        e.DeadlineSet,
    ]


def test_doubles_in_jail() -> None:
    """JAIL-2, JAIL-3."""
    for rules in (CLASSIC_1, CLASSIC_2):
        events = given(rules).jailed(0).dice((3, 3)).when(c.Roll(0))

        assert kinds(events)[:3] == [e.DiceRolled, e.JailLeft, e.TokenMoved]


def test_no_doubles_in_jail() -> None:
    """JAIL-3, JAIL-4."""
    offered = given().jailed(0).dice((1, 2)).when(c.Roll(0))
    table = given().jailed(0, 2).dice((1, 2))
    owed = table.when(c.Roll(0))
    paid = table.when(c.Pay(0))

    assert kinds(offered)[:3] == [e.DiceRolled, e.JailAttemptFailed, e.BailOffered]
    assert kinds(owed)[:3] == [e.DiceRolled, e.JailAttemptFailed, e.DebtOpened]
    assert kinds(paid)[:3] == [e.DebtPaid, e.JailLeft, e.TokenMoved]


def test_a_timed_out_payment_follows_what_raised_it() -> None:
    """DEBT-2."""
    table = given().standing({0: 36}).owned(1, 39).cash({0: 0}).owned(0, 5).dice((1, 2))
    table.group(0, "brown").levels({1: 1})
    table.when(c.Roll(0))

    assert kinds(table.time_out())[:3] == [e.DecisionTimedOut, e.PropertyMortgaged, e.DebtPaid]


def test_a_move_is_followed_by_what_start_pays_and_then_by_its_square() -> None:
    """BOARD-3."""
    events = given().standing({0: 37}).card(2).dice((1, 2)).when(c.Roll(0))

    assert kinds(events)[:4] == [
        e.DiceRolled,
        e.TokenMoved,
        e.SalaryPaid,
        e.LandingBonusPaid,
    ]


def test_a_debt_is_followed_by_its_deadline() -> None:
    """DEBT-1, DEBT-3."""
    table = given().standing({0: 4}).card(6).dice((1, 2)).cash({1: 0, 2: 0})

    events = table.when(c.Roll(0))

    assert [after for before, after in pairs(events) if before is e.DebtOpened] == [
        e.DeadlineSet
    ] * 2
