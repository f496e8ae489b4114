"""Nobody is kept out by a match that has let go of them (SETUP-2), whatever its records tell."""

import asyncpg
import pytest

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from opolyx.lobby.v1.room_pb2 import Room
from services.lobby.store import PostgresRooms
from tests.chassis.answers import answer
from tests.lobby.invariants import check_lobby
from tests.lobby.playing import Playing
from tests.lobby.rig import PLAIN, Person, Rig, new_id
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


async def playing(rig: Rig) -> tuple[Person, Person, Room]:
    """Return two people who play, and the room that their match came from."""
    ann, bob = await rig.people("Ann", "Bob")
    match = await Playing.of(rig, ann, bob)
    return ann, bob, match.room


async def is_bound(person: Person) -> bool:
    refused = (await answer(person.create())).told
    assert refused is not None
    return refused.reason == Reason.ALREADY_IN_MATCH


async def test_whoever_is_out_is_free_before_the_records_say_so(rig: Rig) -> None:
    ann, bob, _ = await playing(rig)
    rig.engine.out.add(bob.player_id)

    assert (await bob.create()).creator_id == bob.player_id
    assert await is_bound(ann)
    await check_lobby(rig, is_anybody_out=True)


async def test_everybody_is_free_of_a_match_that_is_over(rig: Rig) -> None:
    ann, bob, _ = await playing(rig)
    rig.engine.is_over = True
    room = await ann.create()

    assert bob.player_id in {seat.player.player_id for seat in (await bob.join(room.room_id)).seats}
    await check_lobby(rig, is_anybody_out=True)


@pytest.mark.parametrize("reason", [Reason.MATCH_QUARANTINED, Reason.MATCH_NOT_FOUND])
async def test_a_match_that_cannot_go_on_binds_nobody(rig: Rig, reason: Reason) -> None:
    ann, _, _ = await playing(rig)
    rig.engine.says_of_match = reason

    assert (await ann.create()).creator_id == ann.player_id


async def test_a_match_that_is_not_made_yet_binds_its_people(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    await ann.add_bot(room.room_id)
    rig.engine.says = Reason.STORE_UNAVAILABLE
    starting = await ann.start(room.room_id)
    rig.engine.says_of_match = Reason.MATCH_NOT_FOUND

    assert starting.state == Room.STATE_STARTING
    assert await is_bound(ann)
    assert (await bob.create()).creator_id == bob.player_id


async def test_nobody_is_released_while_the_engine_is_away(rig: Rig) -> None:
    ann, _, _ = await playing(rig)
    rig.engine.is_away = True
    rig.engine.is_over = True

    assert await is_bound(ann)


async def test_a_room_that_waits_is_asked_of_no_engine(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    await ann.create()
    rig.engine.is_over = True

    assert await is_bound(ann)


async def test_whoever_plays_the_next_match_is_not_released_from_it_by_the_one_before(
    rig: Rig,
) -> None:
    ann, _, room = await playing(rig)
    rig.engine.is_over = True
    other = await ann.create()
    await ann.add_bot(other.room_id)
    connections = await Connections.open(rig.url, name="test")
    rooms = PostgresRooms(connections)
    # Two of her calls were refused for the sake of the same match, and this is the slower one.
    await rooms.release(ann.player_id, MatchId(room.match_id))
    await ann.start(other.room_id)
    await rooms.release(ann.player_id, MatchId(room.match_id))
    await connections.close()
    rig.engine.is_over = False

    assert await is_bound(ann)
    await check_lobby(rig, is_anybody_out=True)


# A match that can never be made.


async def test_the_people_of_a_match_that_can_never_be_made_are_free(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id)
    await bob.set_ready(room_id)
    rig.engine.says = Reason.INVALID_REQUEST
    closed = await ann.start(room_id)

    assert closed.state == Room.STATE_CLOSED
    assert closed.closed_why == Room.CLOSED_WHY_MATCH_NOT_MADE
    assert closed.match_id
    assert (await ann.create()).creator_id == ann.player_id
    assert (await bob.create()).creator_id == bob.player_id
    await check_lobby(rig)


async def test_whoever_sits_elsewhere_when_a_match_is_given_up_stays_there(rig: Rig) -> None:
    """An older engine may refuse what a newer one has made, and somebody is out of already."""
    (ann,) = await rig.people("Ann")
    room_id = (await ann.create()).room_id
    await ann.add_bot(room_id)
    rig.engine.says = Reason.STORE_UNAVAILABLE
    starting = await ann.start(room_id)
    rig.engine.out.add(ann.player_id)
    other = await ann.create()
    rig.engine.says = Reason.INVALID_REQUEST

    async def is_given_up() -> bool:
        return (await ann.get(room_id)).state == Room.STATE_CLOSED

    await until(is_given_up)
    assert starting.state == Room.STATE_STARTING
    told = (await answer(ann.create())).told
    assert told is not None
    assert told.metadata == {"rule": "SETUP-2", "room_id": other.room_id}
    await check_lobby(rig, is_anybody_out=True)


async def test_a_match_that_is_given_up_is_given_up_once(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    await rig.open_lobby()
    room_id = (await ann.create()).room_id
    await ann.add_bot(room_id)
    rig.engine.is_away = True
    await ann.start(room_id)
    rig.engine.says = Reason.INVALID_REQUEST
    rig.engine.is_away = False

    async def is_closed() -> bool:
        return (await ann.get(room_id)).state == Room.STATE_CLOSED

    await until(is_closed)
    assert (await ann.get(room_id)).sequence == 4
    await check_lobby(rig)


async def test_a_start_that_is_repeated_says_that_it_came_to_nothing(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room_id = (await ann.create()).room_id
    await ann.add_bot(room_id)
    rig.engine.says = Reason.INVALID_REQUEST
    command_id = new_id()
    first = await ann.start(room_id, command_id=command_id)

    assert await ann.start(room_id, command_id=command_id) == first


# Rooms of the release before.


async def test_a_room_that_the_release_before_has_written_goes_on(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create(PLAIN, visibility=Room.VISIBILITY_PRIVATE)
    older = Room()
    older.CopyFrom(room)
    # What it did not know, and names, which no room was ever kept with.
    for field in ("watching", "bot_strength", "expire_time"):
        older.ClearField(field)
    older.seats[0].player.display_name = ""
    connection = await asyncpg.connect(rig.url)
    await connection.execute(
        "UPDATE lobby.room SET facts = $2, stored = NULL WHERE room_id = $1",
        room.room_id,
        older.SerializeToString(),
    )
    await connection.close()
    seen = await ann.get(room.room_id)
    await bob.accept((await ann.invite(room.room_id)).code)
    await bob.join(room.room_id)
    await bob.set_ready(room.room_id)

    assert seen.seats == room.seats
    assert (await ann.start(room.room_id)).state == Room.STATE_STARTED
