"""Trades (TRADE-1 to TRADE-3)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import (
    CLASSIC_1,
    CLASSIC_2,
    REVISION_1,
    REVISION_2,
    RULE_SETS,
    SPEED_1,
    SPEED_2,
    TEAMS_2,
)
from tests.support.spec import Table, given, kinds, only

FIVE = e.Side(0, (5,))
TWELVE = e.Side(0, (12,))


def trader(rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 owns station 5 (2,000) and seat 1 utility 12 (1,500)."""
    return given(rules).owned(0, 5).owned(1, 12)


def offer(give: e.Side, take: e.Side, to: int = 1) -> c.OfferTrade:
    return c.OfferTrade(0, to, give, take)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_cash_and_property_go_both_ways(rules: str) -> None:
    """TRADE-1."""
    table = trader(rules)
    table.when(offer(FIVE, e.Side(400, (12,))))

    events = table.when(c.AcceptTrade(1, 1))

    assert events == [e.TradeAccepted(1)]
    assert (table.match.owner[5], table.match.owner[12]) == (1, 0)
    assert table.match.cash[:2] == [15_400, 14_600]


def test_an_offer_is_an_event_with_its_own_deadline() -> None:
    """TRADE-1, CLOCK-1."""
    table = trader()

    events = table.when(offer(FIVE, TWELVE))

    due = table.now + 60_000
    assert events == [
        e.TradeOffered(1, 0, 1, FIVE, TWELVE, due),
        e.DeadlineSet(phases.OFFER, 1, 2, 1, due, 0),
    ]


def test_the_squares_of_an_offer_are_recorded_as_they_were_named() -> None:
    """TRADE-1."""
    table = trader().owned(0, 35, 15)

    offered = only(table.when(offer(e.Side(0, (35, 5, 15)), e.Side(6_000))), e.TradeOffered)

    assert offered.give == e.Side(0, (35, 5, 15))


def test_mortgaged_property_is_not_traded() -> None:
    """TRADE-1."""
    refused = trader().mortgaged(12).refused(offer(FIVE, TWELVE))

    assert (refused.reason, refused.facts) == (Reason.TRADE_NOT_TRADABLE, {"square": 12})


def test_property_of_a_group_with_a_level_is_not_traded() -> None:
    """TRADE-1."""
    table = trader().group(0, "brown").levels({1: 1})

    refused = table.refused(offer(e.Side(0, (3,)), e.Side(600)))

    assert (refused.reason, refused.facts) == (Reason.TRADE_NOT_TRADABLE, {"square": 3})


def test_what_one_does_not_own_is_not_offered() -> None:
    """TRADE-1."""
    refused = trader().refused(offer(e.Side(0, (15,)), TWELVE))

    assert (refused.reason, refused.rule) == (Reason.NOT_OWNER, "TRADE-1")


def test_what_the_other_does_not_own_is_not_asked_for() -> None:
    """TRADE-1."""
    assert trader().owned(2, 28).refused(offer(FIVE, e.Side(0, (28,)))).reason is Reason.NOT_OWNER


def test_what_is_no_property_is_not_traded() -> None:
    """TRADE-1."""
    assert trader().refused(offer(FIVE, e.Side(0, (20,)))).reason is Reason.NOT_A_PROPERTY


@pytest.mark.parametrize(("seat", "cash"), [(0, 1_499), (1, 1_999)])
def test_both_sides_must_have_the_cash(seat: int, cash: int) -> None:
    """TRADE-1."""
    table = trader().cash({seat: cash})
    command = offer(e.Side(1_500), TWELVE) if seat == 0 else offer(FIVE, e.Side(2_000))

    refused = table.refused(command)

    assert refused.reason is Reason.NOT_ENOUGH_CASH
    assert refused.facts == {"needed": cash + 1, "cash": cash}


def test_cash_on_both_sides_is_refused() -> None:
    """TRADE-1."""
    refused = trader().refused(offer(e.Side(100, (5,)), e.Side(100, (12,))))

    assert refused.reason is Reason.TRADE_CASH_BOTH_SIDES


