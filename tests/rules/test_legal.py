"""What a seat may do now, as it is listed; that `decide` agrees is a property."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.legal import (
    Choice,
    JackpotBounds,
    Legal,
    SeedBounds,
    TradeBounds,
    TradePartner,
    legal_commands,
)
from tests.support.builders import (
    BUS,
    CLASSIC_1,
    CLASSIC_2,
    SPEED_1,
    SPEED_2,
    TEAMS_2,
    ScriptedDraws,
    created,
    people,
)
from tests.support.spec import Table, given


def listed(table: Table, seat: int = 0) -> list[Legal]:
    return list(legal_commands(table.match, seat))


def answers(table: Table, seat: int = 0) -> list[Legal]:
    return legal_commands(table.match, seat).answers()


def test_a_pending_roll_is_to_be_rolled() -> None:
    """TURN-1."""
    assert answers(given()) == [Choice(c.Roll(0))]
    assert answers(given(), 1) == []


def test_whoever_is_in_may_surrender() -> None:
    """SURR-1."""
    assert Choice(c.Surrender(2)) in listed(given(), 2)


def test_nothing_is_listed_for_who_is_out_or_has_no_seat() -> None:
    """SURR-1."""
    table = given().gone(1)

    assert listed(table, 1) == listed(table, 9) == listed(table, -1) == []


def test_nothing_is_listed_in_a_frozen_match_or_after_its_end() -> None:
    """CLOCK-1, END-1."""
    frozen, ended = given(), given(seats=2)
    frozen.when(c.Freeze("a report", "operator:1"))
    ended.when(c.Surrender(1))

    assert listed(frozen) == listed(ended) == []


def test_a_purchase_is_listed_with_its_price_to_who_can_pay_it() -> None:
    """TURN-4, TURN-5."""
    rich, poor = (given().standing({0: 36}).dice((1, 2)).cash({0: n}) for n in (4_000, 3_999))
    rich.when(c.Roll(0))
    poor.when(c.Roll(0))

    assert answers(rich) == [Choice(c.Buy(0), 4_000), Choice(c.Decline(0))]
    assert answers(poor) == [Choice(c.Decline(0))]


def test_a_bid_is_listed_with_its_minimum_to_the_one_who_is_asked() -> None:
    """AUC-1."""
    table = given().standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0), c.Decline(0), c.Bid(1))

    assert answers(table, 2) == [Choice(c.Bid(2), 4_100), Choice(c.Pass(2))]
    assert answers(table, 0) == []


def test_a_debt_is_paid_or_raised_for_or_given_up() -> None:
    """DEBT-1, BANK-1."""
    table = given().standing({0: 1}).dice((1, 2)).owned(0, 5)
    table.when(c.Roll(0))

    assert answers(table.cash({0: 2_000})) == [Choice(c.Pay(0), 2_000)]
    assert answers(table.cash({0: 1_000})) == []
    assert answers(table.cash({0: 999})) == [Choice(c.DeclareBankruptcy(0), 999)]
    assert answers(table, 1) == []


def test_bail_is_listed_before_the_roll_in_revision_1() -> None:
    """JAIL-2."""
    table = given(CLASSIC_1).jailed(0)

    assert answers(table) == [Choice(c.Roll(0)), Choice(c.PayBail(0), 500)]
    assert answers(table.cash({0: 499})) == [Choice(c.Roll(0))]
    assert answers(given(CLASSIC_1)) == [Choice(c.Roll(0))]


def test_bail_is_listed_after_the_roll_in_revision_2() -> None:
    """JAIL-3."""
    table = given().jailed(0).dice((1, 2))
    assert answers(table) == [Choice(c.Roll(0))]
    table.when(c.Roll(0))

    assert answers(table) == [Choice(c.PayBail(0), 500), Choice(c.StayInJail(0))]


def test_the_totals_of_a_bus_are_listed() -> None:
    """DIE3-2."""
    table = given(SPEED_2).round(7).dice((4, 6, BUS))
    table.when(c.Roll(0))

    assert answers(table) == [Choice(c.ChooseBusMove(0, total)) for total in (4, 6, 10)]


def test_every_square_is_listed_for_a_triple() -> None:
    """DIE3-4."""
    table = given(SPEED_2).round(7).dice((2, 2, 2))
    table.when(c.Roll(0))

    assert answers(table) == [Choice(c.ChooseTeleport(0, square)) for square in range(40)]


def test_a_bet_is_listed_by_its_bounds() -> None:
    """JACK-1."""
    table = given().standing({0: 17}).dice((1, 2))
    table.when(c.Roll(0))

    assert answers(table) == [
        JackpotBounds(0, 1_000, most=3, faces=6),
        Choice(c.DeclineJackpot(0)),
    ]
    assert answers(table.cash({0: 999})) == [Choice(c.DeclineJackpot(0))]


def test_a_seed_is_listed_by_its_bounds_until_it_was_given() -> None:
    """FAIR-1."""
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, people(2), draws), draws)
    assert listed(table) == [SeedBounds(0, least=16, most=32)]

    table.when(c.ContributeSeed(0, b""))

    assert listed(table) == []


def test_how_many_entries_answer_is_counted_from_the_first() -> None:
    """TURN-1, SURR-1."""
    table = given()
    counts = [legal_commands(table.match, seat).answer_count for seat in (0, 1, 9, -1)]

    table.when(c.Freeze("a report", "operator:1"))

    assert counts == [1, 0, 0, 0]
    assert legal_commands(table.match, 0).answer_count == 0


def test_a_seed_is_an_answer_until_it_was_given() -> None:
    """FAIR-1."""
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, people(2), draws), draws)
    assert legal_commands(table.match, 0).answer_count == 1

    table.when(c.ContributeSeed(0, b""))

    assert legal_commands(table.match, 0).answer_count == 0


def test_what_raises_cash_is_an_answer_where_nothing_else_is() -> None:
    """DEBT-1."""
    table = given().standing({0: 1}).dice((1, 2)).owned(0, 5)
    table.group(0, "brown").group(0, "pink").levels({11: 1})
    table.when(c.Roll(0))
    table.cash({0: 1_000})
    legal = legal_commands(table.match, 0)

    assert list(legal)[: legal.answer_count] == [*legal.sales(), *legal.mortgages()] != []
    assert legal_commands(table.cash({0: 2_000}).match, 0).answer_count == 1


def test_streets_to_build_on_are_listed_with_their_cost() -> None:
    """BUILD-1, BUILD-2."""
    table = given().group(0, "light_blue").levels({8: 1})

    builds = legal_commands(table.match, 0).builds()

    assert builds == [Choice(c.Build(0, 6), 500), Choice(c.Build(0, 9), 500)]
    assert legal_commands(table.cash({0: 499}).match, 0).builds() == []


def test_a_street_at_its_limit_is_not_listed() -> None:
    """BUILD-1, BUILD-2."""
    table = given(SPEED_2).group(0, "light_blue").levels({6: 5, 8: 3})
    table.when(c.Build(0, 8))

    assert legal_commands(table.match, 0).builds() == [Choice(c.Build(0, 9), 500)]
    assert legal_commands(given(SPEED_1).group(0, "brown").match, 0).builds() == [
        Choice(c.Build(0, 1), 500),
        Choice(c.Build(0, 3), 500),
    ]


def test_a_group_with_a_mortgage_is_not_listed() -> None:
    """BUILD-1."""
    table = given().group(0, "brown").mortgaged(3)

    assert legal_commands(table.match, 0).builds() == []


def test_levels_to_sell_are_listed_with_what_they_bring() -> None:
    """BUILD-2, BUILD-3."""
    table = given().group(0, "orange").levels({16: 2, 18: 1, 19: 2})
    uneven = given(SPEED_2).group(0, "orange").levels({16: 2, 18: 1})

    assert legal_commands(table.match, 0).sales() == [
        Choice(c.SellLevel(0, 16), -500),
        Choice(c.SellLevel(0, 19), -500),
    ]
    assert [choice.command for choice in legal_commands(uneven.match, 0).sales()] == [
        c.SellLevel(0, 16),
        c.SellLevel(0, 18),
    ]


def test_property_to_mortgage_is_listed_with_what_it_brings() -> None:
    """MORT-1."""
    table = given().group(0, "brown").levels({1: 1}).owned(0, 5, 12).mortgaged(12)

    assert legal_commands(table.match, 0).mortgages() == [Choice(c.Mortgage(0, 5), -1_000)]


def test_mortgages_to_lift_are_listed_with_their_cost() -> None:
    """MORT-2."""
    table = given().owned(0, 5, 12).mortgaged(5, 12).cash({0: 900})

    assert legal_commands(table.match, 0).redemptions() == [Choice(c.Redeem(0, 12), 825)]
    assert len(legal_commands(table.cash({0: 825}).match, 0).redemptions()) == 1
    assert len(legal_commands(table.cash({0: 824}).match, 0).redemptions()) == 0


def test_a_debtor_is_listed_what_raises_cash_alone() -> None:
    """DEBT-1."""
    table = given().standing({0: 1}).dice((1, 2)).owned(0, 5, 12).mortgaged(12)
    table.group(0, "brown").group(0, "pink").levels({11: 1})
    table.when(c.Roll(0))
    legal = legal_commands(table.match, 0)

    assert legal.builds() == legal.redemptions() == []
    assert legal.sales()
    assert legal.mortgages()
    assert legal.trades()


def test_nothing_is_managed_at_the_wrong_time() -> None:
    """TURN-4, AUC-5."""
    table = given().standing({0: 36}).dice((1, 2)).group(0, "brown").levels({1: 1})
    table.owned(0, 5, 12).mortgaged(12)
    table.when(c.Roll(0))
    legal = legal_commands(table.match, 0)

    assert [
        *legal.builds(),
        *legal.sales(),
        *legal.mortgages(),
        *legal.redemptions(),
        *legal.trades(),
    ] == []


def test_a_trade_is_listed_by_its_bounds() -> None:
    """TRADE-1, TRADE-2."""
    table = given(TEAMS_2).owned(0, 5, 12).mortgaged(12).owned(2, 15).cash({0: 70, 2: 80, 3: 90})
    table.gone(1)

    assert legal_commands(table.match, 0).trades() == [
        TradeBounds(
            0,
            (5,),
            70,
            (
                TradePartner(2, (15,), 80, is_ally=True),
                TradePartner(3, (), 90, is_ally=False),
            ),
            50,
        )
    ]


def test_no_further_trade_is_listed_at_the_limit() -> None:
    """TRADE-1."""
    table = given(SPEED_1).owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))

    assert legal_commands(table.match, 0).trades() == []


def test_the_answers_to_an_offer_are_listed_with_what_they_cost() -> None:
    """TRADE-1."""
    table = given().owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(400, (12,))))

    assert legal_commands(table.match, 1).trade_answers() == [
        Choice(c.AcceptTrade(1, 1), 400),
        Choice(c.RejectTrade(1, 1)),
    ]
    assert legal_commands(table.match, 0).trade_answers() == [Choice(c.WithdrawTrade(0, 1))]
    assert legal_commands(table.match, 2).trade_answers() == []


def test_an_offer_is_only_withdrawn_during_an_auction() -> None:
    """AUC-5."""
    table = given().owned(0, 5).owned(1, 12).standing({0: 36}).dice((1, 2))
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))), c.Roll(0), c.Decline(0))

    assert legal_commands(table.match, 1).trade_answers() == []
    assert len(legal_commands(table.match, 0).trade_answers()) == 1


@pytest.mark.parametrize(
    ("give", "take", "allowed"),
    [
        (e.Side(0, (5,)), e.Side(1_000), True),
        (e.Side(0, (5,)), e.Side(999), False),
        (e.Side(0, (5,)), e.Side(0, (12,)), True),
        (e.Side(1, (5,)), e.Side(1, (12,)), False),
        (e.Side(0, (5, 5)), e.Side(0, (12,)), False),
        (e.Side(0, (5,)), e.Side(), False),
        (e.Side(0, (15,)), e.Side(0, (12,)), False),
        (e.Side(15_001), e.Side(0, (12,)), False),
        (e.Side(-1, (5,)), e.Side(0, (12,)), False),
    ],
)
def test_an_offer_is_allowed_within_its_bounds(give: e.Side, take: e.Side, allowed: bool) -> None:  # noqa: FBT001 - a parameter
    """TRADE-1, TRADE-2."""
    table = given().owned(0, 5).owned(1, 12)

    assert legal_commands(table.match, 0).allows(c.OfferTrade(0, 1, give, take)) is allowed


def test_an_ally_may_be_given_something_for_nothing_but_not_nothing_for_nothing() -> None:
    """TRADE-2."""
    legal = legal_commands(given(TEAMS_2).owned(0, 5).match, 0)

    assert legal.allows(c.OfferTrade(0, 2, e.Side(0, (5,)), e.Side()))
    assert not legal.allows(c.OfferTrade(0, 2, e.Side(), e.Side()))
    assert not legal.allows(c.OfferTrade(0, 0, e.Side(0, (5,)), e.Side(1)))
