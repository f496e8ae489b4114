"""Records folded into a match by somebody who doubts them.

A fold trusts what it is given: its records came from an engine. A file may come from anybody, and
without a key it verifies whatever its author made up. So each event of it must fit the match that
those before it have made, and after each record the match must be one that the laws allow.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from libs.rules import events as e
from libs.rules import phases
from libs.rules.board import SQUARES
from libs.rules.cards import DECK_SIZE
from libs.rules.evolve import evolve
from libs.rules.match import Match
from libs.rules.rule_sets import UnknownRuleSetError
from libs.rules.state import THIRD_FACES, describe
from libs.simulation.invariants import BrokenInvariantError, check_property, check_seats
from libs.wire.record import Record
from services.console.exits import USAGE, stop

_STUMBLES: Final = (AssertionError, ArithmeticError, LookupError, TypeError, ValueError)
"""What a fold runs into over an event that no engine could have recorded there."""


class MisfitError(ValueError):
    """An event, or what a record leads to, cannot be; the error says where and why."""


def fold(path: Path, records: Sequence[Record], sequence: int) -> tuple[Match, int]:
    """Return the match as it was after the event *sequence*, and when that was, or end the command.

    *path* is what the records were read from.
    """
    try:
        return state_at(records, sequence)
    except MisfitError as error:
        stop(f"{path}: {error}", USAGE)


def state_at(records: Sequence[Record], sequence: int) -> tuple[Match, int]:
    """Return the match as it was after the event number *sequence*, and when that was.

    Raises:
        MisfitError: an event up to there does not fit the match before it.

    """
    match = Match()
    at_ms = 0
    for number, record in enumerate(records, start=1):
        if record.first_seq > sequence:
            break
        # A file has its records from line 2 on.
        where = f"line {number + 1}, record {number}"
        at_ms = record.at_ms
        _apply(match, record.events[: sequence - record.first_seq + 1], where)
        if match.match_id != record.match_id:
            raise MisfitError(f"{where}: the record is of a match that was not created")
        try:
            if record.last_seq <= sequence:
                # Laws are for whole records: between two events money may be owed, or groups split.
                check_seats(match)
                check_property(match)
            describe(match, at_ms)
        except BrokenInvariantError as error:
            raise MisfitError(f"{where} breaks a law of the game: {error.args[0]}") from error
        except _STUMBLES as error:
            raise MisfitError(f"{where} does not fit the match before it") from error
    return match, at_ms


def _apply(match: Match, events: Sequence[e.Event], where: str) -> None:
    for event in events:
        told = f"{where}: event {match.sequence + 1} ({type(event).__name__})"
        try:
            evolve(match, event)
        except UnknownRuleSetError as error:
            raise MisfitError(f"{told} names an unknown rule set, {error.args[0]!a}") from error
        except _STUMBLES as error:
            raise MisfitError(f"{told} does not fit the match before it") from error
        for what, value, known in _places(match):
            if value not in known:
                raise MisfitError(f"{told} leads to {what} {value}, and there is none")


def _places(match: Match) -> Iterator[tuple[str, int, range]]:
    """Go through all that a match says of where it stands, with what there is of each.

    The lists of a match are indexed with these, and one below zero would go unnoticed.
    """
    seats = range(len(match.specs))
    cards, faces = range(DECK_SIZE + 1), range(7)
    yield "seat", max(match.turn, 0), seats or range(1)
    yield "card", match.last_card, cards
    yield "card", match.next_card, cards[1:]
    yield "die face", match.white_1, faces
    yield "die face", match.white_2, faces
    yield "third die face", match.third, range(len(THIRD_FACES))
    for square in match.square:
        yield "square", square, range(SQUARES)
    for debt in match.debts:
        yield "seat", debt.debtor, seats
    for offer in match.offers:
        yield "seat", offer.proposer, seats
        yield "seat", offer.receiver, seats
        for square in (*offer.give.squares, *offer.take.squares):
            yield "square", square, range(SQUARES)
    if match.deadline is not None and match.phase != phases.ENDED:
        yield "seat", max(match.deadline.seat, 0), seats
    if match.auction is not None:
        yield "square", match.auction.square, range(SQUARES)
        for seat in match.auction.order:
            yield "seat", seat, seats
