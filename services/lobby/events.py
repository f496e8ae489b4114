"""What can happen in a room. Facts in full: whoever reads one needs no rules."""

from dataclasses import dataclass

from libs.rules.events import SeatSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCreated:
    """A room was made, with a number of seats that stays as it is."""

    rule_set: str
    seat_count: int
    is_listed: bool
    creator: str


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
    """Nobody is left."""


Event = (
    RoomCreated
    | SeatTaken
    | SeatLeft
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
