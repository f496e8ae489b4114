"""How bots trade: what they propose, and that they answer by TRADE-4 exactly."""

from collections.abc import Sequence

import pytest

from libs.bots import dealing
from libs.bots.appraising import Deal, gain, valuation, valuation_after
from libs.bots.characters import NOVICE, SHARK, STEADY, Character
from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.legal import legal_commands
from libs.rules.match import Match
from libs.rules.views import view
from libs.simulation.playing import run_match, set_up
from tests.support.builders import CLASSIC_2, RULE_SETS, TEAMS_2
from tests.support.spec import Table, given, only

CHARACTERS = {"novice": NOVICE, "steady": STEADY, "shark": SHARK}


def answer(table: Table, seat: int, strength: str = "steady") -> c.SeatCommand | None:
    match = table.match
    return STRENGTHS[strength](view(match, seat), legal_commands(match, seat))


def offered(give: e.Side, take: e.Side, to: int = 1, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 has offered a trade; 0 owns square 11, 1 owns 16."""
    table = given(rules).owned(0, 11).owned(to, 16)
    table.when(c.OfferTrade(0, to, give, take))
    return table


@pytest.mark.parametrize("strength", STRENGTHS)
def test_an_offer_worth_exactly_what_it_costs_is_accepted(strength: str) -> None:
    """TRADE-4."""
    table = offered(e.Side(0, (11,)), e.Side(1_400))

    assert answer(table, 1, strength) == c.AcceptTrade(1, 1)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_an_offer_that_costs_one_unit_more_is_rejected(strength: str) -> None:
    """TRADE-4."""
    table = offered(e.Side(0, (11,)), e.Side(1_401))

    assert answer(table, 1, strength) == c.RejectTrade(1, 1)


def test_what_completes_a_group_may_cost_more() -> None:
    """TRADE-4."""
    dear = given().owned(0, 11).owned(1, 13, 14)
    dear.when(c.OfferTrade(0, 1, e.Side(0, (11,)), e.Side(2_800)))

    assert answer(dear, 1) == c.AcceptTrade(1, 1)


def test_what_completes_a_rivals_group_must_be_paid_for() -> None:
    """TRADE-4."""
    table = given().owned(0, 13, 14).owned(1, 11)
    table.when(c.OfferTrade(0, 1, e.Side(1_400), e.Side(0, (11,))))

    assert answer(table, 1, "novice") == c.AcceptTrade(1, 1)
    assert answer(table, 1, "steady") == c.RejectTrade(1, 1)


def test_a_stale_offer_is_accepted_and_so_closed() -> None:
    """TRADE-3, TRADE-4."""
    table = offered(e.Side(0, (11,)), e.Side(1_401)).cash({1: 0})
    command = answer(table, 1)
    assert command == c.AcceptTrade(1, 1)
    events = table.when(command)

    assert only(events, e.TradeClosed).why == "no_longer_holds"


def test_an_own_offer_that_went_bad_is_withdrawn() -> None:
    """TRADE-1."""
    table = given().owned(0, 11).owned(1, 16)
    table.when(c.OfferTrade(0, 1, e.Side(1_800), e.Side(0, (16,))))

    assert answer(table, 0) != c.WithdrawTrade(0, 1)
    table.cash({0: 1_800})
    assert answer(table, 0) == c.WithdrawTrade(0, 1)


def test_nobody_answers_during_an_auction() -> None:
    """AUC-5."""
    table = offered(e.Side(0, (11,)), e.Side(1_400)).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0), c.Decline(0))

    assert not isinstance(answer(table, 1), c.AcceptTrade | c.RejectTrade)


def test_an_ally_takes_a_gift_and_gives_one_that_helps_the_side() -> None:
    """TRADE-2, TRADE-4."""
    table = given(TEAMS_2).owned(0, 13, 14).owned(2, 11)
    table.when(c.OfferTrade(0, 2, e.Side(), e.Side(0, (11,))))

    assert answer(table, 2) == c.AcceptTrade(2, 1)


def proposal(table: Table, character: Character = STEADY) -> c.OfferTrade | None:
    return dealing.propose(view(table.match, 0), 0, character)


def test_a_swap_that_completes_a_group_for_both_is_proposed() -> None:
    table = given().owned(0, 13, 14, 16).owned(1, 11, 18, 19)
    command = proposal(table)

    assert command is not None
    assert (command.to, command.give.squares, command.take.squares) == (1, (16,), (11,))


def test_cash_is_offered_for_what_completes_a_group() -> None:
    table = given().owned(0, 13, 14).owned(1, 11)
    command = proposal(table)

    assert command is not None
    assert command.take == e.Side(0, (11,))
    assert 1_400 < command.give.cash <= 2_800


def test_what_comes_closer_to_a_group_is_wanted_too() -> None:
    table = given().owned(0, 13).owned(1, 11).owned(2, 14)
    command = proposal(table)

    assert command is not None
    assert command.take.squares in {(11,), (14,)}


def test_nothing_is_proposed_before_the_whole_group_is_sold() -> None:
    assert proposal(given().owned(0, 13).owned(1, 11)) is None


def test_nothing_is_proposed_for_what_is_mortgaged() -> None:
    assert proposal(given().owned(0, 13, 14).owned(1, 11).mortgaged(11)) is None


def test_nobody_pays_out_of_the_cushion() -> None:
    table = given().owned(0, 13, 14).owned(1, 11).cash({0: 2_000})

    assert proposal(table) is None


def test_an_ally_is_asked_for_a_gift() -> None:
    """TRADE-2."""
    table = given(TEAMS_2).owned(0, 13, 14).owned(2, 11)
    command = proposal(table)

    assert command == c.OfferTrade(0, 2, e.Side(), e.Side(0, (11,)))


@pytest.mark.parametrize("given_value", [600, 1_000, 1_400, 2_800, 5_600])
@pytest.mark.parametrize("taken_value", [0, 600, 1_400, 3_500])
@pytest.mark.parametrize("cash", [-9_000, -700, 0, 700, 9_000])
def test_any_price_is_made_fair(given_value: int, taken_value: int, cash: int) -> None:
    """TRADE-2."""
    fair = dealing._made_fair(given_value, taken_value, 50, cash)
    low, high = sorted((given_value + max(fair, 0), taken_value + max(-fair, 0)))

    assert low * 2 >= high
    assert abs(fair - cash) <= max(abs(cash), given_value, taken_value) * 2


class TradesUnderWatch:
    """Holds every proposal and every answer of a match to the rules of the house."""

    def __init__(self) -> None:
        self.answers = {c.AcceptTrade: 0, c.RejectTrade: 0}
        self._before = Match()

    def __call__(self, _: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        before = Match() if isinstance(command, c.CreateMatch) else self._before
        if isinstance(command, c.OfferTrade):
            self._check_proposal(before, command)
        elif isinstance(command, c.AcceptTrade | c.RejectTrade):
            self.answers[command.__class__] += 1
            character = CHARACTERS[before.specs[command.seat].strength]
            offer = before.offer(command.offer)
            assert offer is not None
            table = view(before)
            after = valuation_after(table, command.seat, offer, character)
            is_no_loss = after >= valuation(table, command.seat, character)

            assert is_no_loss == isinstance(command, c.AcceptTrade), (command, at_ms)
        self._before = apply(before, events)

    def _check_proposal(self, before: Match, command: c.OfferTrade) -> None:
        character = CHARACTERS[before.specs[command.seat].strength]
        deal = Deal(command.seat, command.to, command.give, command.take)
        own_gain = gain(view(before), command.seat, deal, character)

        if before.debt_of(command.seat) is None:
            assert own_gain > 0, command


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_exactly_the_offers_that_do_not_lower_the_valuation_are_accepted(rule_set: str) -> None:
    """TRADE-4."""
    watch = TradesUnderWatch()
    for number in range(6):
        run_match(set_up(rule_set, 4, 11, number, tuple(STRENGTHS)), watch)

    assert min(watch.answers.values()) > 3, watch.answers