@pytest.mark.parametrize(
    ("give", "take"),
    [(e.Side(0, (5, 5)), e.Side(0, (12,))), (e.Side(0, (5,)), e.Side(0, (12, 12)))],
)
def test_a_square_named_twice_is_refused(give: e.Side, take: e.Side) -> None:
    """TRADE-1."""
    refused = trader().refused(offer(give, take))

    assert (refused.reason, refused.rule) == (Reason.TRADE_DUPLICATE_SQUARE, "TRADE-1")


def test_nobody_trades_with_itself() -> None:
    """TRADE-1."""
    refused = trader().owned(0, 15).refused(offer(FIVE, e.Side(0, (15,)), to=0))

    assert refused.reason is Reason.TRADE_WITH_SELF


@pytest.mark.parametrize("to", [-1, 3])
def test_nobody_trades_with_a_seat_that_does_not_exist(to: int) -> None:
    """TRADE-1."""
    assert trader().refused(offer(FIVE, TWELVE, to=to)).reason is Reason.INVALID_REQUEST


@pytest.mark.parametrize(
    ("give", "take", "named"),
    [(e.Side(-1, (5,)), TWELVE, "give_cash"), (FIVE, e.Side(-1, (12,)), "take_cash")],
)
def test_negative_cash_is_no_offer(give: e.Side, take: e.Side, named: str) -> None:
    """TRADE-1."""
    refused = trader().refused(offer(give, take))

    assert (refused.reason, refused.facts) == (Reason.INVALID_REQUEST, {named: -1})


def test_nobody_trades_with_a_seat_that_is_out() -> None:
    """TRADE-1."""
    table = trader().gone(2)

    refused = table.refused(offer(FIVE, e.Side(2_000), to=2))

    assert (refused.reason, refused.facts) == (Reason.SEAT_IS_OUT, {"to": 2})


@pytest.mark.parametrize("rules", REVISION_1)
def test_revision_1_proposes_at_any_time_in_ones_own_turn(rules: str) -> None:
    """TRADE-1."""
    table = trader(rules).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    assert only(table.when(offer(FIVE, TWELVE)), e.TradeOffered).offer == 1


@pytest.mark.parametrize("rules", REVISION_2)
def test_revision_2_proposes_while_the_roll_is_pending(rules: str) -> None:
    """TRADE-1."""
    table = trader(rules).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))

    assert table.refused(offer(FIVE, TWELVE)).reason is Reason.NOT_MANAGING_TIME


@pytest.mark.parametrize("rules", RULE_SETS)
def test_nobody_proposes_in_anothers_turn(rules: str) -> None:
    """TRADE-1."""
    table = trader(rules).turn(1)

    assert table.refused(offer(FIVE, TWELVE)).reason is Reason.NOT_MANAGING_TIME


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_debtor_proposes_in_its_own_payment_pause(rules: str) -> None:
    """TRADE-1, DEBT-1."""
    table = trader(rules).standing({0: 36}).owned(1, 39).dice((1, 2))
    table.when(c.Roll(0))

    assert only(table.when(offer(FIVE, TWELVE)), e.TradeOffered).offer == 1


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_receiver_answers_in_anybodys_turn(rules: str) -> None:
    """TRADE-1."""
    table = trader(rules)
    table.when(offer(FIVE, TWELVE))
    table.turn(2)

    assert table.when(c.RejectTrade(1, 1)) == [e.TradeRejected(1)]
    assert table.match.offers == []


def test_nobody_but_the_receiver_answers() -> None:
    """TRADE-1."""
    table = trader()
    table.when(offer(FIVE, TWELVE))

    refusals = [table.refused(c.AcceptTrade(2, 1)), table.refused(c.RejectTrade(0, 1))]

    assert [refused.reason for refused in refusals] == [Reason.NOT_OFFER_RECEIVER] * 2
    assert refusals[0].facts == {"receiver": 1}


def test_the_proposer_withdraws_at_any_time() -> None:
    """TRADE-1."""
    table = trader()
    table.when(offer(FIVE, TWELVE))
    table.turn(2)

    assert table.when(c.WithdrawTrade(0, 1)) == [e.TradeWithdrawn(1)]


def test_nobody_but_the_proposer_withdraws() -> None:
    """TRADE-1."""
    table = trader()
    table.when(offer(FIVE, TWELVE))

    refused = table.refused(c.WithdrawTrade(1, 1))

    assert (refused.reason, refused.facts) == (Reason.NOT_OFFER_PROPOSER, {"proposer": 0})


