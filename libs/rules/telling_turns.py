"""What happened in the course of play, rule by rule: births, turns, clocks, dice, jail, the end."""

from collections.abc import Callable
from typing import Any, Final

from libs.rules import events as e
from libs.rules import phases
from libs.rules.match import Match
from libs.rules.rule_sets import rule_set
from libs.rules.state import THIRD_FACES
from libs.rules.telling import (
    Clauses,
    blocks_named,
    listed,
    money,
    plural,
    seat_name,
    seconds,
    square_name,
)


def _match_created(_: Match, event: e.MatchCreated) -> Clauses:
    people = sum(spec.kind == e.PERSON for spec in event.seats)
    seats = f"{plural(len(event.seats), 'seat')}, {people} of people"
    clauses = [
        ("SETUP-1", f"{seats}, for {event.rule_set} on the board {event.board}"),
        ("FAIR-1", f"the secret seed is committed to by {event.commitment.hex()}"),
    ]
    if rule_set(event.rule_set).teams:
        clauses.append(("SETUP-4", "even seats play for team 0, odd seats for team 1"))
    return clauses


def _seed_contributed(_: Match, event: e.SeedContributed) -> Clauses:
    if not event.client_seed:
        return [("FAIR-1", f"{seat_name(event.seat)} gives no client seed")]
    size = len(event.client_seed)
    return [("FAIR-1", f"{seat_name(event.seat)} gives a client seed of {size} bytes")]


def _match_started(_: Match, event: e.MatchStarted) -> Clauses:
    first, cash = seat_name(event.first_seat), money(event.starting_cash)
    clauses = [
        ("SETUP-3", f"{first} was drawn to play first; all start with {cash}"),
        ("FAIR-1", blocks_named(event.counter, event.blocks)),
    ]
    cards = sum(len(cards) for cards in event.cards)
    if cards:
        clauses.append(("RENT-6", f"{plural(cards, 'collection card')} may raise rents"))
    return clauses


def _round_started(_: Match, event: e.RoundStarted) -> Clauses:
    return [("ROUND-1", f"round {event.round} begins")]


def _turn_started(_: Match, event: e.TurnStarted) -> Clauses:
    return [("TURN-1", f"{seat_name(event.seat)} begins turn {event.turn} of the match")]


_DEADLINE_RULE: Final = {phases.DEBT: "DEBT-1", phases.AUCTION: "AUC-2", phases.OFFER: "TRADE-1"}


def _deadline_set(_: Match, event: e.DeadlineSet) -> Clauses:
    who = "everybody" if event.seat == e.NOBODY else seat_name(event.seat)
    rule = _DEADLINE_RULE.get(event.kind, "CLOCK-1")
    clauses = [(rule, f"{who} has until {event.due} ms for {event.deadline_id}")]
    if event.clock_left:
        left = seconds(event.clock_left)
        clauses.append(("CLOCK-1", f"the turn clock stands with {left} left"))
    return clauses


def _deadline_extended(_: Match, event: e.DeadlineExtended) -> Clauses:
    return [("CLOCK-1", f"{event.deadline_id} moves to {event.due} ms ({event.reason})")]


_TIMED_OUT: Final = {
    phases.ROLL: "the roll is skipped and the turn over",
    phases.BUY: "the property is declined",
    phases.AUCTION: "the bid is passed",
    phases.DEBT: "the engine pays",
    phases.BAIL: "the choice is to stay",
    phases.BUS: "the bus goes by the sum",
    phases.TELEPORT: "the token stays where it is",
    phases.JACKPOT: "the bet is declined",
}


def _decision_timed_out(_: Match, event: e.DecisionTimedOut) -> Clauses:
    outcome = _TIMED_OUT[event.kind]
    late = seconds(event.lateness)
    return [("CLOCK-2", f"{seat_name(event.seat)} did not decide in time: {outcome} ({late} late)")]


