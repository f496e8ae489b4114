"""One client that watches rooms: what is still to be told to it, within bounds."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from opolyx.lobby.v1 import room_pb2 as pb
from services.lobby.room import Room

NEWS_MAX: Final = 256
"""How many rooms may wait for one client before it is told the whole list again (start)."""


class Shown(NamedTuple):
    """A room, and what is told of it."""

    room: Room
    message: pb.Room


class Watcher:
    """What one client was not told yet: of each room the latest alone, so it may be slow.

    Attributes:
        is_behind: whether the client is to be told everything anew.

    """

    def __init__(self, wants: Callable[[Room], bool], *, is_behind: bool) -> None:
        """Take the rooms that it *wants*, by what never changes of them."""
        self._wants = wants
        self._news: dict[str, Shown | None] = {}
        self._bell = asyncio.Event()
        self.is_behind = is_behind

    def offer(self, shown: Shown) -> None:
        """Tell of a room as it is now."""
        if self._wants(shown.room):
            self._add(shown.room.room_id, shown)

    def gone(self, room: Room) -> None:
        """Tell that a room is not in the list any more."""
        if self._wants(room):
            self._add(room.room_id, None)

    async def wait(self, wait_s: float) -> bool:
        """Wait until there is something to tell; False if there was nothing for so long."""
        if not self._has_news:
            self._bell.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._bell.wait()
        return self._has_news

    def take(self) -> tuple[str, Shown | None]:
        """Take a piece of news, of which there is one: a room as it is now, None if it is gone."""
        room_id = next(iter(self._news))
        return room_id, self._news.pop(room_id)

    def catch_up(self) -> None:
        """Note that the client is told everything now, and needs news alone from here on."""
        self._news.clear()
        self.is_behind = False

    @property
    def _has_news(self) -> bool:
        return self.is_behind or bool(self._news)

    def _add(self, room_id: str, shown: Shown | None) -> None:
        if not self.is_behind:
            self._news[room_id] = shown
        if len(self._news) > NEWS_MAX:
            self._news.clear()
            self.is_behind = True
        self._bell.set()
