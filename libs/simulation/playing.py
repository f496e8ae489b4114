"""One match of bots, from its creation to its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from libs.bots.strengths import STRENGTHS
from libs.kernel.chance import FairDraws, commitment
from libs.kernel.ids import MatchId, SeededIds
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.rules.decide import Referee
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.views import View

START_MS: Final = 1_750_000_000_000
"""When the first match of a simulation begins; the others follow a second apart."""

BETWEEN_MATCHES_MS: Final = 1_000
THINKING_MS: Final = 400
"""The time between two commands: a turn with dozens of levels built ends before its clock does."""

ANSWERING_MS: Final = 900
"""The time that somebody thinks about an offer, while the others play on."""

COMMANDS_MOST: Final = 100_000
"""More than any match can have: at the round cap a long one has a tenth of it."""

Watch = Callable[[Match, c.Command, int, Sequence[e.Event]], None]
"""Sees each accepted command: the match after it, the command, its time and its events."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A match to play: what everything about it follows from.

    Attributes:
        rule_set: the id of its rules.
        strengths: the bot in each seat.
        seed: 32 bytes.
        start_ms: when it is created.

    """

    rule_set: str
    strengths: tuple[str, ...]
    seed: bytes
    start_ms: int

    @property
    def match_id(self) -> MatchId:
        """The id of the match."""
        return SeededIds(self.seed).match_id(self.start_ms)


@dataclass(frozen=True, slots=True)
class Played:
    """A match that was played to its end.

    Attributes:
        match: the match as it is then.
        ended_ms, ended_by: when, and the reason as in `MatchEnded`.
        commands: how many it took. dice_moves: how many of them were rolls.

    """

    match: Match
    ended_ms: int
    ended_by: str
    commands: int
    dice_moves: int


class BrokenPlayError(RuntimeError):
    """A bot's command was refused, or a match has no end: a bug, with all that repeats it."""


def set_up(
    rule_set: str, seats: int, seed: int, number: int, strengths: Sequence[str] = ("steady",)
) -> Setup:
    """Return match *number* of the simulation with this *seed*.

    The strengths go round the table, and one seat further with each match.
    """
    name = f"opolyx/simulation/1 {seed} {rule_set} {seats} {number}"
    order = tuple(strengths[(seat + number) % len(strengths)] for seat in range(seats))
    start_ms = START_MS + number * BETWEEN_MATCHES_MS
    return Setup(rule_set, order, sha256(name.encode()).digest(), start_ms)


def run_match(setup: Setup, watch: Watch | None = None) -> Played:
    """Play a match to its end.

    Raises:
        BrokenPlayError: a bot's command was refused, or the match went on for too long.

    """
    match = Match()
    play = Referee(match, FairDraws(setup.match_id, setup.seed)).play
    now, command = setup.start_ms, _create(setup)
    decision = play(command, now)
    bots = [
        partial(STRENGTHS[strength], View(match, seat), LegalCommands(match, seat))
        for seat, strength in enumerate(setup.strengths)
    ]
    dice_moves = 0
    for commands in range(1, COMMANDS_MOST):
        if isinstance(decision, Refusal):
            raise BrokenPlayError(setup, match.sequence, command, decision)
        if watch is not None:
            watch(match, command, now, decision)
        if match.phase == phases.ENDED:
            return Played(match, now, _reason(decision), commands, dice_moves)
        now += THINKING_MS
        choice = _answer(match, bots, now) if match.offers else None
        if choice is None:
            deadline = match.deadline
            choice = bots[match.debts[0].debtor if deadline is None else deadline.seat]()
        if choice.__class__ is c.Roll:
            dice_moves += 1
        now, command = _wait(match, bots, now) if choice is None else (now, choice)
        decision = play(command, now)
    raise BrokenPlayError(setup, match.sequence)


_Bot = Callable[[], c.SeatCommand | None]


def _create(setup: Setup) -> c.Command:
    specs = tuple(e.SeatSpec(e.BOT, "", strength) for strength in setup.strengths)
    committed = commitment(setup.match_id, setup.seed)
    return c.CreateMatch(setup.match_id, setup.rule_set, specs, committed)


def _answer(match: Match, bots: Sequence[_Bot], now: int) -> c.SeatCommand | None:
    """Return somebody's answer to an offer that was thought about for long enough."""
    if match.phase == phases.AUCTION:
        return None
    lifetime = match.rules.offer_ms
    for offer in match.offers:
        if now >= offer.due - lifetime + ANSWERING_MS:
            return bots[offer.receiver]()
    return None


def _wait(match: Match, bots: Sequence[_Bot], now: int) -> tuple[int, c.Command]:
    """Let time pass until somebody answers an offer, or else until a deadline fires."""
    if match.offers:
        now = max(now, match.offers[0].due - match.rules.offer_ms + ANSWERING_MS)
        answer = _answer(match, bots, now)
        if answer is not None:
            return now, answer
    deadline = next_deadline(match)
    assert deadline is not None, "a match that goes on waits for somebody"
    return max(now, deadline.due), c.FireDeadline(deadline.deadline_id)


def _reason(decision: Sequence[e.Event]) -> str:
    """Return why the match ended, of the events that ended it."""
    return next(event.why for event in decision if isinstance(event, e.MatchEnded))
