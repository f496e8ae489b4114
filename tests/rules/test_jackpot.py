"""The jackpot on square 20 (JACK-1)."""

from itertools import combinations

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import CLASSIC_2, REVISION_2
from tests.support.spec import Table, every, given, kinds, only


def betting(cash: int = 15_000, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 landed on square 20."""
    table = given(rules).standing({0: 17}).cash({0: cash}).dice((1, 2))
    table.when(c.Roll(0))
    return table


@pytest.mark.parametrize("rules", REVISION_2)
def test_landing_offers_the_bet(rules: str) -> None:
    """JACK-1."""
    table = given(rules).standing({0: 17}).dice((1, 2))

    events = table.when(c.Roll(0))

    assert kinds(events)[2:] == [e.JackpotOffered, e.DeadlineSet]
    assert only(events, e.JackpotOffered) == e.JackpotOffered(0, 1_000)


@pytest.mark.parametrize(
    ("numbers", "payout"), [((4,), 6_000), ((4, 1), 3_000), ((6, 4, 1), 2_000)]
)
def test_a_hit_pays_six_three_or_two_times_the_stake(numbers: tuple[int, ...], payout: int) -> None:
    """JACK-1."""
    table = betting().jackpot(4)

    events = table.when(c.BetJackpot(0, numbers))

    assert events[0] == e.JackpotBetPlaced(0, tuple(sorted(numbers)), 1_000)
    assert only(events, e.JackpotRolled) == e.JackpotRolled(0, 4, payout, 2, 1)
    assert table.match.cash[0] == 14_000 + payout
    assert table.match.turn == 1


def test_a_miss_loses_the_stake() -> None:
    """JACK-1."""
    table = betting().jackpot(5)

    events = table.when(c.BetJackpot(0, (1, 2, 3)))

    assert only(events, e.JackpotRolled).payout == 0
    assert table.match.cash[0] == 14_000


def test_declining_is_free() -> None:
    """JACK-1."""
    table = betting()

    events = table.when(c.DeclineJackpot(0))

    assert events[0] == e.JackpotDeclined(0, 1_000)
    assert table.match.cash[0] == 15_000
    assert table.match.turn == 1


@pytest.mark.parametrize(("cash", "offers"), [(999, 0), (1_000, 1)])
def test_the_bet_is_offered_to_those_who_have_the_stake(cash: int, offers: int) -> None:
    """JACK-1."""
    table = given().standing({0: 17}).cash({0: cash}).dice((1, 2))

    assert len(every(table.when(c.Roll(0)), e.JackpotOffered)) == offers


def test_one_that_is_short_when_it_bets_is_refused() -> None:
    """JACK-1."""
    table = given().standing({0: 17}).owned(1, 12).dice((1, 2)).cash({0: 1_500})
    table.when(c.OfferTrade(0, 1, e.Side(1_500), e.Side(0, (12,))), c.Roll(0), c.AcceptTrade(1, 1))

    refused = table.refused(c.BetJackpot(0, (1,)))

    assert (refused.reason, refused.rule) == (Reason.NOT_ENOUGH_CASH, "JACK-1")
    assert refused.facts == {"needed": 1_000, "cash": 0}


@pytest.mark.parametrize(
    "numbers", [(), (0,), (7,), (1, 1), (1, 2, 3, 4), (1, 2, 2), (-1, 3)], ids=str
)
def test_other_numbers_are_no_choice(numbers: tuple[int, ...]) -> None:
    """JACK-1."""
    refused = betting().refused(c.BetJackpot(0, numbers))

    assert (refused.reason, refused.rule) == (Reason.INVALID_CHOICE, "JACK-1")


def test_the_expected_value_of_every_bet_is_zero() -> None:
    """JACK-1."""
    for count in (1, 2, 3):
        for numbers in combinations(range(1, 7), count):
            gained = 0
            for die in range(1, 7):
                table = betting().jackpot(die)
                table.when(c.BetJackpot(0, numbers))
                gained += table.match.cash[0] - 15_000

            assert gained == 0, numbers


def test_the_die_takes_its_own_block_of_chance() -> None:
    """FAIR-1, JACK-1."""
    table = betting().jackpot(4)
    before = table.match.next_counter

    rolled = only(table.when(c.BetJackpot(0, (1,))), e.JackpotRolled)

    assert rolled.counter == before
    assert table.match.next_counter == before + 1


def test_there_is_no_bet_elsewhere() -> None:
    """JACK-1."""
    table = given()

    refusals = [table.refused(c.BetJackpot(0, (1,))), table.refused(c.DeclineJackpot(0))]

    assert [refused.reason for refused in refusals] == [Reason.WRONG_PHASE] * 2


def test_after_doubles_the_roll_follows_the_bet() -> None:
    """JACK-1, TURN-2."""
    table = given().standing({0: 16}).dice((2, 2)).jackpot(1)
    table.when(c.Roll(0), c.BetJackpot(0, (1,)))

    assert (table.match.phase, table.match.turn) == (phases.ROLL, 0)
