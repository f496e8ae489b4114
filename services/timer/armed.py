"""The deadlines that are armed, in the order in which they fire. Pure: it is told the time.

Nothing here has to be right for a match to be right: a deadline that is fired twice, or that is
stale, does nothing at the engine (T1, T4). It has to be complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from libs.kernel.ids import MatchId

LEARNED_MS: Final = 2_000
"""What was learned behind the time is fired so much later: more may follow that says otherwise."""

_SLACK: Final = 1_024
"""So many entries may be dead before the heap is made anew."""


class Told(NamedTuple):
    """A deadline as it is told: its name, and when it is fired, in ms, its grace included."""

    deadline_id: str
    fire_ms: int


@dataclass(slots=True, eq=False)
class Shot:
    """A deadline of a match, to be fired until it is done or stale.

    Attributes:
        match_id, deadline_id: which.
        fire_ms: when it was to be fired first.
        place: its place among those of its match; at the same moment the lower goes first.
        attempts: how often it was fired in vain, or could not be.
        is_open: whether it is armed still. For `Armed`, like the next.
        ticket: which of the heap's entries is the shot's; 0 while it is out.

    """

    match_id: MatchId
    deadline_id: str
    fire_ms: int
    place: int
    attempts: int = 0
    is_open: bool = True
    ticket: int = 0


class Armed:
    """What is armed, by match. A shot that was taken is out until it is put back or forgotten."""

    def __init__(self) -> None:
        self._matches: dict[MatchId, tuple[int, dict[str, Shot]]] = {}
        # When, its place, and a number that nothing else has: a shot is only where its ticket says.
        self._heap: list[tuple[int, int, int, Shot]] = []
        self._tickets = 0
        self._count = 0

    def __len__(self) -> int:
        """Count the deadlines that are armed, those that are out included."""
        return self._count

    def arm(self, match_id: MatchId, sequence: int, deadlines: Sequence[Told]) -> None:
        """Let *deadlines* be all of the match as of *sequence*; nothing if a later one is known."""
        if sequence >= self._sequence(match_id):
            self._replace(match_id, sequence, deadlines, not_before_ms=0)

    def learn(
        self, match_id: MatchId, sequence: int, deadlines: Sequence[Told], now_ms: int
    ) -> None:
        """Take what a match's records say, which may be more than is open; see `arm`.

        What was armed as of the same sequence is better. What is new here and is reached already
        waits a little for the records that follow.
        """
        if sequence > self._sequence(match_id):
            self._replace(match_id, sequence, deadlines, not_before_ms=now_ms + LEARNED_MS)

    def next_ms(self) -> int | None:
        """Return when something is to be fired next; None if there is nothing."""
        self._drop_dead()
        return self._heap[0][0] if self._heap else None

    def take_due(self, now_ms: int, count: int) -> list[Shot]:
        """Take out what is due, in order, at most so many."""
        taken: list[Shot] = []
        while len(taken) < count:
            self._drop_dead()
            if not self._heap or self._heap[0][0] > now_ms:
                break
            shot = heappop(self._heap)[-1]
            shot.ticket = 0
            taken.append(shot)
        return taken

    def put_back(self, shot: Shot, at_ms: int) -> None:
        """Have a shot fired again at *at_ms*, or later where it was moved meanwhile."""
        if shot.is_open:
            self._push(shot, max(at_ms, shot.fire_ms))

    def put_off(self, shot: Shot, due_ms: int) -> None:
        """Have a shot fired at *due_ms*, since it was set for later than was told here."""
        shot.fire_ms = max(shot.fire_ms, due_ms)
        self.put_back(shot, due_ms)

    def forget(self, shot: Shot) -> None:
        """Never fire a shot again, unless it is told anew."""
        if not shot.is_open:
            return
        self._close(shot)
        _, shots = self._matches[shot.match_id]
        del shots[shot.deadline_id]
        if not shots:
            del self._matches[shot.match_id]

    def forget_match(self, match_id: MatchId) -> None:
        """Forget all of a match: there is no such match."""
        for shot in self._matches.pop(match_id, (0, {}))[1].values():
            self._close(shot)

    def _sequence(self, match_id: MatchId) -> int:
        return self._matches[match_id][0] if match_id in self._matches else 0

    def _replace(
        self, match_id: MatchId, sequence: int, deadlines: Sequence[Told], *, not_before_ms: int
    ) -> None:
        _, before = self._matches.pop(match_id, (0, {}))
        shots: dict[str, Shot] = {}
        for place, (deadline_id, fire_ms) in enumerate(deadlines):
            shot = before.pop(deadline_id, None)
            if shot is None:
                shot = Shot(match_id, deadline_id, fire_ms, place)
                self._count += 1
                self._push(shot, max(fire_ms, not_before_ms))
            else:
                self._move(shot, fire_ms, place)
            shots[deadline_id] = shot
        for shot in before.values():
            self._close(shot)
        if shots:
            self._matches[match_id] = sequence, shots

    def _move(self, shot: Shot, fire_ms: int, place: int) -> None:
        """Take over what is told of a shot that is known; one that is out stays out."""
        shot.place = place
        if shot.fire_ms == fire_ms:
            return
        shot.fire_ms = fire_ms
        if shot.ticket:
            self._push(shot, fire_ms)

    def _push(self, shot: Shot, at_ms: int) -> None:
        self._tickets += 1
        shot.ticket = self._tickets
        heappush(self._heap, (at_ms, shot.place, shot.ticket, shot))
        if len(self._heap) > 2 * self._count + _SLACK:
            self._heap = [entry for entry in self._heap if entry[2] == entry[3].ticket]
            heapify(self._heap)

    def _close(self, shot: Shot) -> None:
        shot.is_open = False
        shot.ticket = 0
        self._count -= 1

    def _drop_dead(self) -> None:
        while self._heap and self._heap[0][2] != self._heap[0][3].ticket:
            heappop(self._heap)
