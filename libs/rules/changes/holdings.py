"""How property changes hands: from the bank, by auction, by trade; building and mortgages."""

from collections.abc import Callable
from typing import Any, Final

from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.pending import Auction, Offer


def _property_bought(match: Match, event: e.PropertyBought) -> None:
    match.cash[event.seat] -= event.price
    _give(match, event.square, event.seat)


def _property_released(match: Match, event: e.PropertyReleased) -> None:
    square = event.square
    match.group_levels[match.board.group_of[square]] -= match.level[square]
    match.level[square] = 0
    if match.mortgaged_round[square]:
        match.mortgaged_round[square] = 0
        match.mortgage_count -= 1
    _give(match, square, e.NOBODY)


def _level_built(match: Match, event: e.LevelBuilt) -> None:
    match.cash[event.seat] -= event.amount
    match.level[event.square] = event.level
    match.group_levels[match.board.group_of[event.square]] += 1
    match.built[event.square] += 1
    match.built_any = True


def _level_sold(match: Match, event: e.LevelSold) -> None:
    match.cash[event.seat] += event.amount
    match.level[event.square] = event.level
    match.group_levels[match.board.group_of[event.square]] -= 1
    _managed(match, event.seat)


def _property_mortgaged(match: Match, event: e.PropertyMortgaged) -> None:
    match.cash[event.seat] += event.amount
    match.mortgaged_round[event.square] = match.round
    match.mortgage_count += 1
    _managed(match, event.seat)


def _property_redeemed(match: Match, event: e.PropertyRedeemed) -> None:
    match.cash[event.seat] -= event.amount
    match.mortgaged_round[event.square] = 0
    match.mortgage_count -= 1


def _auction_opened(match: Match, event: e.AuctionOpened) -> None:
    match.auction = Auction(event.square, event.order, match.out[:], event.order[0])


def _bid_placed(match: Match, event: e.BidPlaced) -> None:
    auction = match.auction
    assert auction is not None
    auction.leader = event.seat
    auction.bid = event.amount
    _ask_next(auction)
    _acted(match, event.seat)


def _bid_passed(match: Match, event: e.BidPassed) -> None:
    auction = match.auction
    assert auction is not None
    auction.passed[event.seat] = True
    if event.seat == auction.bidder:
        _ask_next(auction)
    if not event.forced:
        _acted(match, event.seat)


def _bid_voided(match: Match, event: e.BidVoided) -> None:
    auction = match.auction
    assert auction is not None
    auction.passed[event.seat] = True
    auction.leader = e.NOBODY
    auction.bid = 0


def _ask_next(auction: Auction) -> None:
    """Name the next seat to be asked: in order, neither passed nor leading (AUC-1, AUC-2)."""
    order = auction.order
    place = order.index(auction.bidder)
    for step in range(1, len(order) + 1):
        seat = order[(place + step) % len(order)]
        if not auction.passed[seat] and seat != auction.leader:
            auction.bidder = seat
            return
    auction.bidder = e.NOBODY


def _auction_closed(match: Match, event: e.AuctionClosed) -> None:
    match.auction = None
    if event.winner != e.NOBODY:
        match.cash[event.winner] -= event.amount
        _give(match, event.square, event.winner)


def _trade_offered(match: Match, event: e.TradeOffered) -> None:
    match.offer_count = event.offer
    match.offers.append(
        Offer(event.offer, event.proposer, event.receiver, event.give, event.take, event.expires)
    )
    _managed(match, event.proposer)


def _trade_accepted(match: Match, event: e.TradeAccepted) -> None:
    offer = _close(match, event.offer)
    change = offer.take.cash - offer.give.cash
    match.cash[offer.proposer] += change
    match.cash[offer.receiver] -= change
    for square in offer.give.squares:
        _give(match, square, offer.receiver)
    for square in offer.take.squares:
        _give(match, square, offer.proposer)
    _managed(match, offer.receiver)


def _trade_rejected(match: Match, event: e.TradeRejected) -> None:
    _managed(match, _close(match, event.offer).receiver)


def _trade_withdrawn(match: Match, event: e.TradeWithdrawn) -> None:
    _managed(match, _close(match, event.offer).proposer)


def _trade_closed(match: Match, event: e.TradeClosed) -> None:
    offer = _close(match, event.offer)
    if event.why == "no_longer_holds":
        # Only the receiver's acceptance finds that out, and that is a command of its own.
        _managed(match, offer.receiver)


def _close(match: Match, offer_id: int) -> Offer:
    offer = match.offer(offer_id)
    assert offer is not None
    match.offers.remove(offer)
    return offer


def _give(match: Match, square: int, seat: int) -> None:
    group, before, owned = match.board.group_of[square], match.owner[square], match.owned
    if before != e.NOBODY:
        match.held[before][group] -= 1
        owned[before] = tuple(other for other in owned[before] if other != square)
        whole = match.whole_groups[before]
        if group in whole:
            match.whole_groups[before] = tuple(other for other in whole if other != group)
    if seat != e.NOBODY:
        match.held[seat][group] += 1
        owned[seat] = tuple(sorted((*owned[seat], square)))
        if match.board.build_cost[square] and match.owns_group(seat, group):
            match.whole_groups[seat] = tuple(sorted((*match.whole_groups[seat], group)))
    match.owner[square] = seat


def _acted(match: Match, seat: int) -> None:
    if seat != match.turn:
        match.missed_turns[seat] = 0


def _managed(match: Match, seat: int) -> None:
    """Note an act of managing property or trading, which not every revision counts."""
    if seat == match.turn or not match.rules.any_action_forgives:
        return
    debt = match.debt_of(seat)
    if debt is None or not debt.timed_out:
        match.missed_turns[seat] = 0


CHANGES: Final[dict[type, Callable[[Match, Any], None]]] = {
    e.PropertyBought: _property_bought,
    e.PropertyReleased: _property_released,
    e.AuctionOpened: _auction_opened,
    e.BidPlaced: _bid_placed,
    e.BidPassed: _bid_passed,
    e.BidVoided: _bid_voided,
    e.AuctionClosed: _auction_closed,
    e.LevelBuilt: _level_built,
    e.LevelSold: _level_sold,
    e.PropertyMortgaged: _property_mortgaged,
    e.PropertyRedeemed: _property_redeemed,
    e.TradeOffered: _trade_offered,
    e.TradeAccepted: _trade_accepted,
    e.TradeRejected: _trade_rejected,
    e.TradeWithdrawn: _trade_withdrawn,
    e.TradeClosed: _trade_closed,
}
