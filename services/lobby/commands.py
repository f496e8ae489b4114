"""What can be asked of a room. Complete: deciding needs the room, and who is bound where."""

from collections.abc import Mapping
from dataclasses import dataclass

Cards = tuple[tuple[int, str], ...]
"""A person's best collection cards, as (square, rarity) by square (RENT-6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRoom:
    """Make a room, and sit down on its seat 0 as its creator."""

    player: str
    rule_set: str
    seat_count: int
    is_listed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRoom:
    """Sit down on a seat, the first empty one for None; who sat in the room gets up for it."""

    player: str
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveRoom:
    """Get up and go."""

    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBot:
    """Seat a bot, on the first empty seat for None."""

    player: str
    strength: str
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReady:
    """Say whether one is ready."""

    player: str
    is_ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StartMatch:
    """Start the match of those who sit here, under an id that was chosen for it.

    *cards* are those of every person who sits here, by player; None where cards do not matter.
    """

    player: str
    match_id: str
    cards: Mapping[str, Cards] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMade:
    """The match is there. The lobby's own."""

    match_id: str


Command = CreateRoom | JoinRoom | LeaveRoom | AddBot | SetReady | StartMatch | ReportMade
