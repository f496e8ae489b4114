"""How tokens move, and what Start pays (BOARD-3)."""

from libs.rules import events as e
from libs.rules.board import SQUARES, START
from libs.rules.ruling import LAND, Ruling


def move_by(ruling: Ruling, seat: int, distance: int) -> None:
    """Move a token forward by a roll; passing or reaching Start pays."""
    origin = ruling.match.square[seat]
    _move_forward(ruling, seat, origin, (origin + distance) % SQUARES, "roll")


def move_by_card(ruling: Ruling, seat: int, target: int) -> None:
    """Move a token clockwise to *target*; passing or reaching Start pays (DECK-2)."""
    _move_forward(ruling, seat, ruling.match.square[seat], target, "card")


def move_back(ruling: Ruling, seat: int, distance: int) -> None:
    """Move a token backwards, which never pays."""
    origin = ruling.match.square[seat]
    ruling.add(e.TokenMoved(seat, origin, (origin - distance) % SQUARES, "card"))
    ruling.next = LAND


def place(ruling: Ruling, seat: int, target: int, how: str) -> None:
    """Put a token on *target* without passing a square; stopping on Start pays all the same."""
    ruling.add(e.TokenMoved(seat, ruling.match.square[seat], target, how))
    if target == START:
        _pay_start(ruling, seat, target)
    ruling.next = LAND


def _move_forward(ruling: Ruling, seat: int, origin: int, target: int, how: str) -> None:
    ruling.add(e.TokenMoved(seat, origin, target, how))
    if target < origin:
        _pay_start(ruling, seat, target)
    ruling.next = LAND


def _pay_start(ruling: Ruling, seat: int, target: int) -> None:
    rules = ruling.match.rules
    ruling.add(e.SalaryPaid(seat, rules.salary))
    if target == START and rules.landing_bonus:
        ruling.add(e.LandingBonusPaid(seat, rules.landing_bonus))
