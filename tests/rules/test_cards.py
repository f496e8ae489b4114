"""The chance deck (DECK-1 to DECK-4)."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.cards import DECK
from tests.support.builders import CLASSIC_1, CLASSIC_2, TEAMS_2
from tests.support.spec import Table, every, given, kinds, only

CHANCE = (2, 7, 17, 22, 33, 36)


def drawing(card: int, square: int = 7, rules: str = CLASSIC_2, seats: int = 0) -> Table:
    """Return a table at which seat 0 will draw *card* on a chance square with its first roll."""
    return given(rules, seats).standing({0: (square - 3) % 40}).card(card).dice((1, 2))


def test_the_sixteen_cards_lie_in_their_one_order() -> None:
    """DECK-1."""
    assert [tuple(card) for card in DECK] == [
        ("receive", 1_000),
        ("go_to", 0),
        ("pay", 500),
        ("nearest_station", 0),
        ("receive", 1_500),
        ("collect_each", 250),
        ("repairs", 250),
        ("jail", 0),
        ("pay", 1_500),
        ("go_to", 24),
        ("receive", 2_000),
        ("pay_each", 250),
        ("back", 3),
        ("nearest_utility", 0),
        ("pay", 2_500),
        ("go_to", 39),
    ]


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2, TEAMS_2])
def test_the_first_draw_of_a_match_takes_card_1(rules: str) -> None:
    """DECK-1."""
    table = given(rules).standing({0: 4}).dice((1, 2))

    assert only(table.when(c.Roll(0)), e.CardDrawn) == e.CardDrawn(0, 1)
    assert (table.match.last_card, table.match.next_card) == (1, 2)


def test_after_card_16_comes_card_1_again() -> None:
    """DECK-1."""
    table = drawing(16)

    table.when(c.Roll(0))

    assert (table.match.last_card, table.match.next_card) == (16, 1)


@pytest.mark.parametrize(("card", "amount"), [(1, 1_000), (5, 1_500), (11, 2_000)])
def test_a_card_pays_its_drawer(card: int, amount: int) -> None:
    """DECK-1."""
    table = drawing(card)

    events = table.when(c.Roll(0))

    assert only(events, e.CashReceived) == e.CashReceived(0, amount, e.BANK, "card")
    assert table.match.cash[0] == 15_000 + amount


@pytest.mark.parametrize(("card", "amount"), [(3, 500), (9, 1_500), (15, 2_500)])
def test_a_card_makes_its_drawer_owe_the_bank(card: int, amount: int) -> None:
    """DECK-1."""
    table = drawing(card)

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert (opened.reason, opened.amount, opened.creditors) == ("card", amount, ((e.BANK, amount),))
    assert opened.inputs == (("card", card),)
    assert table.match.phase == phases.DEBT


@pytest.mark.parametrize(
    ("card", "square", "target"),
    [
        (2, 7, 0),
        (10, 7, 24),
        (16, 7, 39),
        (4, 2, 5),
        (4, 7, 15),
        (4, 17, 25),
        (4, 22, 25),
        (4, 33, 35),
        (4, 36, 5),
        (14, 2, 12),
        (14, 7, 12),
        (14, 17, 28),
        (14, 22, 28),
        (14, 33, 12),
        (14, 36, 12),
    ],
)
def test_a_card_leads_to_its_square(card: int, square: int, target: int) -> None:
    """DECK-1, DECK-2."""
    table = drawing(card, square)

    moved = every(table.when(c.Roll(0)), e.TokenMoved)[-1]

    assert moved == e.TokenMoved(0, square, target, "card")


@pytest.mark.parametrize(
    ("square", "squares"),
    [
        (2, (2, 39)),
        (7, (7, 4)),
        (17, (17, 14)),
        (22, (22, 19)),
        (33, (33, 30, 10)),
        (36, (36, 33, 12)),
    ],
)
def test_card_13_leads_three_squares_back(square: int, squares: tuple[int, ...]) -> None:
    """DECK-1, DECK-2: from 33 on to jail, from 36 on by card 14."""
    table = drawing(13, square)

    moves = every(table.when(c.Roll(0)), e.TokenMoved)

    assert tuple(move.target for move in moves) == squares


def test_card_13_on_square_36_draws_the_next_card() -> None:
    """DECK-2."""
    table = drawing(13, 36)

    events = table.when(c.Roll(0))

    assert [drawn.card for drawn in every(events, e.CardDrawn)] == [13, 14]
    assert table.match.square[0] == 12
    assert table.match.phase == phases.BUY


def test_card_13_on_square_33_leads_to_jail_and_ends_the_turn() -> None:
    """DECK-2, TURN-3."""
    table = given().standing({0: 31}).card(13).dice((1, 1))

    events = table.when(c.Roll(0))

    assert only(events, e.JailEntered) == e.JailEntered(0, "square")
    assert table.match.turn == 1


def test_card_8_sends_to_jail() -> None:
    """DECK-1, JAIL-1."""
    table = drawing(8)

    events = table.when(c.Roll(0))

    assert only(events, e.JailEntered) == e.JailEntered(0, "card")
    assert table.match.in_jail[0]
    assert table.match.square[0] == 10
    assert table.match.turn == 1


def test_a_card_that_passes_start_pays_the_salary() -> None:
    """DECK-2."""
    table = drawing(10, 36)

    events = table.when(c.Roll(0))

    assert kinds(events)[2:5] == [e.CardDrawn, e.TokenMoved, e.SalaryPaid]
    assert not every(events, e.LandingBonusPaid)


def test_a_card_that_leads_to_start_pays_as_landing() -> None:
    """DECK-2, BOARD-3."""
    table = drawing(2)

    table.when(c.Roll(0))

    assert table.match.square[0] == 0
    assert table.match.cash[0] == 18_000


def test_a_roll_and_its_card_pay_the_salary_twice_in_one_move() -> None:
    """DECK-2, BOARD-3."""
    table = given().standing({0: 39}).card(2).dice((1, 2))

    events = table.when(c.Roll(0))

    assert len(every(events, e.SalaryPaid)) == 2
    assert table.match.cash[0] == 15_000 + 2_000 + 2_000 + 1_000


def test_a_card_that_leads_to_unowned_property_offers_it() -> None:
    """DECK-2."""
    table = drawing(16)

    offered = only(table.when(c.Roll(0)), e.PropertyOffered)

    assert offered == e.PropertyOffered(0, 39, 4_000)


def test_repairs_cost_250_for_each_level() -> None:
    """DECK-1."""
    table = drawing(7).group(0, "brown").group(0, "pink").levels({1: 5, 3: 4, 11: 1})

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert opened.amount == 2_500
    assert opened.inputs == (("card", 7), ("levels", 10))


def test_repairs_count_ones_own_levels_alone() -> None:
    """DECK-1."""
    table = drawing(7).group(1, "pink").levels({11: 2, 13: 2, 14: 1})

    assert not every(table.when(c.Roll(0)), e.DebtOpened)


def test_card_6_collects_250_from_each_rival() -> None:
    """DECK-1, DEBT-3."""
    table = drawing(6)

    events = table.when(c.Roll(0))

    assert every(events, e.CashCollected) == [
        e.CashCollected(1, 0, 250, 6),
        e.CashCollected(2, 0, 250, 6),
    ]
    assert table.match.cash == [15_500, 14_750, 14_750]


def test_card_6_spares_who_is_out() -> None:
    """DECK-1."""
    table = drawing(6, seats=4).gone(1)

    events = table.when(c.Roll(0))

    assert [collected.from_seat for collected in every(events, e.CashCollected)] == [2, 3]


def test_card_6_collects_in_turn_order_from_the_drawers_left() -> None:
    """DEBT-3."""
    table = given(seats=4).turn(2).standing({2: 4}).card(6).dice((1, 2))

    events = table.when(c.Roll(2))

    assert [collected.from_seat for collected in every(events, e.CashCollected)] == [3, 0, 1]


def test_card_12_owes_250_to_each_rival_from_the_left() -> None:
    """DECK-1, DEBT-4."""
    table = given(seats=4).turn(2).standing({2: 4}).card(12).dice((1, 2))

    opened = only(table.when(c.Roll(2)), e.DebtOpened)

    assert (opened.amount, opened.creditors) == (750, ((3, 250), (0, 250), (1, 250)))


def test_in_teams_card_6_collects_from_allies_too() -> None:
    """DECK-3."""
    table = drawing(6, rules=TEAMS_2)

    table.when(c.Roll(0))

    assert table.match.cash == [15_750, 14_750, 14_750, 14_750]


def test_in_teams_card_12_pays_allies_too() -> None:
    """DECK-3."""
    table = drawing(12, rules=TEAMS_2)

    table.when(c.Roll(0), c.Pay(0))

    assert table.match.cash == [14_250, 15_250, 15_250, 15_250]


def test_the_rent_after_card_4_is_the_ordinary_one() -> None:
    """DECK-4."""
    table = drawing(4).owned(1, 15, 25)

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert (opened.rule, opened.amount) == ("RENT-2", 500)


def test_the_utility_after_card_14_counts_the_dice_that_led_to_the_card() -> None:
    """DECK-4, RENT-3."""
    table = drawing(14).owned(1, 12)

    opened = only(table.when(c.Roll(0)), e.DebtOpened)

    assert (opened.rule, opened.amount) == ("RENT-3", 3 * 40)
