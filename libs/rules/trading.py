"""Trades between two seats (TRADE-1 to TRADE-3)."""

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.building import WHOLE_PERCENT, refuse_unless_managing, refuse_unless_owner
from libs.rules.events import Side
from libs.rules.match import Match
from libs.rules.pending import Offer
from libs.rules.refusals import Refusal
from libs.rules.ruling import Ruling, refuse_unless_affordable


def offer_trade(ruling: Ruling, command: c.OfferTrade) -> Refusal | None:
    """Offer another seat a trade, open for its lifetime whatever happens meanwhile."""
    match, seat = ruling.match, command.seat
    refusal = refuse_malformed(match, command) or _refuse_receiver(match, command.to)
    if refusal is None:
        refusal = refuse_unless_managing(match, seat, raises_cash=True)
    if refusal is None:
        refusal = _refuse_ownership(match, command) or _refuse_terms(match, command)
    if refusal is not None:
        return refusal
    give, take = command.give, command.take
    offer, due = match.offer_count + 1, ruling.now + match.rules.offer_ms
    ruling.add(e.TradeOffered(offer, seat, command.to, give, take, due))
    ruling.await_answer(offer, command.to, due)
    return None


def accept_trade(ruling: Ruling, command: c.AcceptTrade) -> Refusal | None:
    """Make the trade; one that no longer holds is closed and moves nothing (TRADE-3)."""
    match = ruling.match
    offer = match.offer(command.offer)
    refusal = _refuse_answer(match, offer, command.seat, command.offer)
    if refusal is not None:
        return refusal
    assert offer is not None
    if holds(match, offer):
        ruling.add(e.TradeAccepted(offer.offer))
    else:
        ruling.add(e.TradeClosed(offer.offer, "no_longer_holds"))
    return None


def reject_trade(ruling: Ruling, command: c.RejectTrade) -> Refusal | None:
    """Turn an offer down."""
    match = ruling.match
    refusal = _refuse_answer(match, match.offer(command.offer), command.seat, command.offer)
    if refusal is not None:
        return refusal
    ruling.add(e.TradeRejected(command.offer))
    return None


def withdraw_trade(ruling: Ruling, command: c.WithdrawTrade) -> Refusal | None:
    """Take one's own offer back, at any time."""
    offer = ruling.match.offer(command.offer)
    if offer is None:
        return _offer_not_found(command.offer)
    if offer.proposer != command.seat:
        return Refusal(Reason.NOT_OFFER_PROPOSER, "TRADE-1", {"proposer": offer.proposer})
    ruling.add(e.TradeWithdrawn(offer.offer))
    return None


def holds(match: Match, offer: Offer) -> bool:
    """Whether an offer could be carried out as things stand (TRADE-3)."""
    return all(
        match.cash[seat] >= side.cash
        and all(
            match.owner[square] == seat and is_tradable(match, square) for square in side.squares
        )
        for seat, side in ((offer.proposer, offer.give), (offer.receiver, offer.take))
    )


def is_tradable(match: Match, square: int) -> bool:
    """Whether a property is unmortgaged and its group without any level (TRADE-1)."""
    group = match.board.group_of[square]
    return not match.mortgaged_round[square] and not match.group_levels[group]


def value_of(match: Match, side: Side) -> int:
    """Return a side's worth for the fairness rule: cash, and list prices (TRADE-2)."""
    return side.cash + sum(match.board.price[square] for square in side.squares)


def is_fair(match: Match, give: Side, take: Side) -> bool:
    """Whether the smaller side is worth at least half of the larger (TRADE-2)."""
    low, high = sorted((value_of(match, give), value_of(match, take)))
    return low * WHOLE_PERCENT >= high * match.rules.fair_share_percent


def refuse_malformed(match: Match, command: c.OfferTrade) -> Refusal | None:
    """Refuse an offer that no match of this size could have; looked for before all else."""
    if not match.has_seat(command.to):
        return Refusal(Reason.INVALID_REQUEST, "TRADE-1", {"to": command.to})
    for name, side in (("give_cash", command.give), ("take_cash", command.take)):
        if side.cash < 0:
            return Refusal(Reason.INVALID_REQUEST, "TRADE-1", {name: side.cash})
    return None


def _refuse_receiver(match: Match, to: int) -> Refusal | None:
    if match.out[to]:
        return Refusal(Reason.SEAT_IS_OUT, "TRADE-1", {"to": to})
    return None


def _refuse_ownership(match: Match, command: c.OfferTrade) -> Refusal | None:
    sides = ((command.seat, command.give), (command.to, command.take))
    named = [(seat, square) for seat, side in sides for square in side.squares]
    for _, square in named:
        if not match.board.is_property(square):
            return Refusal(Reason.NOT_A_PROPERTY, "BOARD-2", {"square": square})
    for seat, square in named:
        refusal = refuse_unless_owner(match, seat, square, "TRADE-1")
        if refusal is not None:
            return refusal
    for seat, side in sides:
        refusal = refuse_unless_affordable(match, seat, side.cash, "TRADE-1")
        if refusal is not None:
            return refusal
    return None


def _refuse_terms(match: Match, command: c.OfferTrade) -> Refusal | None:
    seat, give, take = command.seat, command.give, command.take
    if command.to == seat:
        return Refusal(Reason.TRADE_WITH_SELF, "TRADE-1")
    give_value, take_value = value_of(match, give), value_of(match, take)
    are_rivals = match.is_rival(seat, command.to)
    if not (give_value or take_value) or (are_rivals and not (give_value and take_value)):
        return Refusal(Reason.TRADE_EMPTY, "TRADE-2", {"give": give_value, "take": take_value})
    if give.cash and take.cash:
        return Refusal(
            Reason.TRADE_CASH_BOTH_SIDES, "TRADE-1", {"give": give.cash, "take": take.cash}
        )
    squares = (*give.squares, *take.squares)
    if len(set(squares)) != len(squares):
        return Refusal(Reason.TRADE_DUPLICATE_SQUARE, "TRADE-1", {"squares": squares})
    if are_rivals and not is_fair(match, give, take):
        return Refusal(Reason.TRADE_UNFAIR, "TRADE-2", {"give": give_value, "take": take_value})
    return _refuse_untradable(match, squares) or _refuse_further_offer(match, seat)


def _refuse_untradable(match: Match, squares: tuple[int, ...]) -> Refusal | None:
    for square in squares:
        if not is_tradable(match, square):
            return Refusal(Reason.TRADE_NOT_TRADABLE, "TRADE-1", {"square": square})
    return None


def _refuse_further_offer(match: Match, seat: int) -> Refusal | None:
    open_offers = sum(offer.proposer == seat for offer in match.offers)
    if open_offers >= match.rules.open_offers:
        return Refusal(Reason.TRADE_LIMIT, "TRADE-1", {"open_offers": open_offers})
    return None


def _refuse_answer(match: Match, offer: Offer | None, seat: int, offer_id: int) -> Refusal | None:
    if offer is None:
        return _offer_not_found(offer_id)
    if match.phase == phases.AUCTION:
        return Refusal(Reason.AUCTION_RUNNING, "AUC-5")
    if offer.receiver != seat:
        return Refusal(Reason.NOT_OFFER_RECEIVER, "TRADE-1", {"receiver": offer.receiver})
    return None


def _offer_not_found(offer: int) -> Refusal:
    return Refusal(Reason.OFFER_NOT_FOUND, "TRADE-1", {"offer": offer})
