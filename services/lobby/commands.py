"""What can be asked of a room. Complete: deciding needs the room, and who is bound where."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.lobby.events import USUAL_BOT, Watching
from services.lobby.room import Room

Cards = tuple[tuple[int, str], ...]
"""A person's best collection cards, as (square, rarity) by square (RENT-6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRoom:
    """Make a room, and sit down on its seat 0 as its creator."""

    player: str
    rule_set: str
    seat_count: int
    is_listed: bool
    watching: Watching = Watching.EVERYBODY
    bot_strength: str = USUAL_BOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Rematch:
    """Sit down again with those of *played*, in the room that waits for them or in a new one.

    On the seat of that time if it is free.
    """

    player: str
    played: Room


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRoom:
    """Sit down on a seat, the first empty one for None; who sat in the room gets up for it."""

    player: str
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickMatch:
    """Sit down with those who wait for the same, or begin to: bots fill that room at *fill_ms*."""

    player: str
    rule_set: str
    seat_count: int
    fill_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSeat:
    """Have whoever sits on *from_seat*, oneself for None, go to another seat."""

    player: str
    seat: int
    from_seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveRoom:
    """Get up and go."""

    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBot:
    """Seat a bot, the room's usual one for no strength, on the first empty seat for None."""

    player: str
    strength: str
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveBot:
    """Have a bot get up."""

    player: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KickSeat:
    """Have a person go for good; *target*, if that is said, is who must sit there."""

    player: str
    seat: int
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Make another person the creator."""

    player: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitGuest:
    """Take an invitation, which is of use or has expired."""

    player: str
    is_current: bool


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNotMade:
    """The match is not there and never will be. The lobby's own."""

    match_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseIdle:
    """Nothing has happened for long. The lobby's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillRoom:
    """Start a quick match at this time, bots on the seats that are empty. The lobby's own.

    *cards* are as of `StartMatch`.
    """

    match_id: str
    at_ms: int
    cards: Mapping[str, Cards] | None = None


SeatingCommand = CreateRoom | Rematch | QuickMatch | JoinRoom
"""What seats a person who may sit nowhere else by then."""

RoomCommand = (
    TakeSeat | LeaveRoom | AddBot | RemoveBot | KickSeat | HandOver | SetReady | StartMatch
)
"""What is done by somebody in a room."""

OwnCommand = FillRoom | ReportMade | ReportNotMade | CloseIdle
"""What the lobby does by itself."""

Command = SeatingCommand | RoomCommand | AdmitGuest | OwnCommand
