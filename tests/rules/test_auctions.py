"""Auctions (AUC-1 to AUC-5)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, TEAMS_2
from tests.support.spec import Table, every, given, kinds, only


def auction(seats: int = 4, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 landed on square 39, of 4,000, and is to decide."""
    table = given(rules, seats).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))
    return table


def bidder(table: Table) -> int:
    assert table.match.auction is not None
    return table.match.auction.bidder


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_decliner_bids_last(rules: str) -> None:
    """AUC-1."""
    events = auction(rules=rules).when(c.Decline(0))

    assert only(events, e.AuctionOpened) == e.AuctionOpened(39, (1, 2, 3, 0), 4_000)
    assert only(events, e.DeadlineSet).seat == 1


def test_seats_that_are_out_are_not_in_the_order() -> None:
    """AUC-1."""
    table = auction(seats=5).gone(1, 3)

    assert only(table.when(c.Decline(0)), e.AuctionOpened).order == (2, 4, 0)


def test_the_opening_bid_is_the_list_price_and_each_later_one_a_step_more() -> None:
    """AUC-1."""
    table = auction()
    table.when(c.Decline(0))

    bids = [only(table.when(c.Bid(seat)), e.BidPlaced).amount for seat in (1, 2, 3, 0, 1)]

    assert bids == [4_000, 4_100, 4_200, 4_300, 4_400]


def test_a_seat_that_is_not_asked_may_not_bid() -> None:
    """AUC-1."""
    table = auction()
    table.when(c.Decline(0))

    refused = table.refused(c.Bid(2))

    assert (refused.reason, refused.facts) == (Reason.NOT_YOUR_BID, {"bidder": 1})


def test_passing_is_final() -> None:
    """AUC-2."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Pass(1), c.Bid(2), c.Bid(0))

    assert bidder(table) == 2, "seat 1 is not asked again"
    assert table.refused(c.Bid(1)).reason is Reason.NOT_YOUR_BID


def test_the_leader_is_skipped_until_it_is_outbid() -> None:
    """AUC-2."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Bid(1), c.Pass(2), c.Bid(0))

    assert bidder(table) == 1


def test_a_seat_short_of_the_minimum_is_passed_when_its_turn_comes() -> None:
    """AUC-2."""
    table = auction().cash({1: 3_999, 2: 4_000})

    events = table.when(c.Decline(0))

    assert kinds(events) == [e.PropertyDeclined, e.AuctionOpened, e.BidPassed, e.DeadlineSet]
    assert only(events, e.BidPassed) == e.BidPassed(1, forced=True)
    assert bidder(table) == 2


def test_cash_equal_to_the_minimum_is_enough() -> None:
    """AUC-2."""
    table = auction().cash({1: 4_000})
    table.when(c.Decline(0))

    assert only(table.when(c.Bid(1)), e.BidPlaced) == e.BidPlaced(1, 4_000)


def test_a_seat_passed_for_want_of_cash_does_not_come_back() -> None:
    """AUC-2: not even when the minimum falls again."""
    table = auction(seats=4).cash({2: 4_050})
    table.when(c.Decline(0), c.Bid(1))
    assert bidder(table) == 3
    table.when(c.Surrender(1), c.Pass(3))

    assert bidder(table) == 0
    assert table.match.auction is not None
    assert table.match.auction.passed == [False, True, True, True]


def test_a_bid_has_ten_seconds() -> None:
    """AUC-2."""
    table = auction()

    set_for = only(table.when(c.Decline(0)), e.DeadlineSet)

    assert set_for.due == table.now + 10_000


def test_a_timed_out_bid_is_a_pass() -> None:
    """AUC-2, CLOCK-2."""
    table = auction()
    table.when(c.Decline(0))

    events = table.time_out()

    assert kinds(events) == [e.DecisionTimedOut, e.BidPassed, e.DeadlineSet]
    assert only(events, e.BidPassed) == e.BidPassed(1, forced=True)


def test_a_jailed_seat_may_bid() -> None:
    """AUC-2, JAIL-1."""
    table = auction().jailed(1)
    table.when(c.Decline(0))

    assert only(table.when(c.Bid(1)), e.BidPlaced).seat == 1


def test_allies_may_bid_against_each_other() -> None:
    """AUC-2."""
    table = auction(rules=TEAMS_2)
    table.when(c.Decline(0), c.Bid(1), c.Pass(2))

    assert only(table.when(c.Bid(3)), e.BidPlaced) == e.BidPlaced(3, 4_100)


def test_the_leader_pays_and_owns_when_all_others_have_passed() -> None:
    """AUC-3."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Bid(1), c.Bid(2), c.Pass(0))

    events = table.when(c.Pass(1))

    assert only(events, e.AuctionClosed) == e.AuctionClosed(39, 2, 4_100)
    assert table.match.cash[2] == 15_000 - 4_100
    assert (table.match.owner[39], table.match.level[39]) == (2, 0)
    assert table.match.mortgaged_round[39] == 0


def test_the_last_seat_is_still_asked_while_nobody_has_bid() -> None:
    """AUC-3."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Pass(1), c.Pass(2))
    assert bidder(table) == 0

    events = table.when(c.Bid(0))

    assert only(events, e.AuctionClosed) == e.AuctionClosed(39, 0, 4_000)


