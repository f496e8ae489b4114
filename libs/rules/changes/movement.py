"""How dice, cards, tokens and jail change a match."""

from collections.abc import Callable
from typing import Any, Final

from libs.rules import events as e
from libs.rules.cards import DECK_SIZE
from libs.rules.match import Match


def _dice_rolled(match: Match, event: e.DiceRolled) -> None:
    white_1, third = event.white_1, event.third
    match.white_1 = white_1
    match.white_2 = event.white_2
    match.third = third
    match.next_counter = event.counter + event.blocks
    if third == e.X:
        match.jump_pending = True
    if white_1 != event.white_2 or match.in_jail[event.seat]:
        # JAIL-5: doubles in jail neither count nor give a further roll.
        match.rolls_again = False
    else:
        match.rolls_again = True
        # DIE3-4: a triple is no doubles and breaks a run of them.
        match.doubles = 0 if white_1 == third < e.BUS else match.doubles + 1


def _token_moved(match: Match, event: e.TokenMoved) -> None:
    match.square[event.seat] = event.target


def _jail_entered(match: Match, event: e.JailEntered) -> None:
    match.in_jail[event.seat] = True
    match.jail_attempts[event.seat] = 0
    # TURN-3, DIE3-3: no further roll, and no jump.
    match.rolls_again = False
    match.jump_pending = False


def _jail_attempt_failed(match: Match, event: e.JailAttemptFailed) -> None:
    match.jail_attempts[event.seat] = event.attempt


def _jail_left(match: Match, event: e.JailLeft) -> None:
    match.in_jail[event.seat] = False
    match.jail_attempts[event.seat] = 0


def _jump_made(match: Match, _: e.JumpMade) -> None:
    match.jump_pending = False


def _card_drawn(match: Match, event: e.CardDrawn) -> None:
    match.last_card = event.card
    match.next_card = event.card % DECK_SIZE + 1


def _jackpot_rolled(match: Match, event: e.JackpotRolled) -> None:
    match.cash[event.seat] += event.payout
    match.next_counter = event.counter + event.blocks


CHANGES: Final[dict[type, Callable[[Match, Any], None]]] = {
    e.DiceRolled: _dice_rolled,
    e.TokenMoved: _token_moved,
    e.CardDrawn: _card_drawn,
    e.JailEntered: _jail_entered,
    e.JailAttemptFailed: _jail_attempt_failed,
    e.JailLeft: _jail_left,
    e.JumpMade: _jump_made,
    e.JackpotRolled: _jackpot_rolled,
}
