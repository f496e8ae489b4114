"""The jackpot on square 20 (JACK-1)."""

from typing import Final

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.refusals import Refusal
from libs.rules.ruling import (
    CARRY_ON,
    Ruling,
    refuse_unless_affordable,
    refuse_unless_deciding,
)

FACES: Final = 6
NUMBERS_MOST: Final = 3


def offer(ruling: Ruling, seat: int) -> None:
    """Offer the bet to a seat that can pay its stake."""
    match = ruling.match
    stake = match.rules.jackpot_stake
    if not match.rules.jackpot or match.cash[seat] < stake:
        ruling.next = CARRY_ON
        return
    ruling.add(e.JackpotOffered(seat, stake))
    ruling.await_decision(phases.JACKPOT)


def bet(ruling: Ruling, command: c.BetJackpot) -> Refusal | None:
    """Bet the stake on one, two or three different numbers; a hit pays 6, 3 or 2 times it."""
    match, seat = ruling.match, command.seat
    stake = match.rules.jackpot_stake
    refusal = refuse_unless_deciding(match, seat, phases.JACKPOT)
    if refusal is None:
        refusal = refuse_unless_affordable(match, seat, stake, "JACK-1")
    if refusal is not None:
        return refusal
    if not is_bet(command.numbers):
        return Refusal(Reason.INVALID_CHOICE, "JACK-1", {"numbers": command.numbers})
    numbers = tuple(sorted(command.numbers))
    ruling.add(e.JackpotBetPlaced(seat, numbers, stake))
    counter = match.next_counter
    die, blocks = ruling.draws.jackpot(counter)
    payout = stake * FACES // len(numbers) if die in numbers else 0
    ruling.add(e.JackpotRolled(seat, die, payout, counter, blocks))
    ruling.next = CARRY_ON
    return None


def decline(ruling: Ruling, command: c.DeclineJackpot) -> Refusal | None:
    """Keep the stake."""
    refusal = refuse_unless_deciding(ruling.match, command.seat, phases.JACKPOT)
    if refusal is not None:
        return refusal
    turn_down(ruling, command.seat)
    return None


def turn_down(ruling: Ruling, seat: int) -> None:
    """Go on without a bet."""
    ruling.add(e.JackpotDeclined(seat, ruling.match.rules.jackpot_stake))
    ruling.next = CARRY_ON


def is_bet(numbers: tuple[int, ...]) -> bool:
    """Whether these are one, two or three different numbers of a die."""
    return (
        1 <= len(numbers) <= NUMBERS_MOST
        and len(set(numbers)) == len(numbers)
        and all(1 <= number <= FACES for number in numbers)
    )
