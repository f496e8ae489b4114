"""Many matches of bots, on one core or several, with the same outcome."""

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Final

from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.rule_sets import rule_set
from libs.rules.snapshot import state_hash
from libs.simulation.invariants import Auditor, BrokenInvariantError
from libs.simulation.keeping import (
    Recording,
    export_path,
    simulation_key,
    write_key,
    write_whole,
)
from libs.simulation.playing import Watch, run_match, set_up

CHUNK_MOST: Final = 50
"""Matches that are handed to a process at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to simulate.

    Attributes:
        rule_set, seats: of every match.
        matches: how many, numbered from 0.
        seed: any number; everything follows from it.
        strengths: the bots, going round the table and on by one seat with each match.
        keep: a new or empty folder for an export of each match and the public key.
        check: whether to hold every event of every match to all invariants.

    """

    rule_set: str
    seats: int
    matches: int
    seed: int = 1
    strengths: tuple[str, ...] = ("steady",)
    keep: Path | None = None
    check: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises:
            UnknownRuleSetError: there is no such rule set.
            InvalidOrderError: the rule set allows no such table, or a strength is unknown.

        """
        allowed = rule_set(self.rule_set).seats
        if self.seats not in allowed:
            raise InvalidOrderError(f"{self.rule_set} is played with {allowed} seats")
        unknown = [strength for strength in self.strengths if strength not in STRENGTHS]
        if unknown or not self.strengths:
            raise InvalidOrderError(f"no such strength {unknown}: there are {list(STRENGTHS)}")
        if self.matches < 0:
            raise InvalidOrderError("a number of matches is not negative")


class InvalidOrderError(ValueError):
    """Nothing like this can be simulated."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a simulation. CPU time is that of playing, decisions of the bots included.

    Attributes:
        rounds_mean: rounds of a match, on average.
        dice_moves, events: of all matches.
        cpu_seconds: summed over processes, the making of hashes and exports left out.
        wins_by_seat: matches that each seat has won; in Teams every winner counts.
        ended_by: how many matches ended for each reason.
        final_hash: SHA-256 over the hash of each match's final state, in their order, in hex.

    """

    matches: int
    rounds_mean: float
    dice_moves: int
    events: int
    cpu_seconds: float
    moves_per_cpu_s: int
    matches_per_cpu_s: float
    wins_by_seat: list[int]
    ended_by: dict[str, int]
    final_hash: str


def simulate(
    order: Order, jobs: int = 1, on_progress: Callable[[int], None] = lambda _: None
) -> Outcome:
    """Play all matches of *order* in *jobs* processes, telling how many more have ended.

    But for the CPU time, equal orders have equal outcomes, exports included, whatever *jobs* is.

    Raises:
        BrokenPlayError: a match could not be played to its end.
        BrokenInvariantError: a check failed.
        OSError: the folder to keep exports in is not empty (then nothing is played), or nothing
            can be written there.

    """
    if order.keep is not None:
        write_key(order.keep, simulation_key(order.seed))
    size = max(1, min(CHUNK_MOST, order.matches // (4 * jobs)))
    chunks = [
        range(start, min(start + size, order.matches)) for start in range(0, order.matches, size)
    ]
    total = _Tally()
    for tally in _play_chunks(order, chunks, jobs):
        total.add(tally)
        on_progress(len(tally.hashes))
    return total.outcome(order.seats)


@dataclass(slots=True)
class _Tally:
    """The counts of some matches."""

    rounds: int = 0
    dice_moves: int = 0
    events: int = 0
    cpu_s: float = 0.0
    wins: Counter[int] = field(default_factory=Counter)
    ended_by: Counter[str] = field(default_factory=Counter)
    hashes: list[bytes] = field(default_factory=list)

    def add(self, other: "_Tally") -> None:
        """Count the matches of *other* too; they come after."""
        self.rounds += other.rounds
        self.dice_moves += other.dice_moves
        self.events += other.events
        self.cpu_s += other.cpu_s
        self.wins += other.wins
        self.ended_by += other.ended_by
        self.hashes += other.hashes

    def outcome(self, seats: int) -> Outcome:
        """Return the sums and the means."""
        matches, cpu_s = len(self.hashes), max(self.cpu_s, 1e-9)
        return Outcome(
            matches=matches,
            rounds_mean=round(self.rounds / max(matches, 1), 2),
            dice_moves=self.dice_moves,
            events=self.events,
            cpu_seconds=round(cpu_s, 3),
            moves_per_cpu_s=round(self.dice_moves / cpu_s),
            matches_per_cpu_s=round(matches / cpu_s, 2),
            wins_by_seat=[self.wins[seat] for seat in range(seats)],
            ended_by=dict(sorted(self.ended_by.items())),
            final_hash=sha256(b"".join(self.hashes)).hexdigest(),
        )


def _play_chunks(order: Order, chunks: Sequence[range], jobs: int) -> Iterator[_Tally]:
    """Play chunks of matches and yield their tallies in order."""
    play = partial(_play_chunk, order)
    if jobs == 1 or len(chunks) <= 1:
        yield from map(play, chunks)
        return
    # Spawned, not forked: the same on every platform, and nothing of the parent comes along.
    spawn = get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=_end_without_a_word) as pool:
        with _deaf():
            futures = [pool.submit(play, chunk) for chunk in chunks]
        try:
            for future in futures:
                yield future.result()
        except (Exception, GeneratorExit):
            # Not after Ctrl+C, which ends the processes: the pool stumbles over what is both.
            for future in futures:
                future.cancel()
            raise


@contextmanager
def _deaf() -> Iterator[None]:
    """Hear Ctrl+C later, and have processes that begin meanwhile hear it once they are ready.

    One that is told while it still imports would say so at length.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_without_a_word() -> None:
    """Let Ctrl+C end this process, even one that came before now."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _play_chunk(order: Order, numbers: Iterable[int]) -> _Tally:
    tally = _Tally()
    for number in numbers:
        _play_one(order, number, tally)
    return tally


def _play_one(order: Order, number: int, tally: _Tally) -> None:
    setup = set_up(order.rule_set, order.seats, order.seed, number, order.strengths)
    recording = Recording(setup) if order.keep is not None else None
    auditor = Auditor() if order.check else None
    onlookers = _Onlookers([watch for watch in (recording, auditor) if watch is not None])
    started = process_time()
    try:
        played = run_match(setup, onlookers if onlookers.watches else None)
    except BrokenInvariantError as error:
        error.add_note(f"in match {number} of {order}")
        raise
    tally.cpu_s += process_time() - started - onlookers.cpu_s
    if order.keep is not None and recording is not None:
        data = recording.export(simulation_key(order.seed))
        write_whole(export_path(order.keep, number), data)
    match = played.match
    tally.rounds += match.round
    tally.dice_moves += played.dice_moves
    tally.events += match.sequence
    tally.wins.update(match.winners)
    tally.ended_by[played.ended_by] += 1
    tally.hashes.append(state_hash(match))


class _Onlookers:
    """Several watches as one, and the CPU time that is theirs and not the game's."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self.watches = watches
        self.cpu_s = 0.0

    def __call__(
        self, match: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]
    ) -> None:
        started = process_time()
        for watch in self.watches:
            watch(match, command, at_ms, events)
        self.cpu_s += process_time() - started
