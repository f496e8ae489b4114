"""What the lobby asks of its store and of its neighbours."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.events import SeatSpec
from libs.store.ports import StoreUnavailableError
from services.lobby.commands import Cards
from services.lobby.events import Record, Watching
from services.lobby.room import Room
from services.lobby.seating import Binding


class RaceLostError(Exception):
    """Somebody else wrote first what only one can have; nothing was written. Decide anew."""


class NeighbourError(Exception):
    """Another service did not do what it was asked. Its text is a stable reason or a gRPC code."""


def reason_of(error: NeighbourError | StoreUnavailableError) -> str:
    """Return why a try had to end, as it is logged: a stable reason or a gRPC code."""
    return str(error) if isinstance(error, NeighbourError) else Reason.STORE_UNAVAILABLE


class Known(NamedTuple):
    """A command that was accepted: as which record of its room, and what it asked for."""

    sequence: int
    request_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchPlan:
    """A match that is to be made, exactly so; *guests* are who may watch where that is asked."""

    room_id: str
    match_id: MatchId
    rule_set: str
    seats: tuple[SeatSpec, ...]
    watching: Watching
    guests: frozenset[str]


class Invite(NamedTuple):
    """An invitation to a room, for whoever has its *code*, which nobody else must see."""

    room_id: str
    code: str
    expire_ms: int


class KnownInvite(NamedTuple):
    """An invitation that was made, and what was asked for."""

    invite: Invite
    request_hash: bytes


class Idle(NamedTuple):
    """A waiting room in which nothing has happened for long, as it was then."""

    room_id: str
    sequence: int


class Admission(NamedTuple):
    """A guest whom the owner of a match is to let in."""

    match_id: MatchId
    player_id: str


class Table(Protocol):
    """One room while nobody else can change it; what is written is kept when it is let go of.

    Attributes:
        room_id: the room.
        room: the room as it is; None if there is none.

    """

    room_id: str
    room: Room | None

    async def find_command(self, command_id: str) -> Known | None:
        """Return what is known of a command of this room, if it was accepted."""
        ...

    async def room_at(self, sequence: int) -> Room:
        """Return the room as it was after that record."""
        ...

    async def bound(self, player: str) -> Binding | None:
        """Return where a person sits now, if anywhere."""
        ...

    async def write(self, record: Record, after: Room, request_hash: bytes) -> None:
        """Add *record*, after which the room is *after*; whom it seats is bound, the others freed.

        All of it or nothing, and the record will come into the event log. A guest of a match that
        is being made or goes on is to be admitted there from then on.

        Raises:
            RaceLostError: the room, its making or one of its people is taken.

        """
        ...


class InviteTable(Table, Protocol):
    """A room in which invitations are made."""

    async def find_invite(self, command_id: str) -> KnownInvite | None:
        """Return the invitation that was made by a command."""
        ...

    async def count_invites(self, now_ms: int) -> int:
        """Return how many are of use still."""
        ...

    async def add_invite(self, invite: Invite, command_id: str, request_hash: bytes) -> None:
        """Add an invitation."""
        ...


class Rooms(Protocol):
    """Keeps rooms: what happened in each, and where it has come to."""

    def hold(self, room_id: str) -> AbstractAsyncContextManager[InviteTable]:
        """Hold a room, or the id of a new one; whoever else wants to waits."""
        ...

    async def find(self, room_id: str) -> Room | None:
        """Return a room as it is."""
        ...

    async def find_creation(self, actor: str, command_id: str) -> str | None:
        """Return the room that *actor* made by that command."""
        ...

    async def find_rematch(self, played: str, actor: str, command_id: str) -> str | None:
        """Return where *actor* sat down by that command to play again with those of *played*.

        If that is nowhere, the room in which they wait.
        """
        ...

    async def release(self, player: str, match_id: str) -> None:
        """Free a person from a match, if it is what binds them."""
        ...

    async def idle(self, *, before_ms: int, limit: int) -> Sequence[Idle]:
        """Return rooms that wait and were not changed since then, the longest first."""
        ...

    async def find_invite(self, code: str) -> Invite | None:
        """Return an invitation, of use or not."""
        ...

    async def forget_invites(self, *, before_ms: int) -> None:
        """Forget the invitations that were of no use by then."""
        ...

    async def admissions(self, *, limit: int) -> Sequence[Admission]:
        """Return guests who are to be admitted to a match that is there."""
        ...

    async def admitted(self, admission: Admission) -> None:
        """Note that a guest is let in, or never will be."""
        ...

    async def listed(self, *, rule_set: str, before: str | None, limit: int) -> Sequence[Room]:
        """Return waiting rooms that everybody sees, the newest first, those older than *before*."""
        ...

    async def plan(self, room_id: str) -> MatchPlan | None:
        """Return the match that a room in `State.STARTING` is to become."""
        ...

    async def starting(self, *, limit: int) -> Sequence[str]:
        """Return rooms in `State.STARTING`, the oldest first."""
        ...


class Player(NamedTuple):
    """A person, as others see one."""

    player_id: str
    display_name: str


class Players(Protocol):
    """Knows which person a token's subject is."""

    async def resolve(self, issuer: str, subject: str, new: Player, at_ms: int) -> Player:
        """Return the player of a subject, who becomes *new* if there is none.

        Of concurrent first calls one decides, and all return the same.
        """
        ...

    async def rename(self, player: Player) -> bool:
        """Give a person another name; False if there is nobody of that id."""
        ...

    async def names(self, players: Collection[str]) -> Mapping[str, str]:
        """Return the display names of those that are known, by player id."""
        ...


class Matches(Protocol):
    """The engines."""

    async def create(self, plan: MatchPlan) -> None:
        """Make a match; to make it again is nothing.

        Raises:
            NeighbourError: it is not there, or nobody can say.

        """
        ...

    async def binds(self, match_id: MatchId, player: str) -> bool:
        """Tell whether *player* still has a living seat in a match that can go on.

        Raises:
            NeighbourError: MATCH_NOT_FOUND, there is no such match; or nobody can say.

        """
        ...

    async def admit(self, admission: Admission) -> None:
        """Let a guest see a match; to do so again is nothing.

        Raises:
            NeighbourError: as of `binds`.

        """
        ...


class Bots(Protocol):
    """The bot runner."""

    async def seat(self, plan: MatchPlan) -> None:
        """Have bots play their seats of a match; again is nothing.

        Raises:
            NeighbourError: nobody heard it.

        """
        ...


class Collections(Protocol):
    """What people have collected."""

    async def best_cards(self, player: str) -> Cards:
        """Return somebody's best card for each square that they have one of, by square.

        Raises:
            NeighbourError: nobody can say.

        """
        ...
