"""What a square does to the token that has reached it (TURN-4)."""

from libs.rules import buying, jackpot, jail
from libs.rules import events as e
from libs.rules.drawing import draw_card
from libs.rules.paying import open_debt, open_rent
from libs.rules.ruling import CARRY_ON, Ruling


def land(ruling: Ruling) -> None:
    """Resolve the square that the turn's token stands on."""
    match = ruling.match
    seat = match.turn
    square = match.square[seat]
    if match.board.group_of[square] < 0:
        _land_elsewhere(ruling, seat, square)
        return
    owner = match.owner[square]
    if owner == e.NOBODY:
        buying.offer(ruling, seat, square)
    elif owner == seat or match.mortgaged_round[square] or not match.is_rival(seat, owner):
        # One's own, a mortgaged one (RENT-4) or an ally's (RENT-5) costs nothing.
        ruling.next = CARRY_ON
    else:
        open_rent(ruling, seat, square)


def _land_elsewhere(ruling: Ruling, seat: int, square: int) -> None:
    board = ruling.match.board
    kind = board.kind[square]
    if kind == "chance":
        draw_card(ruling, seat)
    elif kind == "tax":
        owed = ((e.BANK, board.price[square]),)
        open_debt(ruling, seat, "tax", owed, ("BOARD-2", (("square", square),)))
    elif kind == "go_to_jail":
        jail.enter(ruling, seat, "square")
    elif kind == "corner20":
        jackpot.offer(ruling, seat)
    else:
        ruling.next = CARRY_ON
