"""Closes waiting rooms in which nothing has happened for long, and forgets old invitations."""

import asyncio
from typing import Final

from libs.kernel.clock import Clock
from libs.rules.refusals import Refusal
from libs.telemetry import logs
from services.lobby import commands as c
from services.lobby.handlers import Handlers, own
from services.lobby.ports import Idle, Rooms

CLOSING_MAX: Final = 100
"""How many rooms are closed at a time (start)."""

INVITES_KEPT_MS: Final = 7 * 24 * 60 * 60_000
"""How long an invitation that is of no use is kept, so that a repeat of its command finds it."""

_log: Final = logs.get()


class Idling:
    """Any number of replicas may do this: the same room at the same sequence is one command."""

    def __init__(
        self, rooms: Rooms, handlers: Handlers, clock: Clock, *, idle_ms: int, look_s: float
    ) -> None:
        """Close rooms in which nothing happens for *idle_ms*; look every *look_s* seconds."""
        self._rooms = rooms
        self._handlers = handlers
        self._clock = clock
        self._idle_ms = idle_ms
        self._look_s = look_s

    async def run(self) -> None:
        """Close what is idle, until cancelled."""
        while True:
            now_ms = self._clock.now_ms()
            await self._rooms.forget_invites(before_ms=now_ms - INVITES_KEPT_MS)
            before_ms = now_ms - self._idle_ms
            for idle in await self._rooms.idle(before_ms=before_ms, limit=CLOSING_MAX):
                await self.close(idle)
            await asyncio.sleep(self._look_s)

    async def close(self, idle: Idle) -> None:
        """Close a room, unless anything has happened in it since it was seen idle."""
        what = f"idle:{idle.sequence}"
        asked = own(c.CloseIdle(), what, idle.room_id, expected=idle.sequence)
        if not isinstance(await self._handlers.change(idle.room_id, asked), Refusal):
            _log.info("room_closed_idle", room_id=idle.room_id)
