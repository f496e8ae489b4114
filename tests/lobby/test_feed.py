"""What changes in rooms is told to whoever follows them, and none is missed: on a real store."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from libs.chassis.background import Background
from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import room_pb2 as pb
from services.lobby import events as e
from services.lobby.changes import PostgresChanges
from services.lobby.feed import RoomFeed
from services.lobby.room import Room, apply
from services.lobby.store import HeldRoom, PostgresRooms
from services.lobby.watchers import Watcher
from services.lobby.wire import room_message
from tests.lobby.rig import NOW_MS, PLAIN, Rig, new_id
from tests.store.postgres_rig import COMMITTED, PostgresRig, postgres_rig
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

ROOMS_MAX, CHANGES_MAX = 4, 3

SOMEBODY = e.SeatTaken(seat=1, player=new_id())
READY = e.ReadySet(seat=0, is_ready=True)


class Followed:
    """Rooms that are followed, through a line that may be cut."""

    def __init__(self, rig: PostgresRig) -> None:
        self.rig = rig
        self.rooms = PostgresRooms(rig.connections)
        self.feed = RoomFeed(
            PostgresChanges(rig.line),
            _show,
            look_s=0.02,
            rooms_max=ROOMS_MAX,
            changes_max=CHANGES_MAX,
            first_look_s=0.5,
        )

    async def make(self) -> Room:
        """Make a room that waits and that everybody sees."""
        room = Room(room_id=new_id(), created_ms=NOW_MS)
        created = e.RoomCreated(rule_set=PLAIN, seat_count=6, is_listed=True, creator="")
        async with self.rooms.hold(room.room_id) as table:
            return await write(table, room, created, e.SeatTaken(seat=0, player=new_id()))

    async def change(self, room: Room, *events: e.Event) -> Room:
        async with self.rooms.hold(room.room_id) as table:
            return await write(table, room, *events)


class Client:
    """Whoever watches the list: what they know of it by what they were told."""

    def __init__(self, feed: RoomFeed, watcher: Watcher) -> None:
        self._feed = feed
        self._watcher = watcher
        self.knows: dict[str, int] = {}

    async def hear(self) -> None:
        """Take whatever there is."""
        while await self._watcher.wait(0):
            if self._watcher.is_behind:
                self._watcher.catch_up()
                listed = self._feed.listed(lambda _: True)
                self.knows = {room.room_id: room.sequence for room in listed}
            else:
                room_id, shown = self._watcher.take()
                self.knows.pop(room_id, None)
                if shown is not None:
                    self.knows[room_id] = shown.room.sequence

    async def knows_just(self, *rooms: Room) -> None:
        """Wait until exactly these rooms are known, as they are."""

        async def is_so() -> bool:
            await self.hear()
            return self.knows == {room.room_id: room.sequence for room in rooms}

        await until(is_so)


async def _show(rooms: Sequence[Room]) -> Sequence[pb.Room]:
    return [room_message(room, {}) for room in rooms]


async def write(table: HeldRoom, room: Room, *events: e.Event) -> Room:
    """Write the next record of a room that is held."""
    record = e.Record(
        room_id=room.room_id,
        sequence=room.sequence + 1,
        command_id=new_id(),
        actor="system",
        at_ms=NOW_MS,
        events=events,
    )
    after = apply(room, record)
    await table.write(record, after, bytes(32))
    return after


@pytest.fixture
async def followed(rig: Rig) -> AsyncIterator[Followed]:
    await rig.close_lobbies()
    async with postgres_rig(rig.url) as store, Background() as background:
        made = Followed(store)
        background.keep("feed", made.feed.run)
        yield made


@asynccontextmanager
async def client(feed: RoomFeed) -> AsyncIterator[Client]:
    with feed.list_watched(lambda _: True) as watcher:
        await feed.look()
        yield Client(feed, watcher)


async def test_what_takes_long_to_commit_is_told_all_the_same(followed: Followed) -> None:
    first = await followed.make()
    async with client(followed.feed) as ann:
        await ann.knows_just(first)
        async with followed.rooms.hold(first.room_id) as table:
            changed = await write(table, first, READY)
            # Others begin later and are done earlier, and looks go on.
            second = await followed.make()
            await ann.knows_just(first, second)
            third = await followed.make()
            await ann.knows_just(first, second, third)

        await ann.knows_just(changed, second, third)


async def test_nobody_is_told_again_because_somebody_begins_to_follow_a_room(
    followed: Followed,
) -> None:
    held, room = await followed.make(), await followed.make()
    with followed.feed.list_watched(lambda _: True) as watcher:
        await followed.feed.look()
        watcher.catch_up()
        # As long as this lasts each look is shown all that was changed since it began.
        async with followed.rooms.hold(held.room_id) as table:
            await write(table, held, READY)
            changed = await followed.change(room, READY)
            assert await watcher.wait(20)
            _, told = watcher.take()
            with followed.feed.room_watched(room.room_id):
                await followed.feed.look()
            is_told_again = await watcher.wait(0)

    assert told is not None
    assert told.room == changed
    assert not is_told_again


async def test_where_too_much_has_changed_all_is_read_anew(followed: Followed) -> None:
    gone, stays = await followed.make(), await followed.make()
    async with client(followed.feed) as ann:
        await ann.knows_just(gone, stays)
        with followed.feed.room_watched(stays.room_id) as watcher:
            followed.rig.hold()
            await followed.rig.until_holding()
            await followed.change(gone, e.RoomClosed())
            changed = await followed.change(stays, READY)
            made = [await followed.make() for _ in range(CHANGES_MAX)]
            followed.rig.let_go()

            await ann.knows_just(changed, *made)
            assert await watcher.wait(20)
            _, shown = watcher.take()
            assert shown is not None
            assert shown.room == changed


async def test_of_too_many_rooms_the_newest_are_followed(followed: Followed) -> None:
    rooms = [await followed.make() for _ in range(ROOMS_MAX + 2)]
    async with client(followed.feed) as ann:
        await ann.knows_just(*rooms[-ROOMS_MAX:])
        # One that is too old for the list stays out of it, whatever happens in it.
        rooms[0] = await followed.change(rooms[0], READY)
        rooms.append(await followed.make())
        await ann.knows_just(*rooms[-ROOMS_MAX:])
        # Where there is room again, older ones come back.
        await followed.change(rooms.pop(), e.RoomClosed())
        await ann.knows_just(*rooms[-ROOMS_MAX:])
        await followed.change(rooms.pop(), e.RoomClosed())
        await ann.knows_just(*rooms[-ROOMS_MAX:])


async def test_nothing_is_missed_while_the_store_is_away(followed: Followed) -> None:
    first = await followed.make()
    async with client(followed.feed) as ann:
        await ann.knows_just(first)
        followed.rig.proxy.cut_before_reply(COMMITTED)
        changed = await followed.change(first, READY)
        second = await followed.make()

        await ann.knows_just(changed, second)


async def test_whoever_begins_while_the_store_is_silent_is_told_so(followed: Followed) -> None:
    async with client(followed.feed):
        followed.rig.hold()
        await followed.rig.until_holding()
        with (
            followed.feed.list_watched(lambda _: True),
            pytest.raises(RefusedError) as caught,
        ):
            await followed.feed.look()
        followed.rig.let_go()

    assert caught.value.told.reason == Reason.STORE_UNAVAILABLE


async def test_whoever_comes_later_knows_the_same(followed: Followed) -> None:
    first = await followed.make()
    async with client(followed.feed) as ann:
        await ann.knows_just(first)
    # Nobody looks meanwhile.
    changed, second = await followed.change(first, SOMEBODY), await followed.make()
    async with client(followed.feed) as bob, client(followed.feed) as cem:
        await bob.knows_just(changed, second)
        await cem.knows_just(changed, second)


async def test_what_happens_between_two_looks_is_told_to_who_watches_a_room_since(
    followed: Followed,
) -> None:
    room = await followed.make()
    with followed.feed.room_watched(room.room_id) as watcher:
        # At once, before anything was looked at.
        changed = await followed.change(room, READY)
        assert await watcher.wait(20)
        assert watcher.take()[1] == (changed, room_message(changed, {}))
