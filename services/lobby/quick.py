"""Quick matches: people who want the same are seated together, and bots fill what stays empty.

A quick match is a room like any other, without a creator: its people wait in it, and its start is a
command of the lobby's own, given as soon as it is full or its time has come, by any replica.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from libs.kernel.clock import Clock
from libs.kernel.ids import fresh_id
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs
from services.lobby import commands as c
from services.lobby.handlers import Asked, Handlers, own
from services.lobby.in_hand import InHand
from services.lobby.ports import NeighbourError, Table, reason_of
from services.lobby.room import Room, State
from services.lobby.starting import Starter

FILLING_MAX: Final = 100
"""How many rooms are being filled at a time (start)."""

_log: Final = logs.get()


class QuickRooms(Protocol):
    """Finds the rooms of quick matches."""

    def hold(self, asked: Asked[c.QuickMatch], new_id: str) -> AbstractAsyncContextManager[Table]:
        """Hold the room that is meant; nobody else who wants the same is seated meanwhile.

        That is where this very command has seated its sender; else the oldest that waits and has a
        free seat; else the room *new_id*, which is to be made.
        """
        ...

    async def bound_in(self, player: str) -> str | None:
        """Return the quick match that binds somebody, waiting or not."""
        ...

    async def find_command(self, asked: Asked[c.LeaveRoom]) -> str | None:
        """Return the room in which this command was accepted."""
        ...

    async def due(self, now_ms: int, *, limit: int) -> Sequence[str]:
        """Return rooms that wait and are full, or whose time has come."""
        ...


class Filler:
    """Starts quick matches, each as often as it takes."""

    def __init__(
        self, rooms: QuickRooms, starter: Starter, clock: Clock, *, again_s: float
    ) -> None:
        """Look for rooms that are to be filled every *again_s* seconds."""
        self._rooms = rooms
        self._starter = starter
        self._clock = clock
        self._again_s = again_s
        self._in_hand: InHand[str] = InHand(self._fill)

    async def run(self) -> None:
        """Fill what is due, and what others left undone, until cancelled."""
        await self._in_hand.run(
            lambda: self._rooms.due(self._clock.now_ms(), limit=FILLING_MAX), again_s=self._again_s
        )

    def fill(self, room_id: str) -> asyncio.Task[None]:
        """Begin to start a room that is full or whose time has come. If not, nothing happens."""
        return self._in_hand.begin(room_id)

    async def _fill(self, room_id: str) -> None:
        now_ms = self._clock.now_ms()
        # Whichever replica is first starts it, with the match that it has named.
        command = c.FillRoom(match_id=fresh_id(now_ms), at_ms=now_ms)
        try:
            await self._starter.fill(room_id, own(command, "fill", room_id))
        except (NeighbourError, StoreUnavailableError) as error:
            _log.warning("match_not_made", room_id=room_id, reason=reason_of(error))


class QuickMatches:
    """Has people wait for others, and wait no more."""

    def __init__(self, rooms: QuickRooms, handlers: Handlers, filler: Filler, clock: Clock) -> None:
        self._rooms = rooms
        self._handlers = handlers
        self._filler = filler
        self._clock = clock

    async def join(self, asked: Asked[c.QuickMatch]) -> Room | Refusal:
        """Seat somebody with those who want the same. See `Handlers.change`."""

        def hold() -> AbstractAsyncContextManager[Table]:
            return self._rooms.hold(asked, fresh_id(self._clock.now_ms()))

        outcome = await self._handlers.change_held(hold, asked)
        if isinstance(outcome, Room) and outcome.state is State.WAITING and not outcome.free_seats:
            self._filler.fill(outcome.room_id)
        return outcome

    async def cancel(self, asked: Asked[c.LeaveRoom]) -> Room | Refusal:
        """Have somebody wait no more. See `Handlers.change`."""
        # In this order: if this very command is carried out meanwhile, it is found as known.
        bound_in = await self._rooms.bound_in(asked.command.player)
        room_id = await self._rooms.find_command(asked) or bound_in
        if room_id is None:
            return Refusal(Reason.NOT_SEATED, "")
        return await self._handlers.change(room_id, asked)
