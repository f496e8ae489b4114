"""Auctions (AUC-1 to AUC-5)."""

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.pending import Auction
from libs.rules.refusals import Refusal
from libs.rules.ruling import CARRY_ON, Ruling, refuse_unless_affordable


def open_auction(ruling: Ruling, decliner: int, square: int) -> None:
    """Auction *square*; the decliner is asked last (AUC-1)."""
    match = ruling.match
    order = (*match.others_from_left(decliner), decliner)
    ruling.add(e.AuctionOpened(square, order, match.board.price[square]))
    _ask(ruling)


def minimum_bid(match: Match, auction: Auction) -> int:
    """Return the only amount that may be bid now: the list price, then a step more each time."""
    if auction.leader == e.NOBODY:
        return match.board.price[auction.square]
    return auction.bid + match.rules.auction_step


def bid(ruling: Ruling, command: c.Bid) -> Refusal | None:
    """Bid the minimum."""
    match, seat = ruling.match, command.seat
    refusal = _refuse_unless_asked(match, seat)
    if refusal is not None:
        return refusal
    assert match.auction is not None
    minimum = minimum_bid(match, match.auction)
    refusal = refuse_unless_affordable(match, seat, minimum, "AUC-2")
    if refusal is not None:
        return refusal
    ruling.add(e.BidPlaced(seat, minimum))
    _ask(ruling)
    return None


def pass_bid(ruling: Ruling, command: c.Pass) -> Refusal | None:
    """Leave the auction for good."""
    refusal = _refuse_unless_asked(ruling.match, command.seat)
    if refusal is not None:
        return refusal
    ruling.add(e.BidPassed(command.seat, forced=False))
    _ask(ruling)
    return None


def time_out(ruling: Ruling, seat: int) -> None:
    """Pass for a bidder whose clock ran out."""
    ruling.add(e.BidPassed(seat, forced=True))
    _ask(ruling)


def lose_bidder(ruling: Ruling, seat: int) -> None:
    """Go on without a seat that went out (AUC-4)."""
    auction = ruling.match.auction
    assert auction is not None
    if seat == auction.leader:
        ruling.add(e.BidVoided(seat, auction.bid))
        ruling.await_bid(auction.bidder)
    elif not auction.passed[seat]:
        was_asked = seat == auction.bidder
        ruling.add(e.BidPassed(seat, forced=True))
        if was_asked:
            _ask(ruling)


def _ask(ruling: Ruling) -> None:
    """Ask the next bidder, passing those who are short of the minimum (AUC-2), or close."""
    match = ruling.match
    auction = match.auction
    assert auction is not None
    while auction.bidder != e.NOBODY:
        if match.cash[auction.bidder] >= minimum_bid(match, auction):
            ruling.await_bid(auction.bidder)
            return
        ruling.add(e.BidPassed(auction.bidder, forced=True))
    ruling.add(e.AuctionClosed(auction.square, auction.leader, auction.bid))
    ruling.next = CARRY_ON


def _refuse_unless_asked(match: Match, seat: int) -> Refusal | None:
    auction = match.auction
    if auction is None:
        return Refusal(Reason.WRONG_PHASE, "AUC-1", {"phase": match.phase})
    if auction.bidder != seat:
        return Refusal(Reason.NOT_YOUR_BID, "AUC-1", {"bidder": auction.bidder})
    return None
