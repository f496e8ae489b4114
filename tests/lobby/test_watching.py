"""Rooms are followed: all of them or one, whichever replica changes them."""

import asyncio
from typing import Any

import asyncpg
import pytest
from grpc import StatusCode

from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.rules.events import PERSON, SeatSpec
from libs.telemetry import names
from libs.telemetry.metrics import REGISTRY
from opolyx.lobby.v1.room_pb2 import Room
from services.lobby import statements as sql
from services.lobby.room import Room as StoredRoom
from services.lobby.watchers import NEWS_MAX
from services.lobby.wire import write_room
from tests.chassis.answers import answer
from tests.lobby.rig import NOW_MS, PLAIN, WITH_CARDS, Person, Rig, Told, new_id, occupants

pytestmark = pytest.mark.postgres

PRIVATE = Room.VISIBILITY_PRIVATE


async def reason_of(told: Told) -> str:
    """Return why a stream ends."""
    end = await told.end()
    assert end.told is not None
    return end.told.reason


async def add_rooms(rig: Rig, count: int) -> list[str]:
    """Put rooms straight into the store, and return their ids, the newest first."""
    rooms = [some_room() for _ in range(count)]
    connection = await asyncpg.connect(rig.url)
    await connection.executemany(
        sql.ADD_ROOM,
        [
            (r.room_id, r.sequence, r.state, None, write_room(r), NOW_MS, PLAIN, True, None, None)
            for r in rooms
        ],
    )
    await connection.close()
    return [room.room_id for room in reversed(rooms)]


def some_room() -> StoredRoom:
    """Return a room that waits, with a person on each of its seats."""
    people = tuple(SeatSpec(PERSON, new_id()) for _ in range(6))
    return StoredRoom(room_id=new_id(), created_ms=NOW_MS, sequence=1, rule_set=PLAIN, table=people)


