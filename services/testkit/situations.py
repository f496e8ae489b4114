"""The starting situation of a scenario file, told as events: every reader of a match lives by them.

A set-up is a picture, and a match is what its records make. So the match is begun by the rules, and
then a record of facts follows that lead to the picture, whatever the rules would have said to them:
property for nothing, a doubles that nobody rolled. It is told only if it leads there exactly.
"""

from collections.abc import Iterator
from typing import Any, Final

from libs.rules import events as e
from libs.rules import phases
from libs.rules.board import JAIL
from libs.rules.cards import DECK_SIZE
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.state import describe
from libs.scenarios.draws import ScriptedDraws
from libs.scenarios.scenario import PropertySetup, Scenario, Setup
from libs.scenarios.setting import START_MS, set_up
from services.testkit.errors import UntoldSituationError

_UNTOLD: Final = ("roll", "last_card")
"""What a set-up does not say, and a story must."""


def situation(scenario: Scenario, match: Match, at_ms: int) -> list[e.Event]:
    """Return what makes a match that has just begun at *at_ms* that of a scenario's set-up.

    Raises:
        MalformedError: no match could stand so.
        UntoldSituationError: it leads elsewhere.

    """
    picture = set_up(scenario, ScriptedDraws(scenario.script, scenario.setup.turn))
    events = list(_Story(scenario.setup, match).tell())
    reached = apply(match.copy(), events)
    wanted, found = _comparable(picture, START_MS), _comparable(reached, at_ms)
    different = [name for name in wanted if wanted[name] != found[name]]
    if different or (picture.built, picture.had_turn) != (reached.built, reached.had_turn):
        raise UntoldSituationError(f"no events lead to the set-up: see {different or 'built'}")
    return events


def _comparable(match: Match, at_ms: int) -> dict[str, Any]:
    return {name: value for name, value in describe(match, at_ms).items() if name not in _UNTOLD}


class _Story:
    """What is told of one set-up."""

    def __init__(self, setup: Setup, match: Match) -> None:
        """Tell of *setup*, after *match*, in which the first roll is pending."""
        self._setup = setup
        self._match = match
        self._turn = setup.turn
        self._seats = list(enumerate(setup.seats))
        self._owned = [
            (square, given, given.owner)
            for square, given in sorted(setup.properties.items())
            if given.owner is not None
        ]

    def tell(self) -> Iterator[e.Event]:
        """Tell all of it."""
        yield from self._holdings()
        yield from self._mortgages()
        yield from self._standings()
        yield from self._turn_begins()
        for square, given in sorted(self._setup.properties.items()):
            yield from self._built_this_turn(square, given)
        yield from self._rolls()
        yield from self._missed()
        yield self._deadline()

    def _holdings(self) -> Iterator[e.Event]:
        for square, given, owner in self._owned:
            yield e.PropertyBought(owner, square, 0)
            for level in range(1, given.level - self._new_levels(given) + 1):
                yield e.LevelBuilt(owner, square, level, 0)

    def _mortgages(self) -> Iterator[e.Event]:
        """Tell of mortgages, each in its round, and come to the round of the picture."""
        now = self._setup.round
        mortgaged = [(given.mortgaged_round or now, *rest) for *rest, given in self._mortgaged()]
        for number in sorted({now, *(at for at, *_ in mortgaged)}):
            yield e.RoundStarted(number)
            for at, owner, square in mortgaged:
                if at == number:
                    yield e.PropertyMortgaged(owner, square, 0)

    def _mortgaged(self) -> Iterator[tuple[int, int, PropertySetup]]:
        for square, given, owner in self._owned:
            if given.mortgaged:
                yield owner, square, given

    def _standings(self) -> Iterator[e.Event]:
        for seat, given in self._seats:
            cash = self._match.cash[seat]
            if given.out:
                yield e.SeatSurrendered(seat, forced=False, proceeds=0, shares=(), withheld=0)
            elif given.cash is not None and given.cash > cash:
                yield e.CashReceived(seat, given.cash - cash, e.BANK, "card")
            elif given.cash is not None and given.cash < cash:
                yield e.BailPaid(seat, cash - given.cash)
            square = JAIL if given.in_jail and given.square is None else given.square
            if square is not None and square != self._match.square[seat]:
                how = "jail" if given.in_jail else "teleport"
                yield e.TokenMoved(seat, self._match.square[seat], square, how)
            if given.in_jail:
                yield e.JailEntered(seat, "card")
            if given.jail_attempts:
                yield e.JailAttemptFailed(seat, given.jail_attempts)

    def _turn_begins(self) -> Iterator[e.Event]:
        # Its end forgets what was built, and whose turn a round had seen.
        yield e.TurnEnded(self._match.turn)
        yield e.RoundStarted(self._setup.round)
        yield e.TurnStarted(self._turn, self._match.turn_number + 1)
        if self._setup.next_card != 1:
            yield e.CardDrawn(self._turn, (self._setup.next_card - 2) % DECK_SIZE + 1)

    def _built_this_turn(self, square: int, given: PropertySetup) -> Iterator[e.Event]:
        new = self._new_levels(given)
        for level in range(given.level - new + 1, given.level + 1):
            yield e.LevelBuilt(self._turn, square, level, 0)
        for _ in range(given.built_this_turn - new):
            # Built, and sold again.
            yield e.LevelBuilt(self._turn, square, given.level + 1, 0)
            yield e.LevelSold(self._turn, square, given.level, 0)

    def _rolls(self) -> Iterator[e.Event]:
        doubles, jumps = self._setup.doubles_in_turn, self._setup.jump_pending
        rolls = [(1, 1)] * doubles or [(1, 2)] * jumps
        for number, (white_1, white_2) in enumerate(rolls, start=1):
            third = e.X if jumps and number == len(rolls) else 0
            counter = self._match.next_counter + number - 1
            yield e.DiceRolled(self._turn, white_1, white_2, third, counter, 1)

    def _missed(self) -> Iterator[e.Event]:
        for seat, given in self._seats:
            if given.missed_turns:
                yield e.TurnMissed(seat, given.missed_turns)

    def _deadline(self) -> e.DeadlineSet:
        first = self._match.deadline
        assert first is not None, "the first roll is pending"
        number = first.number + 1
        return e.DeadlineSet(phases.ROLL, self._turn, number, self._turn, first.due, 0)

    @staticmethod
    def _new_levels(given: PropertySetup) -> int:
        return min(given.level, given.built_this_turn)