@pytest.mark.parametrize(
    "command", [c.AcceptTrade(1, 1), c.RejectTrade(1, 1), c.WithdrawTrade(0, 1)]
)
def test_an_offer_that_is_not_open_is_not_found(command: c.SeatCommand) -> None:
    """TRADE-1."""
    table = trader()
    table.when(offer(FIVE, TWELVE), c.WithdrawTrade(0, 1))

    refused = table.refused(command)

    assert (refused.reason, refused.facts) == (Reason.OFFER_NOT_FOUND, {"offer": 1})


@pytest.mark.parametrize("rules", RULE_SETS)
def test_an_offer_outlives_the_turn_and_lapses_after_60_seconds(rules: str) -> None:
    """TRADE-1."""
    table = trader(rules).dice((4, 6), (4, 6))
    table.when(offer(FIVE, TWELVE))
    table.wait(30)
    table.when(c.Roll(0))
    table.wait(29.999)
    assert len(table.match.offers) == 1

    events = table.wait(0.001)

    assert e.TradeClosed(1, "expired") in events
    assert table.match.offers == []


def test_no_auction_stops_an_offers_lifetime() -> None:
    """TRADE-1."""
    table = trader().standing({0: 36}).dice((1, 2))
    table.when(offer(FIVE, TWELVE))
    table.wait(55)
    table.when(c.Roll(0), c.Decline(0))

    assert table.wait(5) == [e.TradeClosed(1, "expired")]
    assert table.match.phase == phases.AUCTION


@pytest.mark.parametrize(
    ("rules", "most"), [(CLASSIC_1, 1), (SPEED_1, 1), (CLASSIC_2, 3), (TEAMS_2, 3)]
)
def test_a_proposer_has_so_many_offers_open(rules: str, most: int) -> None:
    """TRADE-1."""
    table = trader(rules)
    table.when(*[offer(FIVE, TWELVE)] * most)

    refused = table.refused(offer(FIVE, TWELVE))

    assert (refused.reason, refused.facts) == (Reason.TRADE_LIMIT, {"open_offers": most})


def test_a_closed_offer_makes_room_for_another() -> None:
    """TRADE-1."""
    table = trader(SPEED_1)
    table.when(offer(FIVE, TWELVE), c.RejectTrade(1, 1))

    assert only(table.when(offer(FIVE, TWELVE)), e.TradeOffered).offer == 2


def test_offers_received_do_not_count_for_the_limit() -> None:
    """TRADE-1."""
    table = trader(SPEED_1)
    table.when(offer(FIVE, TWELVE))
    table.turn(1)

    assert only(table.when(c.OfferTrade(1, 0, TWELVE, FIVE)), e.TradeOffered).offer == 2


@pytest.mark.parametrize("rules", RULE_SETS)
def test_exactly_half_is_fair(rules: str) -> None:
    """TRADE-2."""
    table = trader(rules)

    offered = only(table.when(offer(FIVE, e.Side(1_000))), e.TradeOffered)

    assert offered.take == e.Side(1_000)


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(
    ("give", "take", "values"),
    [(FIVE, e.Side(999), (2_000, 999)), (e.Side(749), TWELVE, (749, 1_500))],
)
def test_a_unit_less_than_half_is_unfair(
    rules: str, give: e.Side, take: e.Side, values: tuple[int, int]
) -> None:
    """TRADE-2."""
    refused = trader(rules).refused(offer(give, take))

    assert (refused.reason, refused.rule) == (Reason.TRADE_UNFAIR, "TRADE-2")
    assert refused.facts == {"give": values[0], "take": values[1]}


def test_property_counts_at_list_price_and_cash_at_face() -> None:
    """TRADE-2."""
    table = trader().owned(0, 1)

    assert table.when(offer(e.Side(150, (1,)), TWELVE))
    assert table.refused(offer(e.Side(149, (1,)), TWELVE)).reason is Reason.TRADE_UNFAIR


@pytest.mark.parametrize(
    ("give", "take"), [(FIVE, e.Side()), (e.Side(), TWELVE), (e.Side(), e.Side())]
)
def test_a_gift_is_refused(give: e.Side, take: e.Side) -> None:
    """TRADE-2."""
    assert trader().refused(offer(give, take)).reason is Reason.TRADE_EMPTY


