"""What happens at once happens in one order."""

import asyncpg
import pytest

from libs.kernel.reasons import Reason
from opolyx.lobby.v1.room_pb2 import Room
from tests.lobby.invariants import check_lobby
from tests.lobby.racing import race
from tests.lobby.rig import Rig, new_id, occupants

pytestmark = pytest.mark.postgres


async def bound(rig: Rig) -> list[str]:
    connection = await asyncpg.connect(rig.url)
    rows = await connection.fetch("SELECT player_id FROM lobby.occupancy")
    await connection.close()
    return sorted(str(row["player_id"]) for row in rows)


async def test_of_twenty_who_want_the_last_seat_one_gets_it(rig: Rig) -> None:
    second = await rig.open_lobby()
    ann, *others = await rig.people("Ann", *(f"P{n}" for n in range(20)))
    room_id = (await ann.create(seat_count=2)).room_id
    rooms, reasons = await race(
        (other if n % 2 else other.through(second)).join(room_id) for n, other in enumerate(others)
    )

    assert len(rooms) == 1
    assert reasons == [Reason.ROOM_FULL] * 19
    (winner,) = {player for player in occupants(rooms[0]) if player != ann.player_id}
    assert await bound(rig) == sorted([ann.player_id, winner])
    await check_lobby(rig)


async def test_whoever_joins_two_rooms_at_once_sits_in_one(rig: Rig) -> None:
    second = await rig.open_lobby()
    hosts = await rig.people(*(f"Host {n}" for n in range(6)))
    rooms = [(await host.create()).room_id for host in hosts]
    (ann,) = await rig.people("Ann")
    joined, reasons = await race(
        (ann if n % 2 else ann.through(second)).join(room_id) for n, room_id in enumerate(rooms)
    )

    assert len(joined) == 1
    assert reasons == [Reason.ALREADY_IN_MATCH] * 5
    now = [await ann.get(room_id) for room_id in rooms]
    assert sum(ann.player_id in occupants(room) for room in now) == 1
    await check_lobby(rig)


async def test_whoever_makes_rooms_at_once_has_one(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    made, reasons = await race(ann.create() for _ in range(8))

    assert len(made) == 1
    assert reasons == [Reason.ALREADY_IN_MATCH] * 7
    await check_lobby(rig)


async def test_one_making_of_a_room_sent_at_once_is_one_room(rig: Rig) -> None:
    second = await rig.open_lobby()
    (ann,) = await rig.people("Ann")
    command_id = new_id()
    made, reasons = await race(
        (ann if n % 2 else ann.through(second)).create(command_id=command_id) for n in range(8)
    )

    assert not reasons
    assert len({room.room_id for room in made}) == 1
    assert {room.sequence for room in made} == {1}
    await check_lobby(rig)


async def test_one_making_of_a_room_sent_at_once_is_one_room_however_it_goes(rig: Rig) -> None:
    for _ in range(10):
        (ann,) = await rig.people(new_id())
        command_id = new_id()
        made, reasons = await race(ann.create(command_id=command_id) for _ in range(4))

        assert not reasons
        assert len({room.room_id for room in made}) == 1
    await check_lobby(rig)


async def test_one_join_sent_at_once_is_one_join(rig: Rig) -> None:
    second = await rig.open_lobby()
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    command_id = new_id()
    joined, reasons = await race(
        (bob if n % 2 else bob.through(second)).join(room_id, command_id=command_id)
        for n in range(8)
    )

    assert not reasons
    assert {room.SerializeToString(deterministic=True) for room in joined} == {
        joined[0].SerializeToString(deterministic=True)
    }
    assert (await ann.get(room_id)).sequence == 2
    await check_lobby(rig)


async def test_whatever_many_do_at_once_in_a_room_is_done_in_one_order(rig: Rig) -> None:
    second = await rig.open_lobby()
    ann, *others = await rig.people(*(f"P{n}" for n in range(6)))
    room_id = (await ann.create(seat_count=6)).room_id
    for other in others:
        await other.join(room_id)
    rooms, reasons = await race(
        (person if n % 2 else person.through(second)).set_ready(room_id, ready=bool(n % 3))
        for n in range(10)
        for person in (ann, *others)
    )

    assert not reasons
    assert sorted(room.sequence for room in rooms) == list(range(7, 67))
    await check_lobby(rig)


async def test_when_the_last_two_leave_at_once_the_room_closes(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    for _ in range(5):
        room_id = (await ann.create()).room_id
        await bob.join(room_id)
        left, reasons = await race((ann.leave(room_id), bob.leave(room_id)))

        assert not reasons
        assert sorted(room.state for room in left) == [Room.STATE_WAITING, Room.STATE_CLOSED]
        assert (await ann.get(room_id)).state == Room.STATE_CLOSED
        assert await bound(rig) == []
    await check_lobby(rig)


async def test_whoever_leaves_during_a_start_is_out_of_it_or_in_the_match(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    for _ in range(8):
        room_id = (await ann.create()).room_id
        for guest in (bob, cem):
            await guest.join(room_id)
            await guest.set_ready(room_id)
        rooms, reasons = await race((ann.start(room_id), cem.leave(room_id)))
        room = await ann.get(room_id)
        (asked,) = [each for each in rig.engine.asked if each.match_id == room.match_id]
        players = [spec.player for spec in asked.seats]

        if reasons:
            assert reasons == [Reason.ROOM_CLOSED]
            assert players == [ann.player_id, bob.player_id, cem.player_id]
        else:
            assert len(rooms) == 2
            assert players == [ann.player_id, bob.player_id]
        assert await bound(rig) == sorted(players)
        await _free_all(rig)
    await check_lobby(rig, is_anybody_out=True)


async def test_when_the_creator_leaves_while_others_come_somebody_in_the_room_is_creator(
    rig: Rig,
) -> None:
    ann, bob, *others = await rig.people("Ann", "Bob", "Cem", "Dan", "Eve")
    room_id = (await ann.create(seat_count=6)).room_id
    await bob.join(room_id)
    _, reasons = await race((ann.leave(room_id), *(other.join(room_id) for other in others)))
    room = await bob.get(room_id)

    assert not reasons
    assert room.creator_id in occupants(room)
    assert room.creator_id == bob.player_id
    assert ann.player_id not in occupants(room)
    await check_lobby(rig)


async def test_whoever_leaves_and_joins_at_once_sits_once_or_nowhere(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    first, second = (await ann.create()).room_id, (await bob.create()).room_id
    (cem,) = await rig.people("Cem")
    await cem.join(first)
    await race((cem.leave(first), cem.join(second), cem.join(first, seat=3)))
    rooms = [await cem.get(first), await cem.get(second)]
    seats = sum(occupants(room).count(cem.player_id) for room in rooms)

    assert (await bound(rig)).count(cem.player_id) == seats
    assert seats <= 1
    await check_lobby(rig)


async def _free_all(rig: Rig) -> None:
    """Let everybody out of their matches, so that they can sit down again."""
    connection = await asyncpg.connect(rig.url)
    await connection.execute("DELETE FROM lobby.occupancy")
    await connection.close()
