"""Rolling the dice (TURN-1 to TURN-3, DIE3-1)."""

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import jail, phases, third_die
from libs.rules.moving import move_by
from libs.rules.refusals import Refusal
from libs.rules.ruling import Ruling, refuse_unless_deciding

DOUBLES_TO_JAIL = 3


def roll(ruling: Ruling, command: c.Roll) -> Refusal | None:
    """Roll two dice, or three, and move."""
    match, seat = ruling.match, command.seat
    if seat != match.turn or match.phase != phases.ROLL:
        return refuse_unless_deciding(match, seat, phases.ROLL)
    is_jailed = match.in_jail[seat]
    # JAIL-5: no third die in jail.
    has_third = 0 < match.rules.third_die_round <= match.round and not is_jailed
    counter = match.next_counter
    white_1, white_2, third, blocks = ruling.draws.roll(counter, has_third)
    ruling.add(e.DiceRolled(seat, white_1, white_2, third, counter, blocks))
    if is_jailed:
        jail.attempt(ruling, seat)
    elif white_1 == white_2 and _end_run_of_doubles(ruling, seat, white_1, third):
        return None
    elif third == e.BUS:
        third_die.offer_bus(ruling, seat)
    else:
        distance = white_1 + white_2
        move_by(ruling, seat, distance + third if third < e.BUS else distance)
    return None


def _end_run_of_doubles(ruling: Ruling, seat: int, white: int, third: int) -> bool:
    """Resolve equal white dice where they do not simply move: a triple, or the third doubles."""
    if white == third < e.BUS:
        third_die.offer_teleport(ruling, seat)
        return True
    if ruling.match.doubles >= DOUBLES_TO_JAIL:
        jail.enter(ruling, seat, "doubles")
        return True
    return False
