"""Waiting rooms in which nothing happens close by themselves (SETUP-2)."""

import asyncio

import pytest

from libs.eventlog.topics import LOBBY_EVENTS
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from opolyx.lobby.v1.lobby_event_pb2 import RoomRecord
from opolyx.lobby.v1.room_pb2 import Room
from services.lobby.idling import Idling
from services.lobby.ports import Idle
from services.lobby.store import PostgresRooms
from tests.lobby.invariants import check_lobby
from tests.lobby.racing import race
from tests.lobby.rig import IDLE_S, NOW_MS, Person, Rig
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

IDLE_MS = IDLE_S * 1000


async def is_closed(person: Person, room_id: str) -> bool:
    return (await person.get(room_id)).state == Room.STATE_CLOSED


async def test_a_room_says_when_it_closes_and_every_command_puts_that_off(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    rig.clock.advance(7)
    later = await ann.add_bot(room.room_id)

    assert room.expire_time.ToMilliseconds() == NOW_MS + IDLE_MS
    assert later.expire_time.ToMilliseconds() == NOW_MS + IDLE_MS + 7


async def test_an_idle_room_closes_and_its_people_are_free(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    idle, busy = (await ann.create()).room_id, (await cem.create()).room_id
    await bob.join(idle)
    rig.clock.advance(IDLE_MS - 1)
    await cem.set_ready(busy)
    rig.clock.advance(1)
    await until(lambda: is_closed(ann, idle))
    closed = await ann.get(idle)

    assert closed.closed_why == Room.CLOSED_WHY_IDLE
    assert not closed.HasField("expire_time")
    assert (await cem.get(busy)).state == Room.STATE_WAITING
    assert (await ann.create()).creator_id == ann.player_id
    await check_lobby(rig)


async def test_however_many_replicas_look_it_closes_once(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    await asyncio.gather(rig.open_lobby(), rig.open_lobby())
    room_id = (await ann.create()).room_id
    rig.clock.advance(IDLE_MS)
    await until(lambda: is_closed(ann, room_id))

    records: list[RoomRecord] = []

    async def is_told() -> bool:
        found = await rig.published(LOBBY_EVENTS.name)
        records.extend(RoomRecord.FromString(delivery.entry.value) for delivery in found)
        return len(records) == 2

    await until(is_told)
    assert records[1].actor == "system"
    assert records[1].events[0].room_closed.why == Room.CLOSED_WHY_IDLE
    await check_lobby(rig)


async def test_a_room_that_has_become_a_match_does_not_close(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    started, idle = (await ann.create()).room_id, (await bob.create()).room_id
    await ann.add_bot(started)
    await ann.start(started)
    rig.clock.advance(IDLE_MS)
    await until(lambda: is_closed(bob, idle))

    assert (await ann.get(started)).state == Room.STATE_STARTED


async def test_whoever_comes_after_a_room_was_seen_idle_keeps_it_open(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    await bob.join(room.room_id)
    connections = await Connections.open(rig.url, name="test")
    rooms = PostgresRooms(connections)
    idling = Idling(rooms, await rig.handlers(rooms), rig.clock, idle_ms=IDLE_MS, look_s=1)
    await idling.close(Idle(room.room_id, room.sequence))
    await connections.close()

    assert (await ann.get(room.room_id)).state == Room.STATE_WAITING


async def test_joins_against_closing_are_in_time_or_too_late(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    connections = await Connections.open(rig.url, name="test")
    rooms = PostgresRooms(connections)
    idling = Idling(rooms, await rig.handlers(rooms), rig.clock, idle_ms=IDLE_MS, look_s=1)
    for _ in range(8):
        room = await ann.create()
        closing = idling.close(Idle(room.room_id, room.sequence))
        (_, reasons), _ = await asyncio.gather(race([bob.join(room.room_id)]), closing)
        now = await ann.get(room.room_id)

        if reasons:
            assert reasons == [Reason.ROOM_CLOSED]
            assert now.closed_why == Room.CLOSED_WHY_IDLE
        else:
            assert now.state == Room.STATE_WAITING
            await bob.leave(room.room_id)
            await ann.leave(room.room_id)
        await check_lobby(rig)
    await connections.close()
