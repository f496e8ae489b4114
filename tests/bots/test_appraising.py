"""What positions are worth, and that a deal changes it by what was foretold (TRADE-4)."""

from collections.abc import Sequence

import pytest

from libs.bots.appraising import Deal, gain, valuation, valuation_after
from libs.bots.characters import NOVICE, SHARK, STEADY, Character
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.views import view
from libs.simulation.playing import run_match, set_up
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, TEAMS_2
from tests.support.spec import Table, given

CHARACTERS = {"novice": NOVICE, "steady": STEADY, "shark": SHARK}
BROWN, LIGHT_BLUE = (1, 3), (6, 8, 9)


def worth(table: Table, seat: int, character: Character = STEADY) -> int:
    return valuation(view(table.match, seat), seat, character)


def test_cash_counts_and_counts_for_more_while_it_is_short() -> None:
    rich, poor = given().cash({0: 10_000}), given().cash({0: 100})

    assert worth(rich, 0) == 10_000 + STEADY.cushion // 2
    assert worth(poor, 0) == 150


def test_property_counts_at_list_price_and_half_when_mortgaged() -> None:
    before = worth(given(), 0)

    assert worth(given().owned(0, 39), 0) == before + 4_000 + 3_500 * 2 // 10 + 4_000 * 2 // 10
    assert worth(given().owned(0, 11), 0) == before + 1_400
    assert worth(given().owned(0, 11).mortgaged(11), 0) == before + 700


def test_a_whole_group_is_worth_more_than_its_properties() -> None:
    before = worth(given(), 0)

    assert worth(given().owned(0, *LIGHT_BLUE), 0) == before + 2 * 3_200
    assert worth(given().owned(0, *LIGHT_BLUE[:2]), 0) == before + 2_000 + 640


def test_levels_count_at_cost() -> None:
    flat = given().owned(0, *BROWN)
    built = given().owned(0, *BROWN).levels({1: 2, 3: 1})

    assert worth(built, 0) == worth(flat, 0) + 1_500


def test_a_rivals_whole_group_takes_away_and_an_allys_adds() -> None:
    before, in_teams = worth(given(), 0), worth(given(TEAMS_2), 0)

    assert worth(given().owned(1, *LIGHT_BLUE), 0) == before - 640
    assert worth(given().owned(1, *LIGHT_BLUE), 0, NOVICE) == worth(given(), 0, NOVICE)
    assert worth(given(TEAMS_2).owned(1, *LIGHT_BLUE), 0) == in_teams - 640
    assert worth(given(TEAMS_2).owned(2, *LIGHT_BLUE), 0) == in_teams + 2 * 3_200


def test_whoever_is_no_part_of_a_deal_feels_the_group_that_it_completes() -> None:
    table = given().owned(1, *LIGHT_BLUE[:2]).owned(2, LIGHT_BLUE[2])
    deal = Deal(1, 2, e.Side(1_200), e.Side(0, LIGHT_BLUE[2:]))

    assert gain(view(table.match), 0, deal, STEADY) == -640


class ForetoldDeals:
    """Accepts every offer of a match on a copy, and compares with what was foretold of it."""

    def __init__(self, character: Character) -> None:
        self._character = character
        self.compared = 0

    def __call__(
        self, match: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]
    ) -> None:
        if not isinstance(command, c.OfferTrade):
            return
        after = apply(match.copy(), [e.TradeAccepted(match.offers[-1].offer)])
        for seat in range(len(match.out)):
            foretold = valuation_after(view(match), seat, match.offers[-1], self._character)

            assert foretold == valuation(view(after), seat, self._character), (command, at_ms)
            assert events
            self.compared += 1


@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_deal_changes_the_valuation_by_what_was_foretold(rule_set: str, name: str) -> None:
    """TRADE-4."""
    watch = ForetoldDeals(CHARACTERS[name])
    for number in range(3):
        run_match(set_up(rule_set, 4, 7, number, ("shark", "steady")), watch)

    assert watch.compared > 20


def test_an_offer_that_no_longer_holds_changes_nothing() -> None:
    """TRADE-3, TRADE-4."""
    table = given(CLASSIC_1).owned(0, 11)
    table.when(c.OfferTrade(0, 1, e.Side(0, (11,)), e.Side(1_400)))
    offer = table.match.offers[0]
    table.cash({1: 1_399})

    assert valuation_after(view(table.match), 1, offer, STEADY) == worth(table, 1)


def test_the_valuation_sees_what_is_on_the_table_and_no_more() -> None:
    table = given(CLASSIC_2)
    before = worth(table, 0)
    table.match.next_counter += 5

    assert worth(table, 0) == before
