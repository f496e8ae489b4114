"""Random walks through matches: legal commands, time-outs and all, driven by one number.

A walk keeps what it did, so that it can be replayed, decided again, and told as a golden stream.
"""

from dataclasses import dataclass, field
from typing import Final

from libs.kernel.chance import FairDraws, commitment
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.rules.decide import Decision, Referee
from libs.rules.evolve import apply
from libs.rules.legal import (
    Choice,
    JackpotBounds,
    Legal,
    LegalCommands,
    SeedBounds,
    TradeBounds,
    legal_commands,
)
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from tests.support.builders import MATCH_ID, START_MS, bots, people

THINKING_MS: Final = 3_000
"""The longest that anybody thinks, unless it lets the clock run out."""


class Dice:
    """Numbers that depend on a seed alone; good enough for choosing, and for nothing else."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, count: int) -> int:
        """Return the next number, from 0 to *count* - 1."""
        self._state = (self._state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self._state >> 33) % count


@dataclass(slots=True)
class Step:
    """A command that was accepted, when, and what it caused; no command for what was dealt."""

    command: c.Command | None
    at_ms: int
    events: list[e.Event]


@dataclass(slots=True)
class Walk:
    """A match that goes on as *seed* says.

    At each step somebody surrenders, or lets the clock run out, once in so many times.
    """

    rule_set: str
    seats: int
    seed: int
    has_people: bool = False
    surrenders: int = 2_000
    time_outs: int = 100
    match: Match = field(default_factory=Match)
    steps: list[Step] = field(default_factory=list)
    now: int = START_MS
    draws: FairDraws = field(init=False)
    _referee: Referee = field(init=False)
    _dice: Dice = field(init=False)

    def __post_init__(self) -> None:
        seed = self.seed.to_bytes(32, "big")
        self._dice = Dice(self.seed)
        self.draws = FairDraws(MATCH_ID, seed)
        self._referee = Referee(self.match, self.draws)
        specs = people(self.seats) if self.has_people else bots(self.seats)
        cards = ((1, "legendary"), (5, "common"), (12, "rare"), (39, "epic"))
        specs = (e.SeatSpec(specs[0].kind, specs[0].player, "", cards), *specs[1:])
        self.send(c.CreateMatch(MATCH_ID, self.rule_set, specs, commitment(MATCH_ID, seed)))

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return self.match.phase == phases.ENDED

    @property
    def events(self) -> list[e.Event]:
        """Everything that has happened."""
        return [event for step in self.steps for event in step.events]

    def deal(self, in_round: int) -> "Walk":
        """Deal most of the board and some cash, by events that no command would cause."""
        match = self.match
        events: list[e.Event] = [e.RoundStarted(in_round), e.TurnStarted(match.turn, 2)]
        events.extend(
            e.BailPaid(seat, self._dice.below(cash)) for seat, cash in enumerate(match.cash)
        )
        for group in match.board.groups:
            owner = self._dice.below(self.seats + 1)
            for square in group:
                seat = owner if self._dice.below(6) else self._dice.below(self.seats)
                if seat < self.seats:
                    events.append(e.PropertyBought(seat, square, 0))
        due = self.now + match.rules.turn_clock_ms
        events.append(e.DeadlineSet(phases.ROLL, match.turn, 2, match.turn, due, 0))
        apply(match, events)
        self.steps.append(Step(None, self.now, events))
        return self

    def send(self, command: c.Command) -> Decision:
        """Give a command now, and remember it if it is accepted."""
        decision = self._referee.play(command, self.now)
        if not isinstance(decision, Refusal):
            self.steps.append(Step(command, self.now, decision))
        return decision

    def go(self, steps: int) -> "Walk":
        """Go on for so many commands, or to the end."""
        until = len(self.steps) + steps
        while len(self.steps) < until and not self.is_over:
            self.step()
        return self

    def step(self) -> None:
        """Let somebody do something, or a clock run out."""
        if self._dice.below(self.time_outs) == 0:
            self.let_time_out()
            return
        self.pass_time(self._dice.below(THINKING_MS))
        if self.is_over:
            return
        command = self._idea()
        if command is None:
            self.let_time_out()
        else:
            decision = self.send(command)
            assert not isinstance(decision, Refusal), (command, decision)

    def pass_time(self, duration_ms: int) -> None:
        """Let time pass, firing what becomes due at its own time."""
        until = self.now + duration_ms
        while (deadline := next_deadline(self.match)) and deadline.due <= until:
            self.let_time_out()
        self.now = until

    def let_time_out(self) -> None:
        """Let the next deadline pass."""
        deadline = next_deadline(self.match)
        assert deadline is not None
        self.now = max(self.now, deadline.due)
        decision = self.send(c.FireDeadline(deadline.deadline_id))
        assert not isinstance(decision, Refusal), decision

    def _idea(self) -> c.SeatCommand | None:
        """Return a legal command: mostly an answer to what is pending, now and then another."""
        dice, match = self._dice, self.match
        pending = match.pending_seats()
        seat = pending[dice.below(len(pending))]
        if match.phase == phases.SEEDING:
            return c.ContributeSeed(seat, bytes([seat]) * (16 * dice.below(3)))
        anybody = match.acting[dice.below(len(match.acting))]
        if dice.below(self.surrenders) == 0:
            return c.Surrender(anybody)
        if dice.below(3) == 0:
            command = self._one_of(_managing(legal_commands(match, anybody)))
            if command is not None:
                return command
        legal = legal_commands(match, seat)
        return self._one_of(list(legal.answers()) or _managing(legal))

    def _one_of(self, entries: list[Legal]) -> c.SeatCommand | None:
        if not entries:
            return None
        entry = entries[self._dice.below(len(entries))]
        if isinstance(entry, Choice):
            return entry.command
        if isinstance(entry, JackpotBounds):
            return c.BetJackpot(entry.seat, (1, 3, 6)[: 1 + self._dice.below(entry.most)])
        assert not isinstance(entry, SeedBounds)
        return self._trade(entry)

    def _trade(self, bounds: TradeBounds) -> c.SeatCommand | None:
        """Offer a square for another, evened out by cash, where that is fair."""
        partner = bounds.partners[self._dice.below(len(bounds.partners))]
        give = self._some(bounds.squares)
        take = self._some(partner.squares)
        price = self.match.board.price
        worth = sum(price[square] for square in give) - sum(price[square] for square in take)
        command = c.OfferTrade(
            bounds.seat,
            partner.seat,
            e.Side(min(max(0, -worth), bounds.cash), give),
            e.Side(min(max(0, worth), partner.cash), take),
        )
        is_legal = legal_commands(self.match, bounds.seat).allows(command)
        return command if is_legal else None

    def _some(self, squares: tuple[int, ...]) -> tuple[int, ...]:
        if not squares:
            return ()
        first = self._dice.below(len(squares))
        return squares[first : first + self._dice.below(3)]


def _managing(legal: LegalCommands) -> list[Legal]:
    return [
        *legal.builds(),
        *legal.sales(),
        *legal.mortgages(),
        *legal.redemptions(),
        *legal.trade_answers(),
        *legal.trades(),
    ]