async def test_whoever_watches_is_told_all_rooms_first_the_newest_first(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    first = await ann.create()
    rig.clock.advance(1)
    second = await bob.create()
    told = cem.watch_rooms()

    assert list((await told.next()).rooms) == [second, first]


async def test_a_room_that_comes_changes_and_goes_is_told(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    told = cem.watch_rooms()
    assert await told.listed() == []

    made = await ann.create()
    assert await told.next() == made
    joined = await bob.join(made.room_id)
    assert await told.next() == joined
    assert joined.seats[1].player.display_name == "Bob"
    await bob.leave(made.room_id)
    await told.next()
    await ann.leave(made.room_id)
    assert await told.next() == made.room_id


async def test_a_room_whose_match_starts_goes(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    ready = await ann.add_bot(room.room_id)
    told = bob.watch_rooms()
    assert list((await told.next()).rooms) == [ready]
    await ann.start(room.room_id)

    assert await told.next() == room.room_id


async def test_what_another_replica_does_is_told(rig: Rig) -> None:
    second = await rig.open_lobby()
    ann, bob = await rig.people("Ann", "Bob")
    everything, one = bob.watch_rooms(), None
    assert await everything.listed() == []
    room = await ann.through(second).create()
    assert await everything.next() == room
    one = bob.watch(room.room_id)
    assert await one.next() == room
    left = await ann.through(second).leave(room.room_id)

    assert await everything.next() == room.room_id
    assert await one.next() == left
    assert await one.next() is None


async def test_what_is_done_here_is_told_at_once(rig: Rig) -> None:
    # Nobody would wait for the next look of this one.
    rig.stub = await rig.open_lobby(watch_look_s=3600.0)
    ann, bob = await rig.people("Ann", "Bob")
    everything = bob.watch_rooms()
    assert await everything.listed() == []
    room = await ann.create()
    assert await everything.next() == room
    one = bob.watch(room.room_id)
    assert await one.next() == room
    changed = await ann.add_bot(room.room_id)

    assert await everything.next() == changed
    assert await one.next() == changed


async def test_only_rooms_of_a_rule_set_are_told_if_it_is_named(rig: Rig) -> None:
    ann, bob, cem, dan = await rig.people("Ann", "Bob", "Cem", "Dan")
    await ann.create(PLAIN)
    told = dan.watch_rooms(WITH_CARDS)
    assert await told.listed() == []
    await bob.create(PLAIN)
    wanted = await cem.create(WITH_CARDS)

    assert await told.next() == wanted


async def test_a_rule_set_and_a_room_are_ones_that_can_be(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    unknown, no_id = await ann.watch_rooms("opolyx.chess@1").end(), await ann.watch("x").end()

    assert unknown.told is not None
    assert [violation.field for violation in unknown.told.violations] == ["rule_set"]
    assert no_id.told is not None
    assert [violation.field for violation in no_id.told.violations] == ["room_id"]


async def test_a_private_room_is_never_told_to_others(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    spectator = Person(rig.stub, "")
    told = bob.watch_rooms()
    assert await told.listed() == []
    hidden = await ann.create(visibility=PRIVATE)
    await ann.add_bot(hidden.room_id)
    shown = await cem.create()

    assert await told.next() == shown
    for other in (bob, spectator):
        assert await reason_of(other.watch(hidden.room_id)) == Reason.ROOM_NOT_FOUND
    assert (await ann.watch(hidden.room_id).next()).room_id == hidden.room_id


async def test_whoever_is_kicked_from_a_private_room_is_told_no_more_of_it(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create(visibility=PRIVATE)
    await bob.accept((await ann.invite(room.room_id)).code)
    joined = await bob.join(room.room_id)
    told = bob.watch(room.room_id)
    assert await told.next() == joined
    await ann.kick(room.room_id, 1)

    # Not even that she did it.
    assert (await answer(told.next())).told == refused(Reason.ROOM_NOT_FOUND).told


async def test_there_is_nothing_to_follow_of_a_room_that_there_is_not(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")

    assert await reason_of(ann.watch(new_id())) == Reason.ROOM_NOT_FOUND


async def test_a_room_is_followed_until_its_match_is_there(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    told = bob.watch(room.room_id)
    assert await told.next() == room
    await ann.add_bot(room.room_id)
    assert occupants(await told.next())[1] == "steady"
    rig.engine.gate = asyncio.Event()
    starting = asyncio.create_task(ann.start(room.room_id))
    assert (await told.next()).state == Room.STATE_STARTING
    rig.engine.gate.set()
    started = await starting

    assert await told.next() == started
    assert started.state == Room.STATE_STARTED
    assert await told.next() is None


async def test_a_room_that_has_its_match_is_told_once(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    await ann.add_bot(room.room_id)
    await ann.start(room.room_id)
    told = bob.watch(room.room_id)

    assert (await told.next()).state == Room.STATE_STARTED
    assert await told.next() is None


async def test_a_quiet_stream_gives_signs_of_life(rig: Rig) -> None:
    stub = await rig.open_lobby(heartbeat_s=0.05)
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    ann = ann.through(stub)
    for told in (ann.watch_rooms(), ann.watch(room.room_id)):
        await told.next()
        responses = [await told.call.read() for _ in range(3)]

        assert [response.server_time_ms for response in responses] == [NOW_MS] * 3


async def test_streams_are_told_to_go_elsewhere_when_the_lobby_stops(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    streams = [ann.watch_rooms(), ann.watch(room.room_id)]
    for told in streams:
        await told.next()
    closing = asyncio.create_task(rig.close_lobbies())
    reasons = [await reason_of(told) for told in streams]
    await closing

    assert reasons == [Reason.GOING_AWAY] * 2


async def test_many_watch_and_all_are_told(rig: Rig) -> None:
    people = await rig.people(*(f"P{n}" for n in range(20)))
    streams = [person.watch_rooms() for person in people]
    for told in streams:
        assert await told.listed() == []
    made = await asyncio.gather(*(person.create() for person in people))
    for told in streams:
        news = [await told.next() for _ in made]
        assert sorted(room.room_id for room in news) == sorted(room.room_id for room in made)


async def test_whoever_watches_no_more_is_forgotten(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    for told in (ann.watch_rooms(), ann.watch(room.room_id)):
        await told.next()
        told.call.cancel()
    again = ann.watch(room.room_id)
    await again.next()
    changed = await ann.add_bot(room.room_id)

    assert await again.next() == changed


async def test_whoever_never_reads_is_cut_off_while_others_are_told(rig: Rig) -> None:
    stub = await rig.open_lobby(write_timeout_s=0.3)
    ann, bob = [person.through(stub) for person in await rig.people("Ann", "Bob")]
    slow, quick = ann.watch_rooms(), bob.watch_rooms()
    await slow.next()
    await quick.next()
    before = cut_off()
    # A connection takes on some of that by itself.
    async with asyncio.timeout(60):
        while cut_off() == before:
            newest = (await add_rooms(rig, NEWS_MAX + 1))[0]
            while newest not in _ids(await quick.next()):
                pass
    end = await slow.end()

    assert end.code is StatusCode.RESOURCE_EXHAUSTED
    assert end.told is not None
    assert end.told.reason == Reason.SLOW_READER


def cut_off() -> float:
    """Return how many lists of rooms were not read, as the metrics have it."""
    method = "opolyx.lobby.v1.LobbyService/WatchRooms"
    labels = {"service": "lobby", "method": method, "code": "RESOURCE_EXHAUSTED"}
    return REGISTRY.get_sample_value(names.RPC_SERVER_STREAMS.name, labels) or 0.0


def _ids(news: Any) -> list[str]:
    """Return of which rooms something was told."""
    if isinstance(news, str):
        return [news]
    return [room.room_id for room in ([news] if isinstance(news, Room) else news.rooms)]