def _dice_rolled(match: Match, event: e.DiceRolled) -> Clauses:
    white_1, white_2, third = event.white_1, event.white_2, event.third
    clauses = [("TURN-1", f"{seat_name(event.seat)} rolls {white_1} and {white_2}")]
    if third:
        face = "X" if third == e.X else THIRD_FACES[third]
        clauses.append(("DIE3-1", f"the third die shows {face}"))
    if white_1 == white_2:
        clauses.append(_doubles(match, event))
    if third == e.X:
        clauses.append(("DIE3-3", "the X waits for the end of the turn"))
    return [*clauses, ("FAIR-1", blocks_named(event.counter, event.blocks))]


def _doubles(match: Match, event: e.DiceRolled) -> tuple[str, str]:
    if match.in_jail[event.seat]:
        return "JAIL-5", "doubles in jail free and give no further roll"
    if event.white_1 == event.third < e.BUS:
        return "DIE3-4", "a triple leads to any square and to another roll"
    if match.doubles + 1 >= 3:  # noqa: PLR2004 - TURN-2
        return "TURN-2", "the third doubles of the turn lead to jail"
    return "TURN-2", f"doubles number {match.doubles + 1} of the turn give another roll"


_MOVED_BY: Final = {
    "roll": "TURN-1",
    "card": "DECK-2",
    "jail": "JAIL-1",
    "jump": "DIE3-3",
    "teleport": "DIE3-4",
}


def _token_moved(match: Match, event: e.TokenMoved) -> Clauses:
    origin, target = square_name(match, event.origin), square_name(match, event.target)
    return [(_MOVED_BY[event.how], f"{seat_name(event.seat)} goes from {origin} to {target}")]


def _salary_paid(_: Match, event: e.SalaryPaid) -> Clauses:
    amount = money(event.amount)
    return [("BOARD-3", f"{seat_name(event.seat)} gets its salary of {amount} at Start")]


def _landing_bonus_paid(_: Match, event: e.LandingBonusPaid) -> Clauses:
    amount = money(event.amount)
    return [("BOARD-3", f"{seat_name(event.seat)} gets {amount} more for stopping on Start")]


_SENT_TO_JAIL: Final = {
    "doubles": ("TURN-2", "a third doubles"),
    "square": ("TURN-4", "its square"),
    "card": ("DECK-1", "a card"),
}


def _jail_entered(_: Match, event: e.JailEntered) -> Clauses:
    rule, cause = _SENT_TO_JAIL[event.why]
    return [
        (rule, f"{cause} sends {seat_name(event.seat)} to jail"),
        ("TURN-3", "the turn ends, whatever was rolled"),
    ]


def _jail_attempt_failed(match: Match, event: e.JailAttemptFailed) -> Clauses:
    most = match.rules.jail_attempts
    return [
        (
            "JAIL-4",
            f"failed roll {event.attempt} of {most} keeps {seat_name(event.seat)} in jail",
        )
    ]


def _bail_offered(_: Match, event: e.BailOffered) -> Clauses:
    amount = money(event.amount)
    return [("JAIL-3", f"{seat_name(event.seat)} may pay {amount} and move by its roll, or stay")]


def _bail_paid(match: Match, event: e.BailPaid) -> Clauses:
    rule = _voluntary_bail_rule(match)
    return [(rule, f"{seat_name(event.seat)} pays {money(event.amount)} bail")]


_FREED_BY: Final = {
    "doubles": "doubles free",
    "bail": "the bail frees",
    "forced_bail": "the bail after the last failed roll frees",
}


def _jail_left(match: Match, event: e.JailLeft) -> Clauses:
    rule = "JAIL-4" if event.how == "forced_bail" else _voluntary_bail_rule(match)
    return [(rule, f"{_FREED_BY[event.how]} {seat_name(event.seat)}")]


def _voluntary_bail_rule(match: Match) -> str:
    return "JAIL-2" if match.rules.bail_before_roll else "JAIL-3"


def _bus_offered(_: Match, event: e.BusOffered) -> Clauses:
    totals = listed(str(total) for total in event.totals)
    return [("DIE3-2", f"{seat_name(event.seat)} may move by one of {totals}")]


def _bus_move_chosen(_: Match, event: e.BusMoveChosen) -> Clauses:
    return [("DIE3-2", f"{seat_name(event.seat)} moves by {event.total}")]


