"""Which matches people played, and how those went."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId
from libs.rules.events import SeatSpec


class Outcome(StrEnum):
    """How a match went for somebody."""

    PLAYING = "playing"
    LOST = "lost"
    WON = "won"
    ABORTED = "aborted"


class Fate(NamedTuple):
    """How a match ended for a seat: *place* from 1."""

    seat: int
    outcome: Outcome
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A match of somebody's.

    Attributes:
        match_id, room_id: the match, and the room that it came from.
        rule_set: its rule set.
        seat: theirs.
        seats: everybody's, by number.
        outcome: how it went for them.
        place: theirs at the end; None until there is one.
        started_ms: when it was started.
        ended_ms: when they were out of it, or it was over; None until then.

    """

    match_id: str
    room_id: str
    rule_set: str
    seat: int
    seats: tuple[SeatSpec, ...]
    outcome: Outcome
    place: int | None
    started_ms: int
    ended_ms: int | None


class History(Protocol):
    """The matches of everybody."""

    async def of(self, player: str, *, before: str | None, limit: int) -> Sequence[Played]:
        """Return matches of a person, the latest first, those older than the match *before*."""
        ...


class Outcomes(Protocol):
    """What the records of matches do here: who is free (SETUP-2), and how it went (R1, R2).

    Each of these that takes a position is one transaction, and nothing if it comes again.
    """

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match's records are read; `Position()` if not at all."""
        ...

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Note that the records up to there are read and do nothing here. Never moves back."""
        ...

    async def put_out(
        self, match_id: MatchId, seats: Collection[int], at_ms: int, position: Position
    ) -> None:
        """Free the people on *seats*, who have lost while the others play on."""
        ...

    async def end(
        self, match_id: MatchId, fates: Sequence[Fate], at_ms: int, position: Position
    ) -> None:
        """Free everybody, and note how it ended for each, whatever was noted before."""
        ...

    async def abort(self, match_id: MatchId, at_ms: int, position: Position) -> None:
        """Free everybody; for those who played still, it was aborted."""
        ...

    async def forget(self, match_id: MatchId) -> None:
        """Forget how far the records of a match are read."""
        ...
