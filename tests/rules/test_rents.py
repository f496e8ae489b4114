"""What a tenant owes (RENT-1 to RENT-6)."""

from collections.abc import Mapping
from fractions import Fraction

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.boards.classic import CLASSIC
from libs.rules.cards import BONUS
from tests.support.builders import (
    CLASSIC_1,
    CLASSIC_2,
    RULE_SETS,
    SPEED_2,
    TEAMS_2,
    ScriptedDraws,
    created,
)
from tests.support.spec import Table, every, given, only

STREETS = tuple(square for square in CLASSIC.properties if CLASSIC.kind[square] == "street")


def rent(table: Table, square: int, *dice: int) -> e.DebtOpened:
    """Let seat 1 land on *square* by *dice* (1 and 2 if none are given)."""
    faces = dice or (1, 2)
    total = sum(face for face in faces if face <= 6)
    table.turn(1).standing({1: (square - total) % 40}).dice(faces)
    return only(table.when(c.Roll(1)), e.DebtOpened)


def with_cards(rules: str, cards: tuple[tuple[int, str], ...]) -> Table:
    """Return a match whose seat 0 has collection cards."""
    draws = ScriptedDraws()
    specs = (e.SeatSpec(e.BOT, "", "plain", cards), *(e.SeatSpec(e.BOT),) * 3)
    return Table(created(rules, specs, draws), draws)


@pytest.mark.parametrize("level", range(6))
@pytest.mark.parametrize("square", STREETS)
def test_a_street_costs_the_rent_of_its_level(square: int, level: int) -> None:
    """RENT-1, BOARD-1."""
    group = CLASSIC.group_names[CLASSIC.group_of[square]]
    table = given().group(0, group).levels({square: level})
    if CLASSIC.group_names[CLASSIC.group_of[square]] not in ("brown", "dark_blue") or level:
        table.levels(dict.fromkeys(CLASSIC.groups[CLASSIC.group_of[square]], level))

    opened = rent(table, square)

    base = CLASSIC.rents[square][level]
    assert opened.amount == (base if level else 2 * base)


def test_a_bare_street_of_an_incomplete_group_costs_its_base_rent() -> None:
    """RENT-1."""
    opened = rent(given().owned(0, 6, 8), 6)

    assert (opened.amount, opened.rule) == (60, "RENT-1")
    assert opened.inputs == (("square", 6), ("level", 0))


def test_a_bare_street_of_a_whole_group_costs_twice_its_base_rent() -> None:
    """RENT-1."""
    opened = rent(given().group(0, "light_blue"), 6)

    assert opened.amount == 120
    assert opened.inputs == (("square", 6), ("level", 0), ("doubled", 1))


def test_a_mortgaged_sister_street_does_not_undo_the_doubling() -> None:
    """RENT-1."""
    assert rent(given().group(0, "light_blue").mortgaged(8), 6).amount == 120


def test_a_built_sister_street_does_not_undo_the_doubling() -> None:
    """RENT-1."""
    assert rent(given().group(0, "brown").levels({3: 1}), 1).amount == 40


@pytest.mark.parametrize(("owned", "amount"), [(1, 250), (2, 500), (3, 1_000), (4, 2_000)])
def test_a_station_costs_by_the_number_of_stations_owned(owned: int, amount: int) -> None:
    """RENT-2."""
    opened = rent(given().owned(0, *(5, 15, 25, 35)[:owned]), 5)

    assert (opened.amount, opened.rule) == (amount, "RENT-2")
    assert opened.inputs == (("square", 5), ("owned", owned))


def test_mortgaged_stations_count_for_the_others() -> None:
    """RENT-2."""
    assert rent(given().owned(0, 5, 15).mortgaged(15), 5).amount == 500


def test_a_rivals_stations_do_not_count() -> None:
    """RENT-2."""
    assert rent(given().owned(0, 5).owned(2, 15, 25), 5).amount == 250


@pytest.mark.parametrize(("owned", "factor"), [((12,), 40), ((12, 28), 100)])
def test_a_utility_costs_the_dice_times_its_factor(owned: tuple[int, ...], factor: int) -> None:
    """RENT-3."""
    opened = rent(given().owned(0, *owned), 12, 3, 4)

    assert (opened.amount, opened.rule) == (7 * factor, "RENT-3")
    assert opened.inputs == (("square", 12), ("dice", 7), ("factor", factor))


def test_a_mortgaged_utility_counts_for_the_other() -> None:
    """RENT-3."""
    assert rent(given().owned(0, 12, 28).mortgaged(28), 12, 3, 4).amount == 700


def test_a_numbered_third_die_counts_for_a_utility() -> None:
    """RENT-3."""
    table = given(SPEED_2).round(7).owned(0, 12)

    assert rent(table, 12, 4, 2, 3).amount == 9 * 40


def test_an_x_does_not_count_for_a_utility() -> None:
    """RENT-3."""
    table = given(SPEED_2).round(7).owned(0, 12).turn(1).standing({1: 6}).dice((4, 2, e.X))

    assert only(table.when(c.Roll(1)), e.DebtOpened).amount == 6 * 40