def _teleport_offered(_: Match, event: e.TeleportOffered) -> Clauses:
    return [("DIE3-4", f"the triple lets {seat_name(event.seat)} go to any square")]


def _teleport_chosen(match: Match, event: e.TeleportChosen) -> Clauses:
    square = square_name(match, event.square)
    return [("DIE3-4", f"{seat_name(event.seat)} chooses {square}")]


def _jump_made(match: Match, event: e.JumpMade) -> Clauses:
    origin, target = square_name(match, event.origin), square_name(match, event.target)
    return [("DIE3-3", f"the X takes {seat_name(event.seat)} on from {origin} to {target}")]


def _turn_missed(match: Match, event: e.TurnMissed) -> Clauses:
    missed, limit = plural(event.in_a_row, "turn"), match.rules.missed_turns_limit
    return [("CLOCK-3", f"{seat_name(event.seat)} has missed {missed} of {limit} in a row")]


def _turn_ended(_: Match, event: e.TurnEnded) -> Clauses:
    return [("TURN-1", f"the turn of {seat_name(event.seat)} is over")]


def _match_ended(_: Match, event: e.MatchEnded) -> Clauses:
    winners = listed(seat_name(seat) for seat in event.winners)
    if event.why == "round_cap":
        cause = ("END-2", f"round {event.round} was the last: the richest won, {winners}")
    else:
        cause = ("END-1", f"in round {event.round} nobody was left to play against: {winners} won")
    places = listed(
        f"{seat_name(seat)} with {money(event.net_worths[seat])}" for seat in event.placing
    )
    return [cause, ("END-3", f"the places are {places}")]


def _seed_revealed(_: Match, event: e.SeedRevealed) -> Clauses:
    return [("FAIR-1", f"the seed was {event.seed.hex()}: anyone can check every draw")]


def _match_aborted(_: Match, event: e.MatchAborted) -> Clauses:
    return [
        ("FAIR-1", f"{event.actor} breaks the match off ({event.reason}); its seed is revealed"),
        ("XP-1", "nobody has won, and nothing is paid"),
    ]


def _match_frozen(_: Match, event: e.MatchFrozen) -> Clauses:
    return [("CLOCK-1", f"{event.actor} stops all clocks at {event.at_ms} ms ({event.reason})")]


def _match_resumed(match: Match, event: e.MatchResumed) -> Clauses:
    frozen_at = match.frozen_at
    return [
        (
            "CLOCK-1",
            f"{event.actor} lets the clocks of {frozen_at} ms go on ({event.reason})",
        )
    ]


TURNS: Final[dict[type, Callable[[Match, Any], Clauses]]] = {
    e.MatchCreated: _match_created,
    e.SeedContributed: _seed_contributed,
    e.MatchStarted: _match_started,
    e.RoundStarted: _round_started,
    e.TurnStarted: _turn_started,
    e.DeadlineSet: _deadline_set,
    e.DeadlineExtended: _deadline_extended,
    e.DecisionTimedOut: _decision_timed_out,
    e.DiceRolled: _dice_rolled,
    e.TokenMoved: _token_moved,
    e.SalaryPaid: _salary_paid,
    e.LandingBonusPaid: _landing_bonus_paid,
    e.JailEntered: _jail_entered,
    e.JailAttemptFailed: _jail_attempt_failed,
    e.BailOffered: _bail_offered,
    e.BailPaid: _bail_paid,
    e.JailLeft: _jail_left,
    e.BusOffered: _bus_offered,
    e.BusMoveChosen: _bus_move_chosen,
    e.TeleportOffered: _teleport_offered,
    e.TeleportChosen: _teleport_chosen,
    e.JumpMade: _jump_made,
    e.TurnMissed: _turn_missed,
    e.TurnEnded: _turn_ended,
    e.MatchEnded: _match_ended,
    e.SeedRevealed: _seed_revealed,
    e.MatchAborted: _match_aborted,
    e.MatchFrozen: _match_frozen,
    e.MatchResumed: _match_resumed,
}
"""How each event of the course of play is told; the rest is told in `telling_property`."""
