"""given / when / then, for rules.

    table = given(CLASSIC_2, seats=3).owned(0, 1, 3).standing({1: 39}).dice((1, 1))

    events = table.when(c.Roll(1))

    assert e.SalaryPaid(1, 2_000) in events

Every command of every test is decided twice, by `decide` on a copy and by `play`; the two must
agree, what the match becomes must be what its events make of it, and the invariants must hold.
"""

from collections.abc import Mapping
from typing import Self, TypeVar

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import next_deadline
from libs.rules.decide import decide, play
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.state import describe
from tests.support import builders
from tests.support.builders import everything
from tests.support.invariants import assert_sound

Wanted = TypeVar("Wanted", bound=e.Event)


class Table:
    """A match in a situation that was set up, and what is done with it."""

    def __init__(self, match: Match, draws: builders.ScriptedDraws) -> None:
        self.match = match
        self.draws = draws
        self.now = builders.START_MS

    # Given.

    def round(self, number: int) -> Self:
        self.match.round = number
        return self

    def turn(self, seat: int) -> Self:
        builders.set_turn(self.match, seat)
        return self

    def cash(self, amounts: Mapping[int, int]) -> Self:
        for seat, amount in amounts.items():
            self.match.cash[seat] = amount
        return self

    def standing(self, squares: Mapping[int, int]) -> Self:
        for seat, square in squares.items():
            self.match.square[seat] = square
        return self

    def owned(self, seat: int, *squares: int) -> Self:
        builders.own(self.match, seat, *squares)
        return self

    def group(self, seat: int, name: str) -> Self:
        board = self.match.board
        return self.owned(seat, *board.groups[board.group_names.index(name)])

    def levels(self, levels: Mapping[int, int]) -> Self:
        builders.build(self.match, levels)
        return self

    def mortgaged(self, *squares: int, in_round: int = 1) -> Self:
        builders.mortgage(self.match, squares, in_round)
        return self

    def jailed(self, seat: int, attempts: int = 0) -> Self:
        builders.jail(self.match, seat, attempts)
        return self

    def gone(self, *seats: int) -> Self:
        builders.put_out(self.match, *seats)
        return self

    def missed(self, turns: Mapping[int, int]) -> Self:
        for seat, missed in turns.items():
            self.match.missed_turns[seat] = missed
        return self

    def card(self, number: int) -> Self:
        self.match.next_card = number
        return self

    def dice(self, *rolls: tuple[int, ...]) -> Self:
        self.draws.dice.extend(rolls)
        return self

    def jackpot(self, *dice: int) -> Self:
        self.draws.jackpot_dice.extend(dice)
        return self

    # When.

    def when(self, *commands: c.Command) -> list[e.Event]:
        """Give commands that must be accepted; returns the events of the last one."""
        events: list[e.Event] = []
        for command in commands:
            events = self._decide(command)
        return events

    def refused(self, command: c.Command) -> Refusal:
        """Give a command that must be refused, and change nothing."""
        before = everything(self.match)
        decision = decide(self.match, command, self.draws, self.now)
        assert isinstance(decision, Refusal), decision
        assert play(self.match, command, self.draws, self.now) == decision
        assert everything(self.match) == before
        return decision

    def wait(self, duration_s: float) -> list[e.Event]:
        """Let time pass, firing what becomes due at its own time; returns all events."""
        until = self.now + round(duration_s * 1_000)
        events: list[e.Event] = []
        while (deadline := next_deadline(self.match)) and deadline.due <= until:
            self.now = max(self.now, deadline.due)
            events += self.when(c.FireDeadline(deadline.deadline_id))
        self.now = until
        return events

    def time_out(self) -> list[e.Event]:
        """Let the next deadline pass; returns the events of that one record."""
        deadline = next_deadline(self.match)
        assert deadline is not None
        self.now = max(self.now, deadline.due)
        return self.when(c.FireDeadline(deadline.deadline_id))

    def _decide(self, command: c.Command) -> list[e.Event]:
        before = self.match.copy()
        dice, jackpot_dice = self.draws.dice[:], self.draws.jackpot_dice[:]
        decided = decide(self.match, command, self.draws, self.now)
        assert not isinstance(decided, Refusal), decided
        assert everything(self.match) == everything(before)
        self.draws.dice, self.draws.jackpot_dice = dice, jackpot_dice
        events = play(self.match, command, self.draws, self.now)
        assert events == decided
        assert everything(apply(before, decided)) == everything(self.match)
        assert_sound(self.match)
        return decided

    # Then.

    def state(self) -> dict[str, object]:
        """Return the state as scenario files spell it."""
        return describe(self.match, self.now)

    def left_s(self) -> float:
        """Return how long the pending decision has, in seconds."""
        assert self.match.deadline is not None
        return (self.match.deadline.due - self.now) / 1_000


def given(rule_set: str = builders.CLASSIC_2, seats: int = 0) -> Table:
    """Return a started match of bots: seat 0 is to roll, in round 1; Teams have four seats."""
    draws = builders.ScriptedDraws()
    specs = builders.bots(seats or (4 if rule_set == builders.TEAMS_2 else 3))
    return Table(builders.created(rule_set, specs, draws), draws)


def kinds(events: list[e.Event]) -> list[type]:
    """Return the classes of *events*, for comparing an order."""
    return [event.__class__ for event in events]


def only(events: list[e.Event], kind: type[Wanted]) -> Wanted:
    """Return the one event of that class."""
    (found,) = every(events, kind)
    return found


def every(events: list[e.Event], kind: type[Wanted]) -> list[Wanted]:
    """Return all events of that class, in order."""
    return [event for event in events if isinstance(event, kind)]
