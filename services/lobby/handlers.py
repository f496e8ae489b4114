"""Carries out what is asked of rooms: each command once, in one order for each room."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Generic, TypeVar

from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId, derived_command_id, fresh_id
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.telemetry import metrics, names
from libs.wire.record import SYSTEM
from services.lobby import commands as c
from services.lobby.events import Record
from services.lobby.ports import Matches, RaceLostError, Rooms, Table
from services.lobby.releasing import Releasing
from services.lobby.room import Room, apply
from services.lobby.rooms import decide, refuse_unseen

ATTEMPTS: Final = 5
"""How often a command is decided anew after a lost race (start). One more try nearly always ends
it: who was faster is then seen."""

_COMMANDS: Final = metrics.counter(names.LOBBY_COMMANDS)


_Outcome = tuple[Room | Refusal, str]
"""What became of a command, and the word for it in metrics."""

Hold = Callable[[], AbstractAsyncContextManager[Table]]
"""Holds a room, each time the one that is meant then."""

C_co = TypeVar("C_co", bound=c.Command, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[C_co]):
    """A command on its way.

    Attributes:
        command: what is asked.
        command_id: its id; the same again changes nothing and has the same reply.
        actor: who asks, as records have it.
        request_hash: of all that is asked, to tell a repeat from another command.
        expected: the sequence that the caller saw, if they care.
        sees_all: whether an operator asks, from whom no room is hidden.

    """

    command: C_co
    command_id: str
    actor: str
    request_hash: bytes
    expected: int | None = None
    sees_all: bool = False


Own = TypeVar("Own", bound=c.OwnCommand)


def own(command: Own, what: str, about: str, *, expected: int | None = None) -> Asked[Own]:
    """Return a command of the lobby's own: *what* is done once *about* a room, or a match.

    Whichever replica gives it, and however often, it is the same command.
    """
    return Asked(
        command=command,
        # Rooms have ids of the same kind as matches, and no room has a match's.
        command_id=derived_command_id(MatchId(about), what),
        actor=SYSTEM,
        request_hash=sha256(f"{what}:{about}".encode()).digest(),
        expected=expected,
    )


class Handlers:
    """The commands of rooms."""

    def __init__(
        self, rooms: Rooms, matches: Matches, clock: Clock, on_record: Callable[[], None]
    ) -> None:
        """Keep *rooms*; *on_record* is called after each record, which the event log lacks.

        *matches* tell who is out of one before its records do.
        """
        self._rooms = rooms
        self._releasing = Releasing(rooms, matches)
        self._clock = clock
        self._on_record = on_record

    async def change_held(self, hold: Hold, asked: Asked[c.Command]) -> Room | Refusal:
        """Carry out a command in whichever room *hold* holds, or makes. See `change`."""
        return await self._until_won(asked, hold)

    async def create(self, asked: Asked[c.Command]) -> Room | Refusal:
        """Make a room. See `change`."""

        async def find() -> str:
            return await self._made_by(asked) or fresh_id(self._clock.now_ms())

        outcome = await self._until_won(asked, self._holding(find))
        if isinstance(outcome, Refusal) and await self._made_by(asked) is not None:
            # Sent twice at once: what binds the caller may be the room that the other one made.
            return await self._until_won(asked, self._holding(find))
        return outcome

    async def change(self, room_id: str, asked: Asked[c.Command]) -> Room | Refusal:
        """Carry out a command; returns the room as the command left it, or why it may not be.

        Durable when it returns. A command that was accepted before changes nothing and returns the
        same; one that was refused is decided anew.

        Raises:
            CardsUnknownError: see `decide`.
            StoreUnavailableError: it may be carried out or not; the same is asked again.

        """
        return await self._until_won(asked, lambda: self._rooms.hold(room_id))

    async def rematch(self, asked: Asked[c.Rematch]) -> Room | Refusal:
        """Seat whoever asks in the room that waits for those of a match, or in a new one."""
        played = asked.command.played.room_id

        async def find() -> str:
            found = await self._rooms.find_rematch(played, asked.actor, asked.command_id)
            return found or fresh_id(self._clock.now_ms())

        for _ in range(ATTEMPTS):
            outcome = await self._until_won(asked, self._holding(find))
            if not isinstance(outcome, Refusal) or outcome.reason is not Reason.ROOM_CLOSED:
                return outcome
            # It waited when it was found, and does no more: there is another one, or none.
        return Refusal(Reason.OVERLOADED, "")

    async def _made_by(self, asked: Asked[c.Command]) -> str | None:
        return await self._rooms.find_creation(asked.actor, asked.command_id)

    def _holding(self, find: Callable[[], Awaitable[str]]) -> Hold:
        """Return what holds the room that is found then."""

        @asynccontextmanager
        async def hold() -> AsyncIterator[Table]:
            async with self._rooms.hold(await find()) as table:
                yield table

        return hold

    async def _until_won(self, asked: Asked[c.Command], hold: Hold) -> Room | Refusal:
        for _ in range(ATTEMPTS):
            try:
                async with hold() as table:
                    outcome, word = await self._on(table, asked)
            except RaceLostError:
                continue
            if isinstance(outcome, Refusal) and await self._releasing.release(
                asked.command, outcome
            ):
                continue
            _COMMANDS.labels(_kind(asked.command), word).inc()
            if word == "accepted":
                self._on_record()
            return outcome
        return Refusal(Reason.OVERLOADED, "")

    async def _on(self, table: Table, asked: Asked[c.Command]) -> _Outcome:
        known = await table.find_command(asked.command_id)
        # Before the rules: whoever repeats what they left by has no seat any more (W3).
        if known is not None:
            if known.request_hash != asked.request_hash:
                return _reused(table.room, asked), "refused"
            return await table.room_at(known.sequence), "repeated"
        now_ms = self._clock.now_ms()
        room = table.room
        bound = None
        if room is None and isinstance(asked.command, c.CreateRoom | c.Rematch | c.QuickMatch):
            room = Room(room_id=table.room_id, created_ms=now_ms)
        if room is None:
            return Refusal(Reason.ROOM_NOT_FOUND, ""), "refused"
        if isinstance(asked.command, c.SeatingCommand):
            bound = await table.bound(asked.command.player)
        decision = decide(
            room, asked.command, expected=asked.expected, bound=bound, sees_all=asked.sees_all
        )
        if isinstance(decision, Refusal):
            return decision, "refused"
        if not decision:
            return room, "repeated"
        record = Record(
            room_id=room.room_id,
            sequence=room.sequence + 1,
            command_id=asked.command_id,
            actor=asked.actor,
            at_ms=now_ms,
            events=decision,
        )
        after = apply(room, record)
        await table.write(record, after, asked.request_hash)
        return after, "accepted"


def _reused(room: Room | None, asked: Asked[c.Command]) -> Refusal:
    """Return what is told of an id that stands for another command, to whoever may know of it."""
    unseen = room and refuse_unseen(room, asked.command, sees_all=asked.sees_all)
    return unseen or Refusal(Reason.COMMAND_ID_REUSED, "")


def _kind(command: c.Command) -> str:
    return type(command).__name__
