"""What bots do when it is theirs to decide, one decision at a time."""

import pytest

from libs.bots.characters import STEADY
from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.legal import legal_commands
from libs.rules.views import view
from tests.support.builders import CLASSIC_1, CLASSIC_2, SPEED_1, SPEED_2, TEAMS_2
from tests.support.spec import Table, given, only

PINK, ORANGE = (11, 13, 14), (16, 18, 19)
NEARLY_BANKRUPT = 250


def choice(table: Table, seat: int = 0, strength: str = "steady") -> c.SeatCommand | None:
    match = table.match
    return STRENGTHS[strength](view(match, seat), legal_commands(match, seat))


def at_moment(table: Table, moment: int) -> Table:
    """Make it a moment at which a steady bot thinks about trades (0) or mortgages (1)."""
    table.match.sequence = STEADY.proposes_every + moment
    return table


@pytest.mark.parametrize("strength", STRENGTHS)
def test_with_nothing_else_to_do_they_roll(strength: str) -> None:
    assert choice(given(), 0, strength) == c.Roll(0)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("seat", [1, 2])
def test_out_of_turn_there_is_nothing_to_do(seat: int, strength: str) -> None:
    assert choice(given(), seat, strength) is None


def landed(square: int, cash: int, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 has landed on *square* and decides whether to buy."""
    table = given(rules).standing({0: square - 3}).cash({0: cash}).dice((1, 2))
    table.when(c.Roll(0))
    return table


@pytest.mark.parametrize("strength", STRENGTHS)
def test_they_buy_what_they_can_easily_pay(strength: str) -> None:
    """TURN-4."""
    assert choice(landed(39, 15_000), 0, strength) == c.Buy(0)
    assert choice(landed(39, 15_000), 1, strength) is None


@pytest.mark.parametrize("strength", STRENGTHS)
def test_they_decline_what_they_cannot_pay(strength: str) -> None:
    """TURN-5."""
    assert choice(landed(39, 3_999), 0, strength) == c.Decline(0)


def test_the_careful_keep_a_reserve_and_the_bold_do_not() -> None:
    table = landed(16, 5_000)

    assert choice(table, 0, "novice") == c.Decline(0)
    assert choice(table, 0, "steady") == c.Buy(0)
    assert choice(landed(16, 2_000), 0, "steady") == c.Decline(0)
    assert choice(landed(16, 2_000), 0, "shark") == c.Buy(0)


def test_what_completes_a_group_is_bought_with_the_last_cash() -> None:
    table = given().owned(0, 16, 18).standing({0: 16}).cash({0: 2_000}).dice((1, 2))
    table.when(c.Roll(0))

    assert choice(table) == c.Buy(0)


def auction(rules: str = CLASSIC_2) -> Table:
    table = landed(19, 15_000, rules)
    table.when(c.Decline(0))
    return table


def test_they_bid_up_to_what_it_is_worth_to_them() -> None:
    """AUC-1, AUC-2."""
    table = auction()
    assert choice(table, 1) == c.Bid(1)
    assert choice(table, 2) is None
    table.when(c.Bid(1), c.Bid(2))

    assert choice(table, 0) == c.Pass(0), "2,200 is more than it is worth"


def test_they_bid_more_for_what_completes_a_group_or_keeps_one_from_a_rival() -> None:
    """AUC-1."""
    own, rival = auction().owned(1, 16, 18), auction().owned(2, 16, 18)
    for table in (own, rival):
        table.when(c.Bid(1), c.Bid(2), c.Pass(0))

    assert choice(own, 1) == c.Bid(1)
    assert choice(rival, 1) == c.Bid(1)
    assert choice(rival, 1, "novice") == c.Pass(1)


def test_nobody_bids_against_an_ally() -> None:
    """AUC-2."""
    table = auction(TEAMS_2).owned(3, 16, 18)
    table.when(c.Bid(1), c.Pass(2))

    assert choice(table, 3) == c.Pass(3)


def test_they_build_evenly_where_it_brings_most() -> None:
    """BUILD-1, BUILD-2."""
    table = given().owned(0, *ORANGE)
    command = choice(table)
    assert command == c.Build(0, 19)
    table.when(command)
    command = choice(table)
    assert command == c.Build(0, 18)
    table.when(command)
    table.when(c.Build(0, 16))

    assert choice(table) == c.Roll(0), "each street gains one level in a turn"


def test_without_a_limit_they_build_until_the_reserve_is_reached() -> None:
    """BUILD-2."""
    table = given(SPEED_1).owned(0, *ORANGE)
    while isinstance(command := choice(table), c.Build):
        table.when(command)

    assert sum(table.match.level) == 12
    assert table.match.cash[0] == 3_000


def test_they_do_not_build_on_mortgaged_groups_or_beyond_five() -> None:
    """BUILD-1."""
    mortgaged = given().owned(0, *ORANGE).mortgaged(16).cash({0: 900})
    full = given().owned(0, *ORANGE).levels(dict.fromkeys(ORANGE, 5))

    assert choice(mortgaged) == c.Roll(0)
    assert choice(full) == c.Roll(0)


def test_they_redeem_the_cheapest_when_there_is_cash_to_spare() -> None:
    """MORT-2."""
    table = given().owned(0, 39, 11).mortgaged(39, 11)

    assert choice(at_moment(table, 1)) == c.Redeem(0, 11)
    assert choice(at_moment(table.cash({0: 2_500}), 1)) == c.Roll(0)


def in_debt(rent_square: int, cash: int, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 owes seat 1 the rent of a built-up street."""
    table = given(rules).owned(1, *ORANGE).levels(dict.fromkeys(ORANGE, 3))
    table.standing({0: rent_square - 3}).cash({0: cash}).dice((1, 2))
    table.when(c.Roll(0))
    return table


@pytest.mark.parametrize("strength", STRENGTHS)
def test_they_pay_at_once_what_they_can(strength: str) -> None:
    """DEBT-1."""
    assert choice(in_debt(19, 6_000), 0, strength) == c.Pay(0)


def test_they_mortgage_loose_property_first_the_cheapest_that_is_enough() -> None:
    """DEBT-1, MORT-1."""
    table = in_debt(19, 5_000).owned(0, 1, 3, 5, 39)

    assert choice(table) == c.Mortgage(0, 5)


def test_they_sell_levels_before_they_mortgage_a_whole_group() -> None:
    """BUILD-2, BUILD-3."""
    table = in_debt(19, 5_000).owned(0, *PINK, 1, 3).levels({11: 2, 13: 3, 14: 3})

    assert choice(table) == c.SellLevel(0, 13)


def test_a_novice_sells_levels_first() -> None:
    """BUILD-3."""
    table = in_debt(19, 5_000).owned(0, *PINK, 39).levels(dict.fromkeys(PINK, 1))

    assert choice(table, 0, "novice") == c.SellLevel(0, 11)
    assert choice(table, 0, "steady") == c.Mortgage(0, 39)


def test_whoever_can_raise_the_cash_raises_it_and_pays() -> None:
    """DEBT-1."""
    table = in_debt(19, NEARLY_BANKRUPT).owned(0, *PINK, 39, 37, 35, 1)
    table.levels({11: 1, 13: 2, 14: 2})
    while not isinstance(command := choice(table), c.Pay):
        assert isinstance(command, c.Mortgage | c.SellLevel)
        table.when(command)
    table.when(command)

    assert not table.match.debts


def test_whoever_cannot_pay_gives_up() -> None:
    """BANK-1."""
    table = in_debt(19, 5_999)

    assert choice(table) == c.DeclareBankruptcy(0)
    assert only(table.when(c.DeclareBankruptcy(0)), e.SeatBankrupted).seat == 0


def test_before_giving_up_a_rival_is_offered_what_it_needs() -> None:
    """DEBT-1, TRADE-2."""
    table = in_debt(19, 4_000).owned(0, 13).owned(2, 11, 14)
    table.match.sequence += table.match.sequence % 2
    command = choice(table)

    assert isinstance(command, c.OfferTrade)
    assert (command.to, command.give) == (2, e.Side(0, (13,)))
    table.when(command)
    assert choice(table) is None, "it waits for the answer"
    answer = choice(table, 2)
    assert answer == c.AcceptTrade(2, 1)
    table.when(answer)
    assert choice(table) == c.Pay(0)


def test_a_debtor_who_was_refused_gives_up() -> None:
    """BANK-1."""
    table = in_debt(19, 4_000).owned(0, 13).owned(2, 11, 14)
    table.match.sequence += table.match.sequence % 2
    command = choice(table)
    assert isinstance(command, c.OfferTrade)
    table.when(command, c.RejectTrade(2, 1))

    assert choice(table) == c.DeclareBankruptcy(0)


def test_an_ally_is_asked_for_what_is_missing() -> None:
    """TRADE-2."""
    table = in_debt(19, 5_000, TEAMS_2)
    table.match.sequence += table.match.sequence % 2

    assert choice(table) == c.OfferTrade(0, 2, e.Side(), e.Side(1_000))


def test_several_debtors_answer_each_for_itself() -> None:
    """DEBT-3."""
    table = given().card(6).standing({0: 4}).cash({1: 100, 2: 200}).owned(1, 11).dice((1, 2))
    table.when(c.Roll(0))

    assert table.match.phase == phases.DEBT
    assert choice(table, 0) is None
    assert choice(table, 1) == c.Mortgage(1, 11)
    assert choice(table, 2) == c.DeclareBankruptcy(2)


def test_early_on_they_pay_bail_and_later_they_stay() -> None:
    """JAIL-3."""
    early = given().jailed(0).dice((1, 2))
    late = given().jailed(0).owned(1, *ORANGE).levels(dict.fromkeys(ORANGE, 4)).dice((1, 2))
    for table in (early, late):
        table.when(c.Roll(0))

    assert choice(early) == c.PayBail(0)
    assert choice(early, 1) is None
    assert choice(late) == c.StayInJail(0)


def test_in_the_first_revision_they_pay_bail_before_the_roll() -> None:
    """JAIL-2."""
    early = given(CLASSIC_1).jailed(0)
    late = given(CLASSIC_1).jailed(0).owned(1, *ORANGE).levels(dict.fromkeys(ORANGE, 4))

    assert choice(early) == c.PayBail(0)
    assert choice(late) == c.Roll(0)
    assert choice(early.cash({0: 499})) == c.Roll(0)


def test_the_bus_goes_where_it_is_best() -> None:
    """DIE3-2."""
    table = given(SPEED_2).round(7).standing({0: 35}).dice((1, 3, e.BUS))
    table.when(c.Roll(0))

    assert choice(table) == c.ChooseBusMove(0, 4), "39 is free; 36 is chance, 38 is tax"
    table.owned(1, 39).levels({39: 0})
    assert choice(table) == c.ChooseBusMove(0, 1)
    assert choice(table, 1) is None


def test_a_triple_leads_to_what_completes_a_group_else_to_the_dearest() -> None:
    """DIE3-4."""
    table = given(SPEED_2).round(7).dice((2, 2, 2))
    table.when(c.Roll(0))

    assert choice(table) == c.ChooseTeleport(0, 0), "salary and bonus beat a mere purchase"
    assert choice(table.owned(0, 18, 19)) == c.ChooseTeleport(0, 16)
    assert choice(table, 1) is None


def test_the_jackpot_is_bet_now_and_then() -> None:
    """JACK-1."""
    table = given().standing({0: 17}).dice((1, 2))
    table.when(c.Roll(0))
    bets = []
    for turn in range(12):
        table.match.turn_number = turn
        bets.append(choice(table))

    assert choice(table, 1) is None
    assert bets.count(c.DeclineJackpot(0)) == 8
    assert {len(bet.numbers) for bet in bets if isinstance(bet, c.BetJackpot)} == {1, 2, 3}
    assert choice(table.cash({0: 1_000})) == c.DeclineJackpot(0)