def test_allies_may_give_one_way() -> None:
    """TRADE-2."""
    table = given(TEAMS_2).owned(0, 5).owned(2, 12)
    table.when(offer(FIVE, e.Side(), to=2))

    table.when(c.AcceptTrade(2, 1))

    assert table.match.owner[5] == 2


def test_allies_may_trade_unfairly() -> None:
    """TRADE-2."""
    table = given(TEAMS_2).owned(0, 39)

    table.when(offer(e.Side(0, (39,)), e.Side(1), to=2))

    assert len(table.match.offers) == 1


def test_nothing_for_nothing_is_refused_between_allies_too() -> None:
    """TRADE-2."""
    refused = given(TEAMS_2).refused(offer(e.Side(), e.Side(), to=2))

    assert refused.reason is Reason.TRADE_EMPTY


def test_rivals_in_teams_trade_fairly() -> None:
    """TRADE-2."""
    table = given(TEAMS_2).owned(0, 39)

    assert table.refused(offer(e.Side(0, (39,)), e.Side(1))).reason is Reason.TRADE_UNFAIR


def stale(table: Table) -> list[e.Event]:
    """Let seat 1 accept offer 1."""
    return table.when(c.AcceptTrade(1, 1))


def test_accepting_what_was_mortgaged_meanwhile_closes_the_offer() -> None:
    """TRADE-3."""
    table = trader()
    table.when(offer(FIVE, TWELVE), c.Mortgage(0, 5))

    assert stale(table) == [e.TradeClosed(1, "no_longer_holds")]
    assert (table.match.owner[5], table.match.owner[12]) == (0, 1)
    assert table.match.offers == []


def test_accepting_what_was_traded_away_meanwhile_closes_the_offer() -> None:
    """TRADE-3."""
    table = trader()
    table.when(offer(FIVE, TWELVE), offer(FIVE, e.Side(2_000), to=2), c.AcceptTrade(2, 2))

    assert stale(table) == [e.TradeClosed(1, "no_longer_holds")]


def test_accepting_what_was_built_on_meanwhile_closes_the_offer() -> None:
    """TRADE-3."""
    table = trader().group(0, "brown")
    table.when(offer(e.Side(0, (1,)), e.Side(600)), c.Build(0, 3))

    assert stale(table) == [e.TradeClosed(1, "no_longer_holds")]


@pytest.mark.parametrize(("seat", "cash"), [(0, 1_499), (1, 1_999)])
def test_accepting_what_cannot_be_paid_any_more_closes_the_offer(seat: int, cash: int) -> None:
    """TRADE-3."""
    table = trader()
    table.when(offer(e.Side(1_500), TWELVE) if seat == 0 else offer(FIVE, e.Side(2_000)))
    table.cash({seat: cash})

    assert stale(table) == [e.TradeClosed(1, "no_longer_holds")]
    assert table.match.cash[seat] == cash


@pytest.mark.parametrize(("seat", "cash"), [(0, 1_500), (1, 2_000)])
def test_the_last_unit_of_cash_may_be_traded(seat: int, cash: int) -> None:
    """TRADE-3."""
    table = trader()
    table.when(offer(e.Side(1_500), TWELVE) if seat == 0 else offer(FIVE, e.Side(2_000)))
    table.cash({seat: cash})

    assert stale(table) == [e.TradeAccepted(1)]
    assert table.match.cash[seat] == 0


def test_an_offer_holds_again_when_its_squares_are_redeemed() -> None:
    """TRADE-3."""
    table = trader()
    table.when(offer(FIVE, TWELVE), c.Mortgage(0, 5), c.Redeem(0, 5))

    assert stale(table) == [e.TradeAccepted(1)]


def test_a_trade_may_complete_a_group() -> None:
    """TRADE-1, BUILD-1."""
    table = given(SPEED_2).owned(0, 1, 5).owned(1, 3)
    table.when(offer(e.Side(600), e.Side(0, (3,))), c.AcceptTrade(1, 1))

    assert kinds(table.when(c.Build(0, 3))) == [e.LevelBuilt]
