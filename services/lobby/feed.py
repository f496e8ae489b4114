"""What happens in rooms, for those who watch: one look at the store serves all of a process.

The store is the truth, and is asked which rooms have changed: some times a second, and at once
when something was done here. Which replica did it makes no difference. While nobody watches nobody
looks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, NoReturn, Protocol

from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import room_pb2 as pb
from services.lobby.room import Room, State
from services.lobby.watchers import Shown, Watcher

ROOMS_MAX: Final = 1_000
"""How many rooms of the list are followed, the newest. The proto says so."""

CHANGES_MAX: Final = 500
"""How many changed rooms one look takes; where there are more, all is read anew (start)."""

FIRST_LOOK_S: Final = 5.0
"""How long whoever begins to watch waits for the store (start)."""

Show = Callable[[Sequence[Room]], Awaitable[Sequence[pb.Room]]]
"""Writes rooms as everybody sees them."""


class Changed(NamedTuple):
    """Rooms that changed, as they are now, and where the next look begins."""

    rooms: Sequence[Room]
    cursor: int


class Changes(Protocol):
    """What the store tells of rooms."""

    async def cursor(self) -> int:
        """Return where a look begins that misses nothing that is not committed by now."""
        ...

    async def changed(self, cursor: int, *, limit: int) -> Changed:
        """Return what has changed since a look that ended at *cursor*, at most *limit* rooms.

        None is missed, however long its transaction took; some come again.
        """
        ...

    async def find_all(self, room_ids: Sequence[str]) -> Sequence[Room]:
        """Return those of these rooms that there are."""
        ...

    async def listed(self, *, rule_set: str, before: str | None, limit: int) -> Sequence[Room]:
        """See `Rooms.listed`."""
        ...


class RoomFeed:
    """Follows the list of rooms, and single ones, for the watchers of a process."""

    def __init__(  # noqa: PLR0913 - what it asks, and its bounds
        self,
        changes: Changes,
        show: Show,
        *,
        look_s: float,
        rooms_max: int = ROOMS_MAX,
        changes_max: int = CHANGES_MAX,
        first_look_s: float = FIRST_LOOK_S,
    ) -> None:
        """Look every *look_s* seconds for what other replicas did."""
        self._changes = changes
        self._show = show
        self._look_s = look_s
        self._rooms_max = rooms_max
        self._changes_max = changes_max
        self._first_look_s = first_look_s
        self._bell = asyncio.Event()
        self._cursor: int | None = None
        self._list: dict[str, Shown] = {}
        self._of_list: list[Watcher] = []
        self._of_room: dict[str, list[Watcher]] = {}
        # Of single rooms, up to which sequence they were told.
        self._told: dict[str, int] = {}
        self._lookers: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Say that something was done here."""
        self._bell.set()

    async def run(self) -> NoReturn:
        """Look until cancelled.

        Raises:
            StoreUnavailableError: nothing is lost; begin again.

        """
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._look_s if self._has_watchers else None):
                    await self._bell.wait()
            self._bell.clear()
            if self._has_watchers:
                await self._look()
            else:
                self._cursor = None
                self._list.clear()

    @contextmanager
    def list_watched(self, wants: Callable[[Room], bool]) -> Iterator[Watcher]:
        """Have a watcher of the list. It is told `listed` first, after a `look`, then its news."""
        watcher = Watcher(wants, is_behind=True)
        self._of_list.append(watcher)
        try:
            yield watcher
        finally:
            self._of_list.remove(watcher)

    @contextmanager
    def room_watched(self, room_id: str) -> Iterator[Watcher]:
        """Have a watcher of a room: it is told of all that the store does not have by now."""
        # Whoever has it looks by themselves how the room is now.
        watcher = Watcher(lambda _: True, is_behind=False)
        watchers = self._of_room.setdefault(room_id, [])
        watchers.append(watcher)
        self.ring()
        try:
            yield watcher
        finally:
            watchers.remove(watcher)
            if not watchers:
                del self._of_room[room_id]
                self._told.pop(room_id, None)

    async def look(self) -> None:
        """Return once the list is as it is at this moment, or later.

        Raises:
            RefusedError: STORE_UNAVAILABLE.

        """
        looker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lookers.append(looker)
        self.ring()
        try:
            async with asyncio.timeout(self._first_look_s):
                await looker
        except TimeoutError:
            raise refused(Reason.STORE_UNAVAILABLE) from None

    def listed(self, wants: Callable[[Room], bool]) -> Sequence[pb.Room]:
        """Return the rooms of the list that are wanted, the newest first."""
        newest_first = (self._list[room_id] for room_id in sorted(self._list, reverse=True))
        return [shown.message for shown in newest_first if wants(shown.room)]

    @property
    def _has_watchers(self) -> bool:
        return bool(self._of_list or self._of_room)

    async def _look(self) -> None:
        lookers, self._lookers = self._lookers, []
        try:
            await self._catch_up()
        except BaseException:
            self._lookers += lookers  # there is a limit to their waiting, and a next look before
            raise
        for looker in lookers:
            if not looker.done():
                looker.set_result(None)

    async def _catch_up(self) -> None:
        if self._cursor is not None:
            rooms, cursor = await self._changes.changed(self._cursor, limit=self._changes_max)
            if len(rooms) < self._changes_max:
                await self._tell(rooms)
                self._cursor = cursor
                return
        # First, so that whatever is committed meanwhile is seen by the next look.
        cursor = await self._changes.cursor()
        await self._tell(await self._changes.find_all(list(self._of_room)))
        await self._read_list()
        self._cursor = cursor

    async def _read_list(self) -> None:
        rooms = await self._changes.listed(rule_set="", before=None, limit=self._rooms_max)
        here = {room.room_id for room in rooms}
        await self._tell(rooms)
        for room_id in [known for known in self._list if known not in here]:
            self._take_off(room_id)

    async def _tell(self, rooms: Iterable[Room]) -> None:
        """Tell of those rooms that somebody follows and was not told of."""
        was_full = self._is_full
        news = sorted(filter(self._is_news, rooms), key=lambda room: room.room_id)
        messages = await self._show(news) if news else ()
        for shown in map(Shown, news, messages):
            room_id = shown.room.room_id
            for watcher in self._of_room.get(room_id, ()):
                self._told[room_id] = shown.room.sequence
                watcher.offer(shown)
            # Whoever begins to follow a single room is not why all others are told of it again.
            if not self._is_list_news(shown.room):
                continue
            if is_in_list(shown.room):
                self._put_on(shown)
            else:
                self._take_off(room_id)
        if was_full and not self._is_full:
            await self._read_list()  # there may be older ones, for which there was no room

    def _is_news(self, room: Room) -> bool:
        is_followed = room.room_id in self._of_room
        if is_followed and self._told.get(room.room_id, 0) < room.sequence:
            return True
        return self._is_list_news(room)

    def _is_list_news(self, room: Room) -> bool:
        known = self._list.get(room.room_id)
        if known is not None:
            return known.room.sequence < room.sequence
        is_too_old = self._is_full and room.room_id < min(self._list)
        return is_in_list(room) and not is_too_old

    @property
    def _is_full(self) -> bool:
        return len(self._list) >= self._rooms_max

    def _put_on(self, shown: Shown) -> None:
        self._list[shown.room.room_id] = shown
        for watcher in self._of_list:
            watcher.offer(shown)
        if len(self._list) > self._rooms_max:
            self._take_off(min(self._list))

    def _take_off(self, room_id: str) -> None:
        shown = self._list.pop(room_id, None)
        if shown is not None:
            for watcher in self._of_list:
                watcher.gone(shown.room)


def is_in_list(room: Room) -> bool:
    """Tell whether a room is among those that everybody sees."""
    return room.is_listed and room.state is State.WAITING
