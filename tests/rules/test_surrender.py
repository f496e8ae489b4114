"""Surrender (SURR-1)."""

from collections.abc import Callable

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import CLASSIC_2, RULE_SETS, SPEED_2
from tests.support.spec import Table, every, given, kinds, only


def surrendered(seat: int, proceeds: int, shares: tuple[e.Share, ...]) -> e.SeatSurrendered:
    return e.SeatSurrendered(seat, forced=False, proceeds=proceeds, shares=shares, withheld=0)


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_any_seat_may_surrender_in_or_out_of_turn(rules: str, seat: int) -> None:
    """SURR-1."""
    table = given(rules)

    events = table.when(c.Surrender(seat))

    assert events[0] == surrendered(seat, 15_000, ())
    assert table.match.out[seat]
    assert table.match.cash[seat] == 0


def test_out_of_turn_the_turn_goes_on() -> None:
    """SURR-1."""
    table = given()

    assert kinds(table.when(c.Surrender(2))) == [e.SeatSurrendered]
    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)


def test_in_turn_the_turn_is_over() -> None:
    """SURR-1."""
    events = given().when(c.Surrender(0))

    assert kinds(events) == [e.SeatSurrendered, e.TurnEnded, e.TurnStarted, e.DeadlineSet]


def test_its_property_goes_back_to_the_bank() -> None:
    """SURR-1, BANK-2."""
    table = given().group(1, "brown").levels({1: 2, 3: 1}).owned(1, 5, 39).mortgaged(39)

    events = table.when(c.Surrender(1))

    assert only(events, e.SeatSurrendered).proceeds == 15_000 + 3 * 250 + 2 * 300 + 1_000
    assert every(events, e.PropertyReleased) == [
        e.PropertyReleased(square, 1, "surrendered") for square in (1, 3, 5, 39)
    ]
    assert table.match.cash == [15_000, 0, 15_000], "without a debt its cash leaves the match"


def owing(cash: int) -> Table:
    """Return a table at which seat 0 owes seat 1 500."""
    table = given().standing({0: 36}).owned(1, 39).cash({0: cash}).dice((1, 2))
    table.when(c.Roll(0))
    return table


def test_a_debt_in_pause_is_paid_in_full_where_all_of_it_covers_the_debt() -> None:
    """SURR-1."""
    table = owing(cash=700)

    events = table.when(c.Surrender(0))

    assert events[0] == surrendered(0, 700, ((1, 500),))
    assert table.match.cash == [0, 15_500, 15_000]


def test_a_debt_in_pause_is_paid_as_far_as_it_goes() -> None:
    """SURR-1, BANK-2."""
    table = owing(cash=100).owned(0, 1)

    events = table.when(c.Surrender(0))

    assert events[0] == surrendered(0, 400, ((1, 400),))


def test_a_rent_paid_through_surrender_is_taxed() -> None:
    """SURR-1, BANK-4."""
    table = given().round(200).standing({0: 36}).owned(1, 39).dice((1, 2))
    table.when(c.Roll(0))

    event = only(table.when(c.Surrender(0)), e.SeatSurrendered)

    assert (event.shares, event.withheld) == (((1, 5),), 495)
    assert table.match.cash[1] == 15_005


def test_the_turn_of_a_debtor_who_surrenders_is_over() -> None:
    """SURR-1."""
    assert kinds(owing(cash=700).when(c.Surrender(0)))[1:] == [
        e.TurnEnded,
        e.TurnStarted,
        e.DeadlineSet,
    ]


def test_offers_made_and_received_are_closed() -> None:
    """SURR-1."""
    table = given(seats=4).owned(0, 5).owned(1, 15).owned(2, 25)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (15,))))
    table.when(c.OfferTrade(0, 2, e.Side(0, (5,)), e.Side(0, (25,))))
    table.turn(1).when(c.OfferTrade(1, 2, e.Side(0, (15,)), e.Side(0, (25,))))

    events = table.when(c.Surrender(1))

    assert every(events, e.TradeClosed) == [
        e.TradeClosed(1, "side_out"),
        e.TradeClosed(3, "side_out"),
    ]
    assert kinds(events)[:4] == [
        e.SeatSurrendered,
        e.PropertyReleased,
        e.TradeClosed,
        e.TradeClosed,
    ]


def test_a_jailed_seat_that_surrenders_is_in_no_jail() -> None:
    """SURR-1, CLOCK-3."""
    table = given().jailed(1, 2)
    table.when(c.Surrender(1))

    assert not table.match.in_jail[1]
    assert table.match.jail_attempts[1] == 0
    assert table.match.square[1] == 10, "it keeps its square"


def test_a_pending_x_is_forgotten_with_the_seat() -> None:
    """SURR-1, DIE3-3."""
    table = given(SPEED_2).round(7).standing({0: 36}).dice((1, 2, e.X))
    table.when(c.Roll(0))
    assert table.match.jump_pending

    events = table.when(c.Surrender(0))

    assert not every(events, e.JumpMade)
    assert not table.match.jump_pending


@pytest.mark.parametrize(
    ("phase", "deciding"),
    [
        (phases.BUY, lambda: given(CLASSIC_2).standing({0: 36}).dice((1, 2))),
        (phases.JACKPOT, lambda: given(CLASSIC_2).standing({0: 17}).dice((1, 2))),
        (phases.BAIL, lambda: given(CLASSIC_2).jailed(0).dice((1, 2))),
        (phases.DEBT, lambda: given(CLASSIC_2).standing({0: 1}).dice((1, 2))),
        (phases.DEBT, lambda: given(CLASSIC_2).jailed(0, 2).dice((1, 2))),
        (phases.BUS, lambda: given(SPEED_2).round(7).dice((1, 2, e.BUS))),
        (phases.TELEPORT, lambda: given(SPEED_2).round(7).dice((1, 1, 1))),
    ],
    ids=["buy", "jackpot", "bail", "tax", "forced bail", "bus", "teleport"],
)
def test_a_seat_may_surrender_whatever_it_has_to_decide(
    phase: str, deciding: Callable[[], Table]
) -> None:
    """SURR-1."""
    table = deciding()
    table.when(c.Roll(0))
    assert table.match.phase == phase

    events = table.when(c.Surrender(0))

    assert kinds(events) == [e.SeatSurrendered, e.TurnEnded, e.TurnStarted, e.DeadlineSet]


def test_who_is_out_never_acts_again() -> None:
    """SURR-1."""
    table = given()
    table.when(c.Surrender(1))

    assert table.refused(c.Surrender(1)).facts == {"seat": 1}


def test_turns_pass_over_who_is_out() -> None:
    """SURR-1, ROUND-1."""
    table = given()
    table.when(c.Surrender(1))

    assert only(table.time_out(), e.TurnStarted).seat == 2