def test_a_property_nobody_bids_for_stays_unowned() -> None:
    """AUC-3."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Pass(1), c.Pass(2))

    events = table.when(c.Pass(0))

    assert only(events, e.AuctionClosed) == e.AuctionClosed(39, e.NOBODY, 0)
    assert table.match.owner[39] == e.NOBODY
    assert kinds(events)[-3:] == [e.TurnEnded, e.TurnStarted, e.DeadlineSet]


def test_the_next_to_land_may_buy_what_nobody_bid_for() -> None:
    """AUC-3."""
    table = auction(seats=2).standing({1: 36}).dice((1, 2))
    table.when(c.Decline(0), c.Pass(1), c.Pass(0))

    assert only(table.when(c.Roll(1)), e.PropertyOffered).square == 39


def test_an_auction_that_nobody_can_afford_closes_at_once() -> None:
    """AUC-2, AUC-3."""
    table = auction(seats=2).cash({0: 100, 1: 3_999})

    events = table.when(c.Decline(0))

    assert [passed.seat for passed in every(events, e.BidPassed)] == [1, 0]
    assert only(events, e.AuctionClosed).winner == e.NOBODY


def test_a_bidder_who_surrenders_passes() -> None:
    """AUC-4."""
    table = auction()
    table.when(c.Decline(0))

    events = table.when(c.Surrender(1))

    assert kinds(events) == [e.SeatSurrendered, e.BidPassed, e.DeadlineSet]
    assert only(events, e.BidPassed) == e.BidPassed(1, forced=True)
    assert bidder(table) == 2


def test_one_who_surrenders_out_of_turn_leaves_who_is_asked_as_it_is() -> None:
    """AUC-4."""
    table = auction()
    table.when(c.Decline(0))

    events = table.when(c.Surrender(3))

    assert kinds(events) == [e.SeatSurrendered, e.BidPassed]
    assert bidder(table) == 1


def test_one_who_has_passed_surrenders_without_a_trace_in_the_auction() -> None:
    """AUC-4."""
    table = auction()
    table.when(c.Decline(0), c.Pass(1))

    assert kinds(table.when(c.Surrender(1))) == [e.SeatSurrendered]


def test_the_bid_of_a_leader_who_surrenders_is_void() -> None:
    """AUC-4."""
    table = auction()
    table.when(c.Decline(0), c.Bid(1), c.Bid(2))
    table.now += 4_000

    events = table.when(c.Surrender(2))

    assert kinds(events) == [e.SeatSurrendered, e.BidVoided, e.DeadlineSet]
    assert only(events, e.BidVoided) == e.BidVoided(2, 4_100)
    assert only(events, e.DeadlineSet).seat == 3, "who was asked stays asked"
    assert only(events, e.DeadlineSet).due == table.now + 10_000


def test_after_a_void_bid_the_bidding_starts_from_the_list_price() -> None:
    """AUC-4."""
    table = auction()
    table.when(c.Decline(0), c.Bid(1), c.Bid(2), c.Surrender(2))

    assert only(table.when(c.Bid(3)), e.BidPlaced) == e.BidPlaced(3, 4_000)


def test_after_a_void_bid_who_had_passed_stays_passed() -> None:
    """AUC-4."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Pass(1), c.Bid(2), c.Surrender(2))
    assert bidder(table) == 0

    events = table.when(c.Pass(0))

    assert only(events, e.AuctionClosed) == e.AuctionClosed(39, e.NOBODY, 0)


def test_the_last_bidder_of_a_void_auction_may_still_buy() -> None:
    """AUC-4, AUC-3."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Pass(1), c.Bid(2), c.Surrender(2))

    events = table.when(c.Bid(0))

    assert only(events, e.AuctionClosed) == e.AuctionClosed(39, 0, 4_000)


def test_the_turns_seat_may_surrender_while_others_bid() -> None:
    """AUC-4: the auction goes on, then the turn ends."""
    table = auction(seats=3)
    table.when(c.Decline(0), c.Bid(1), c.Surrender(0))
    assert table.match.phase == phases.AUCTION

    events = table.when(c.Pass(2))

    assert kinds(events)[:3] == [e.BidPassed, e.AuctionClosed, e.TurnEnded]
    assert table.match.owner[39] == 1


def test_an_auction_whose_bidders_go_out_ends_with_the_match() -> None:
    """AUC-4, END-1."""
    table = auction(seats=2)
    table.when(c.Decline(0))

    events = table.when(c.Surrender(1))

    assert kinds(events) == [e.SeatSurrendered, e.MatchEnded, e.SeedRevealed]
    assert table.match.auction is None


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2])
@pytest.mark.parametrize(
    "command",
    [
        c.Build(0, 1),
        c.SellLevel(0, 1),
        c.Mortgage(0, 5),
        c.Redeem(0, 5),
        c.OfferTrade(0, 1, e.Side(100), e.Side(0, (12,))),
    ],
    ids=lambda command: type(command).__name__,
)
def test_nothing_is_managed_or_proposed_during_an_auction(
    command: c.SeatCommand, rules: str
) -> None:
    """AUC-5."""
    table = auction(rules=rules)
    table.when(c.Decline(0))

    assert table.refused(command).reason is Reason.AUCTION_RUNNING


@pytest.mark.parametrize("answer", [c.AcceptTrade, c.RejectTrade])
def test_no_offer_is_answered_during_an_auction(
    answer: type[c.AcceptTrade] | type[c.RejectTrade],
) -> None:
    """AUC-5, TRADE-1."""
    table = given().standing({0: 36}).owned(1, 12).dice((1, 2))
    table.when(c.OfferTrade(0, 1, e.Side(1_500), e.Side(0, (12,))), c.Roll(0), c.Decline(0))

    assert table.refused(answer(1, 1)).reason is Reason.AUCTION_RUNNING


def test_an_offer_may_be_withdrawn_during_an_auction() -> None:
    """TRADE-1."""
    table = given().standing({0: 36}).owned(1, 12).dice((1, 2))
    table.when(c.OfferTrade(0, 1, e.Side(1_500), e.Side(0, (12,))), c.Roll(0), c.Decline(0))

    assert table.when(c.WithdrawTrade(0, 1)) == [e.TradeWithdrawn(1)]
