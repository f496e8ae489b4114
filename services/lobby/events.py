"""What can happen in a room. Facts in full: whoever reads one needs no rules."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from libs.rules.events import SeatSpec

USUAL_BOT: Final = "steady"
"""The bot that is seated where nobody has said which."""


class Watching(StrEnum):
    """Who may watch a match, beside those who sit in it."""

    EVERYBODY = "everybody"
    INVITED = "invited"
    SEATS = "seats"


class ClosedWhy(StrEnum):
    """Why a room ended without a match."""

    EMPTY = "empty"
    IDLE = "idle"
    MATCH_NOT_MADE = "match_not_made"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCreated:
    """A room was made, with a number of seats that stays as it is.

    Attributes:
        rule_set: the rule set of its match.
        seat_count: how many seats.
        is_listed: whether everybody sees it.
        creator: who made it; empty for a quick match.
        watching: who may watch the match.
        bot_strength: the bot that is seated where nobody says which.
        fill_ms: when bots fill it; None but for a quick match.
        rematch_of: the room whose people play again; empty if they don't.

    """

    rule_set: str
    seat_count: int
    is_listed: bool
    creator: str
    watching: Watching = Watching.EVERYBODY
    bot_strength: str = USUAL_BOT
    fill_ms: int | None = None
    rematch_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTaken:
    """A person sat down."""

    seat: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatLeft:
    """A person or a bot got up."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatChanged:
    """A person or a bot went to another seat."""

    from_seat: int
    to_seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonKicked:
    """A person was told to go, and stays out."""

    seat: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestAdmitted:
    """A person was invited, and has taken the invitation."""

    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSeated:
    """A bot was seated."""

    seat: int
    strength: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadySet:
    """A person said whether they are ready."""

    seat: int
    is_ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatorReplaced:
    """Another person became the creator."""

    creator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStarting:
    """The match is to be made, whatever crashes: *seats* are the match's own."""

    match_id: str
    seats: tuple[SeatSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchMade:
    """The match is there."""

    match_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomClosed:
    """The room ended without a match."""

    why: ClosedWhy = ClosedWhy.EMPTY


Event = (
    RoomCreated
    | SeatTaken
    | SeatLeft
    | SeatChanged
    | PersonKicked
    | GuestAdmitted
    | BotSeated
    | ReadySet
    | CreatorReplaced
    | MatchStarting
    | MatchMade
    | RoomClosed
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One accepted command and what it did to its room.

    Attributes:
        room_id: the room.
        sequence: its number in the room, from 1 without a gap.
        command_id: the command, once in a room.
        actor: who sent it: `player:` and a player id, or `system`.
        at_ms: when, in milliseconds since 1970 UTC.
        events: what happened, the cause first.

    """

    room_id: str
    sequence: int
    command_id: str
    actor: str
    at_ms: int
    events: tuple[Event, ...]
