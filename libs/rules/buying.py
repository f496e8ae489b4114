"""Buying from the bank (TURN-4, TURN-5)."""

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.auctions import open_auction
from libs.rules.refusals import Refusal
from libs.rules.ruling import (
    CARRY_ON,
    Ruling,
    refuse_unless_affordable,
    refuse_unless_deciding,
)


def offer(ruling: Ruling, seat: int, square: int) -> None:
    """Offer the unowned property that a seat landed on."""
    ruling.add(e.PropertyOffered(seat, square, ruling.match.board.price[square]))
    ruling.await_decision(phases.BUY)


def buy(ruling: Ruling, command: c.Buy) -> Refusal | None:
    """Buy at list price."""
    match, seat = ruling.match, command.seat
    refusal = refuse_unless_deciding(match, seat, phases.BUY)
    if refusal is not None:
        return refusal
    square = match.square[seat]
    price = match.board.price[square]
    refusal = refuse_unless_affordable(match, seat, price, "TURN-5")
    if refusal is not None:
        return refusal
    ruling.add(e.PropertyBought(seat, square, price))
    ruling.next = CARRY_ON
    return None


def decline(ruling: Ruling, command: c.Decline) -> Refusal | None:
    """Leave the property to an auction."""
    refusal = refuse_unless_deciding(ruling.match, command.seat, phases.BUY)
    if refusal is not None:
        return refusal
    turn_down(ruling, command.seat, forced=False)
    return None


def turn_down(ruling: Ruling, seat: int, *, forced: bool) -> None:
    """Open the auction of a declined property."""
    square = ruling.match.square[seat]
    ruling.add(e.PropertyDeclined(seat, square, forced))
    open_auction(ruling, seat, square)