@pytest.mark.parametrize("total", [2, 4, 6])
def test_a_utility_reached_by_bus_counts_both_white_dice(total: int) -> None:
    """RENT-3, DIE3-2."""
    table = given(SPEED_2).round(7).owned(0, 12).turn(1).standing({1: 12 - total})
    table.dice((4, 2, e.BUS))

    opened = only(table.when(c.Roll(1), c.ChooseBusMove(1, total)), e.DebtOpened)

    assert opened.amount == 6 * 40


def test_a_utility_reached_by_a_triple_counts_all_three_dice() -> None:
    """RENT-3, DIE3-4."""
    table = given(SPEED_2).round(7).owned(0, 12).turn(1).dice((2, 2, 2))

    opened = only(table.when(c.Roll(1), c.ChooseTeleport(1, 12)), e.DebtOpened)

    assert opened.amount == 6 * 40


@pytest.mark.parametrize("square", [1, 5, 12])
def test_mortgaged_property_costs_nothing(square: int) -> None:
    """RENT-4."""
    table = given().owned(0, square).mortgaged(square).turn(1).standing({1: (square - 3) % 40})

    events = table.dice((1, 2)).when(c.Roll(1))

    assert not every(events, e.DebtOpened)
    assert table.match.turn == 2


@pytest.mark.parametrize("rules", RULE_SETS)
def test_ones_own_property_costs_nothing(rules: str) -> None:
    """TURN-4."""
    table = given(rules).owned(0, 6).standing({0: 3}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert not every(events, e.DebtOpened)
    assert table.match.turn == 1


def test_allies_pay_no_rent() -> None:
    """RENT-5."""
    table = given(TEAMS_2).owned(2, 6).standing({0: 3}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert not every(events, e.DebtOpened)
    assert table.match.turn == 1


def test_the_other_team_pays_rent() -> None:
    """RENT-5."""
    assert rent(given(TEAMS_2).owned(0, 6), 6).creditors == ((0, 60),)


@pytest.mark.parametrize(
    ("rarity", "amount"),
    [("common", 367), ("uncommon", 385), ("rare", 402), ("epic", 437), ("legendary", 466)],
)
def test_a_collection_card_raises_the_rent_of_its_square(rarity: str, amount: int) -> None:
    """RENT-6: of 350, rounded down."""
    opened = rent(with_cards(CLASSIC_2, ((37, rarity),)).owned(0, 37), 37)

    assert opened.amount == amount
    assert opened.inputs[-1] == ("card_bonus", amount - 350)


def test_the_bonuses_are_5_10_15_25_percent_and_a_third() -> None:
    """RENT-6."""
    percents = {rarity: Fraction(*bonus) * 100 for rarity, bonus in BONUS.items()}

    assert percents == {
        "common": 5,
        "uncommon": 10,
        "rare": 15,
        "epic": 25,
        "legendary": Fraction(100, 3),
    }


def test_the_card_bonus_comes_after_the_doubling() -> None:
    """RENT-6, TAX-1."""
    table = with_cards(CLASSIC_2, ((1, "legendary"),)).group(0, "brown")

    assert rent(table, 1).amount == 40 + 13


def test_a_card_counts_for_its_own_square_alone() -> None:
    """RENT-6."""
    assert rent(with_cards(CLASSIC_2, ((1, "legendary"),)).owned(0, 6), 6).amount == 60


def test_a_card_does_not_go_with_the_property() -> None:
    """RENT-6."""
    table = with_cards(CLASSIC_2, ((6, "legendary"),)).owned(2, 6)

    assert rent(table, 6).amount == 60


def test_a_card_raises_station_and_utility_rents_too() -> None:
    """RENT-6."""
    table = with_cards(CLASSIC_2, ((5, "epic"),)).owned(0, 5)

    assert rent(table, 5).amount == 312


def test_the_best_card_for_a_square_counts_and_bonuses_never_stack() -> None:
    """RENT-6."""
    cards = ((37, "epic"), (37, "common"), (37, "rare"))
    table = with_cards(CLASSIC_2, cards).owned(0, 37)

    assert table.match.cards[0] == {37: "epic"}
    assert rent(table, 37).amount == 437


def test_cards_do_not_raise_rents_in_revision_1() -> None:
    """RENT-6."""
    table = with_cards(CLASSIC_1, ((37, "legendary"),)).owned(0, 37)

    assert table.match.cards[0] == {}
    assert rent(table, 37).amount == 350


def test_the_start_of_a_match_records_the_cards() -> None:
    """RENT-6."""
    table = with_cards(CLASSIC_2, ((39, "rare"), (1, "epic")))
    specs: tuple[Mapping[int, str], ...] = table.match.cards

    assert specs == ({1: "epic", 39: "rare"}, {}, {}, {})


def test_the_tenant_of_several_rolls_owes_for_each_landing() -> None:
    """DEBT-1: each new debt is one of its own."""
    table = given().owned(0, 6, 8).turn(1).standing({1: 4}).dice((1, 1), (1, 1))
    table.when(c.Roll(1), c.Pay(1))

    opened = only(table.when(c.Roll(1)), e.DebtOpened)

    assert (opened.debt, opened.amount) == (2, 60)
