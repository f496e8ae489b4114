"""How turns and rounds begin and end (TURN-1, ROUND-1, CLOCK-3, MORT-3, END-1, END-2)."""

from libs.rules import ending, leaving, third_die
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.ruling import Ruling


def carry_on(ruling: Ruling) -> None:
    """Go on with a turn in which nothing is pending: a further roll, an X jump, or its end."""
    match = ruling.match
    # A seat that goes out or to jail has neither a further roll nor a jump left.
    if match.rolls_again:
        ruling.await_roll()
    elif not match.jump_pending or not third_die.jump(ruling, match.turn):
        _end(ruling, match.turn)


def begin_first(ruling: Ruling, seat: int) -> None:
    """Begin the match's first round with the seat that was drawn (SETUP-3)."""
    ruling.add(e.RoundStarted(1))
    _begin(ruling, seat)


def _begin(ruling: Ruling, seat: int) -> None:
    match = ruling.match
    ruling.add(e.TurnStarted(seat, match.turn_number + 1))
    if match.mortgage_count and match.rules.mortgage_expiry_rounds:
        _remind(ruling, seat)
    ruling.await_roll()


def _remind(ruling: Ruling, seat: int) -> None:
    match = ruling.match
    for square in match.properties_of(seat):
        if match.mortgaged_round[square]:
            rounds_left = _expires_in(match, square) - match.round
            ruling.add(e.MortgageReminded(seat, square, rounds_left))


def _expires_in(match: Match, square: int) -> int:
    """Return the round whose end takes a mortgaged property (MORT-3)."""
    return match.mortgaged_round[square] + match.rules.mortgage_expiry_rounds


def _end(ruling: Ruling, seat: int) -> None:
    match = ruling.match
    if match.timed_out and not match.out[seat] and _miss(ruling, seat):
        return
    ruling.add(e.TurnEnded(seat))
    out = match.out
    following = seat + 1 if seat + 1 < len(out) else 0
    while out[following]:
        following = following + 1 if following + 1 < len(out) else 0
    if match.had_turn[following]:
        # ROUND-1: turns go round the table, so whoever comes next closes the round by having
        # had its turn, whoever has gone out meanwhile.
        if match.round >= match.rules.round_cap:
            ending.finish(ruling, "round_cap")
            return
        _release_expired(ruling)
        ruling.add(e.RoundStarted(match.round + 1))
    _begin(ruling, following)


def _miss(ruling: Ruling, seat: int) -> bool:
    """Count a missed turn, surrendering a seat that missed too many; True if that ends the match.

    The turn still ends before the match does (CLOCK-3).
    """
    match = ruling.match
    in_a_row = match.missed_turns[seat] + 1
    ruling.add(e.TurnMissed(seat, in_a_row))
    if in_a_row < match.rules.missed_turns_limit:
        return False
    leaving.give_up(ruling, seat, forced=True)
    if not ending.is_decided(match):
        return False
    ruling.add(e.TurnEnded(seat))
    ending.finish(ruling, "last_standing")
    return True


def _release_expired(ruling: Ruling) -> None:
    """Take back what was mortgaged too long ago (MORT-3)."""
    match = ruling.match
    if not match.mortgage_count or not match.rules.mortgage_expiry_rounds:
        return
    for square in match.board.properties:
        if match.mortgaged_round[square] and _expires_in(match, square) <= match.round:
            ruling.add(e.PropertyReleased(square, match.owner[square], "mortgage_expired"))
