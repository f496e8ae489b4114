"""The third die: bus, triple and X (DIE3-1 to DIE3-5)."""

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.board import SQUARES
from libs.rules.match import Match
from libs.rules.moving import move_by, place
from libs.rules.refusals import Refusal
from libs.rules.ruling import Ruling, refuse_unless_deciding


def bus_totals(match: Match) -> tuple[int, ...]:
    """Return how far the bus may go, ascending: either white die, or their sum (DIE3-2)."""
    white_1, white_2 = match.white_1, match.white_2
    return tuple(sorted({white_1, white_2, white_1 + white_2}))


def offer_bus(ruling: Ruling, seat: int) -> None:
    """Let a seat choose how far to go."""
    ruling.add(e.BusOffered(seat, bus_totals(ruling.match)))
    ruling.await_decision(phases.BUS)


def choose_bus_move(ruling: Ruling, command: c.ChooseBusMove) -> Refusal | None:
    """Go by one of the offered totals."""
    match = ruling.match
    refusal = refuse_unless_deciding(match, command.seat, phases.BUS)
    if refusal is not None:
        return refusal
    totals = bus_totals(match)
    if command.total not in totals:
        return Refusal(Reason.INVALID_CHOICE, "DIE3-2", {"totals": totals})
    go_by_bus(ruling, command.seat, command.total)
    return None


def go_by_bus(ruling: Ruling, seat: int, total: int) -> None:
    """Move by the total that was chosen, or that the clock chose."""
    ruling.add(e.BusMoveChosen(seat, total))
    move_by(ruling, seat, total)


def offer_teleport(ruling: Ruling, seat: int) -> None:
    """Let a triple lead anywhere (DIE3-4)."""
    ruling.add(e.TeleportOffered(seat))
    ruling.await_decision(phases.TELEPORT)


def choose_teleport(ruling: Ruling, command: c.ChooseTeleport) -> Refusal | None:
    """Go to any square; the one that the token stands on is landed on anew."""
    seat, square = command.seat, command.square
    refusal = refuse_unless_deciding(ruling.match, seat, phases.TELEPORT)
    if refusal is not None:
        return refusal
    if not 0 <= square < SQUARES:
        return Refusal(Reason.INVALID_CHOICE, "DIE3-4", {"square": square})
    ruling.add(e.TeleportChosen(seat, square))
    place(ruling, seat, square, "teleport")
    return None


def jump(ruling: Ruling, seat: int) -> bool:
    """Make the jump of an X at the turn's end (DIE3-3); False where there is nowhere to go."""
    match = ruling.match
    target = jump_target(match, seat)
    if target is None:
        return False
    ruling.add(e.JumpMade(seat, match.square[seat], target))
    place(ruling, seat, target, "jump")
    return True


def jump_target(match: Match, seat: int) -> int | None:
    """Return where an X leads *seat*: ahead of its square, and never that square itself.

    The nearest unowned property; without one the nearest unmortgaged property of a rival. The
    other reading takes whichever of the two comes first.
    """
    owner, board = match.owner, match.board
    ahead = board.properties_ahead[match.square[seat]]
    takes_first = match.rules.jump_to_nearest_of_either
    if not takes_first and sum(map(len, match.owned)) < len(board.properties):
        for square in ahead:
            if owner[square] == e.NOBODY:
                return square
    for square in ahead:
        if owner[square] == e.NOBODY:
            if takes_first:
                return square
        elif not match.mortgaged_round[square] and match.is_rival(seat, owner[square]):
            return square
    return None
