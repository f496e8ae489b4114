"""Writing the scenario that leads to a state of a recorded match.

A set-up can only say states in which the turn's roll is pending and no offer is open, and it takes
the seat of that turn for the one that opened the round. So the latest round is taken that began so
and from which the records up to the one that is wanted, told again as commands and time, lead to
the very same state on the rules engine. That is not guessed but tried. Where no round will do, a
roll in the midst of one does: it leads to the state, but rounds are counted otherwise after it.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from libs.rules import events as e
from libs.rules import phases
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.state import THIRD_FACES, describe
from libs.scenarios.comparing import is_same
from libs.scenarios.reading import MalformedError
from libs.scenarios.retelling import NotSayableError, retell
from libs.scenarios.running import run
from libs.scenarios.scenario import read_scenario
from libs.wire.record import Record

STARTS_MAX: Final = 40
"""How many set-ups of each kind are tried: beginnings of rounds, then any turns."""

Document = dict[str, Any]
State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capture:
    """A scenario made from a match.

    Attributes:
        document: the scenario, ready for JSON.
        setup_sequence: the sequence of the state in its set-up.
        end_sequence: the sequence of the state that its steps lead to.
        opens_round: whether the seat whose turn it is in the set-up did open the round; if not,
            what came after the end comes in other rounds when the scenario is carried on.

    """

    document: Document
    setup_sequence: int
    end_sequence: int
    opens_round: bool


def capture(records: Sequence[Record], sequence: int) -> Capture:
    """Write the scenario of the state after the last record that ends at or before *sequence*.

    Raises:
        NotSayableError: no scenario leads there; the error says why.

    """
    past = [record for record in records if record.last_seq <= sequence]
    starts, end = _replay(past)
    problems = []
    for number, start in starts:
        try:
            document = _write(end, records, number, start, len(past))
        except NotSayableError as error:
            problems.append(error)
            continue
        opens_round = sum(start.had_turn) == 1
        return Capture(document, past[number].last_seq, past[-1].last_seq, opens_round)
    if problems:
        # What keeps the nearest round from leading there is what a person wants to know.
        raise problems[0]
    raise NotSayableError(f"no roll is pending at or before sequence {sequence}")


def _replay(records: Sequence[Record]) -> tuple[list[tuple[int, Match]], Match]:
    """Return the states that a set-up can say, best first, by record, and the state at the end."""
    match = Match()
    rounds: deque[tuple[int, Match]] = deque(maxlen=STARTS_MAX)
    turns: deque[tuple[int, Match]] = deque(maxlen=STARTS_MAX)
    for number, record in enumerate(records):
        apply(match, record.events)
        is_plain = not match.offers and not match.timed_out and match.frozen_at < 0
        if match.phase == phases.ROLL and is_plain:
            # When a round begins the clock does too, as it does in a set-up.
            begins = any(isinstance(event, e.RoundStarted) for event in record.events)
            (rounds if begins else turns).append((number, match.copy()))
    return [*reversed(rounds), *reversed(turns)], match


def _write(
    end: Match, records: Sequence[Record], number: int, start: Match, count: int
) -> Document:
    """Write the scenario that sets *start* up, after record *number*, and leads to *end*."""
    last = records[count - 1]
    document: Document = {
        "id": f"match-{end.match_id}-at-{last.last_seq}",
        "rules": [],
        "rule_set": end.rules.rule_set_id,
        "seats": len(end.specs),
        "setup": _write_setup(start),
        "draws": _write_draws(records[number + 1 :]),
        "steps": retell(start, records[number].at_ms, records[number + 1 : count]),
    }
    wanted = describe(end, last.at_ms)
    for offer in wanted["offers"]:
        offer["id"] -= start.offer_count
    document["steps"].append({"expect": _expectation(document, wanted, start.out_order)})
    return document


def _write_setup(match: Match) -> Document:
    setup: Document = {
        "round": match.round,
        "turn": match.turn,
        "seats": [_write_seat(match, seat) for seat in range(len(match.specs))],
        "properties": {
            str(square): _write_property(match, square)
            for square in match.board.properties
            if match.owner[square] != e.NOBODY or match.built[square]
        },
        "next_card": match.next_card,
        "cards": {
            str(seat): {str(square): rarity for square, rarity in cards.items()}
            for seat, cards in enumerate(match.cards)
            if cards
        },
        "doubles_in_turn": match.doubles,
        "jump_pending": match.jump_pending,
    }
    return setup


def _write_seat(match: Match, seat: int) -> Document:
    given: Document = {"cash": match.cash[seat], "square": match.square[seat]}
    if match.in_jail[seat]:
        given |= {"in_jail": True, "jail_attempts": match.jail_attempts[seat]}
    if match.missed_turns[seat]:
        given["missed_turns"] = match.missed_turns[seat]
    if match.out[seat]:
        given["out"] = True
    return given


def _write_property(match: Match, square: int) -> Document:
    owner = match.owner[square]
    given: Document = {"owner": None if owner == e.NOBODY else owner}
    if match.level[square]:
        given["level"] = match.level[square]
    if match.mortgaged_round[square]:
        given |= {"mortgaged": True, "mortgaged_round": match.mortgaged_round[square]}
    if match.built[square]:
        given["built_this_turn"] = match.built[square]
    return given


def _write_draws(records: Sequence[Record]) -> Document:
    """Return all draws from here to the end of what is recorded."""
    events = [event for record in records for event in record.events]
    rolls = [event for event in events if isinstance(event, e.DiceRolled)]
    return {
        "dice": [[roll.white_1, roll.white_2] for roll in rolls],
        "third_die": [THIRD_FACES[roll.third] for roll in rolls if roll.third],
        "jackpot_die": [event.die for event in events if isinstance(event, e.JackpotRolled)],
    }


def _expectation(document: Document, wanted: State, gone: Sequence[int]) -> Document:
    """Run the scenario, and return all that it shows of the state that is wanted.

    *gone* are the seats that are out in its set-up, which cannot say who of them went first.

    Raises:
        NotSayableError: it leads elsewhere.

    """
    try:
        outcome = run(read_scenario(document))
    except MalformedError as error:
        raise NotSayableError(str(error)) from error
    if outcome.failures:
        raise NotSayableError(f"the rules do otherwise: {outcome.failures[0]}")
    reached = outcome.state
    for key in ("roll", "last_card"):
        # A set-up does not say what came before it.
        if reached[key] is None:
            wanted[key] = None
    if not is_same(_comparable(reached, gone), _comparable(wanted, gone)):
        raise NotSayableError("the rules lead to another state than the one that is recorded")
    squares = document["setup"]["properties"]
    return {
        path: value
        for path, value in _agreeing(wanted, reached, "")
        if not path.startswith("properties.")
        or value["owner"] is not None
        or path.removeprefix("properties.") in squares
    }


def _comparable(state: State, gone: Sequence[int]) -> State:
    """Leave out what depends on when the set-up's clock began, and on what came before it."""
    deadline = state["deadline"]
    return state | {
        "deadline": deadline and deadline["kind"],
        "debts": [debt | {"in_s": None} for debt in state["debts"]],
        "offers": [offer | {"expires_in_s": None} for offer in state["offers"]],
        "placing": [seat for seat in state["placing"] if seat not in gone],
    }


_WHOLE: Final = ("seats", "properties")
"""What is told entry by entry, so that a person can read it."""


def _agreeing(wanted: Any, reached: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Go through the largest parts of two states that are the same."""
    if path and path not in _WHOLE and is_same(wanted, reached):
        yield path, wanted
    elif isinstance(wanted, dict):
        for key, value in wanted.items():
            yield from _agreeing(value, reached[key], f"{path}.{key}" if path else key)
    elif isinstance(wanted, list):
        for index, value in enumerate(wanted):
            yield from _agreeing(value, reached[index], f"{path}.{index}")
