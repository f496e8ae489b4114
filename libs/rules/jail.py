"""Jail: how one gets in and out (JAIL-1 to JAIL-5)."""

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.board import JAIL
from libs.rules.moving import move_by
from libs.rules.paying import open_debt
from libs.rules.refusals import Refusal
from libs.rules.ruling import (
    CARRY_ON,
    Ruling,
    refuse_unless_affordable,
    refuse_unless_deciding,
)


def enter(ruling: Ruling, seat: int, why: str) -> None:
    """Send a token to jail, passing no squares; the turn is over (JAIL-1, TURN-3)."""
    origin = ruling.match.square[seat]
    ruling.add(e.JailEntered(seat, why))
    ruling.add(e.TokenMoved(seat, origin, JAIL, "jail"))
    ruling.next = CARRY_ON


def attempt(ruling: Ruling, seat: int) -> None:
    """Resolve a roll made in jail (JAIL-2 to JAIL-4)."""
    match = ruling.match
    if match.white_1 == match.white_2:
        _leave_and_move(ruling, seat, "doubles")
        return
    attempts = match.jail_attempts[seat] + 1
    bail = match.rules.bail
    ruling.add(e.JailAttemptFailed(seat, attempts))
    if attempts >= match.rules.jail_attempts:
        owed = ((e.BANK, bail),)
        open_debt(ruling, seat, "bail", owed, ("JAIL-4", (("attempts", attempts),)))
    elif not match.rules.bail_before_roll and match.cash[seat] >= bail:
        ruling.add(e.BailOffered(seat, bail))
        ruling.await_decision(phases.BAIL)
    else:
        ruling.next = CARRY_ON


def pay_bail(ruling: Ruling, command: c.PayBail) -> Refusal | None:
    """Pay bail: before a normal roll (JAIL-2), or to move by the failed one (JAIL-3)."""
    match, seat = ruling.match, command.seat
    before_roll = match.rules.bail_before_roll
    refusal = refuse_unless_deciding(match, seat, phases.ROLL if before_roll else phases.BAIL)
    if refusal is None:
        refusal = refuse_unless_affordable(
            match, seat, match.rules.bail, "JAIL-2" if before_roll else "JAIL-3"
        )
    if refusal is not None:
        return refusal
    if not match.in_jail[seat]:
        return Refusal(Reason.NOT_IN_JAIL, "JAIL-2")
    ruling.add(e.BailPaid(seat, match.rules.bail))
    if before_roll:
        # The roll stays pending, on the clock that it has (CLOCK-1).
        ruling.add(e.JailLeft(seat, "bail"))
    else:
        _leave_and_move(ruling, seat, "bail")
    return None


def stay(ruling: Ruling, command: c.StayInJail) -> Refusal | None:
    """Turn the offered bail down; the turn ends (JAIL-3)."""
    refusal = refuse_unless_deciding(ruling.match, command.seat, phases.BAIL)
    if refusal is not None:
        return refusal
    ruling.next = CARRY_ON
    return None


def leave_by_forced_bail(ruling: Ruling, seat: int) -> None:
    """Move by the third failed roll, its bail being paid (JAIL-4)."""
    _leave_and_move(ruling, seat, "forced_bail")


def _leave_and_move(ruling: Ruling, seat: int, how: str) -> None:
    ruling.add(e.JailLeft(seat, how))
    move_by(ruling, seat, ruling.match.white_1 + ruling.match.white_2)
