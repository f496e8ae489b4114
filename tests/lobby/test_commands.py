"""Every command over gRPC: what it does, that it does it once, and how it is refused."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from libs.telemetry import metrics, names
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from services.lobby.store import PostgresRooms
from tests.chassis.answers import answer
from tests.lobby.rig import NOW_MS, PLAIN, Person, Rig, new_id, occupants

pytestmark = pytest.mark.postgres

NOWHERE = "01890000-0000-7000-8000-000000000000"


async def reason(call: Awaitable[Any]) -> str:
    told = (await answer(call)).told
    assert told is not None
    return told.reason


async def test_a_room_is_made_and_shown(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create(PLAIN, 3)

    assert room.room_id[14] == "7"
    assert room.sequence == 1
    assert room.rule_set == PLAIN
    assert occupants(room) == [ann.player_id, "", ""]
    assert room.seats[0].player.display_name == "Ann"
    assert room.creator_id == ann.player_id
    assert room.state == Room.STATE_WAITING
    assert room.visibility == Room.VISIBILITY_LISTED
    assert room.create_time.ToMilliseconds() == NOW_MS
    assert await ann.get(room.room_id) == room


async def test_people_and_bots_sit_down_are_ready_and_get_up(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id

    joined = await bob.join(room_id, seat=2)
    with_bot = await ann.add_bot(room_id, "novice")
    is_ready = await bob.set_ready(room_id)
    left = await ann.leave(room_id)

    assert occupants(joined) == [ann.player_id, "", bob.player_id, ""]
    assert occupants(with_bot) == [ann.player_id, "novice", bob.player_id, ""]
    assert [seat.ready for seat in is_ready.seats] == [False, True, True, False]
    assert occupants(left) == ["", "novice", bob.player_id, ""]
    assert left.creator_id == bob.player_id
    assert left.sequence == 5


async def test_a_room_without_people_closes(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    closed = await ann.leave(room_id)

    assert closed.state == Room.STATE_CLOSED
    assert await reason(bob.join(room_id)) == Reason.ROOM_CLOSED


async def test_whoever_left_is_free_to_sit_elsewhere(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    first, second = await ann.create(), await bob.create()
    refused = await answer(ann.join(second.room_id))
    await ann.leave(first.room_id)

    assert refused.code is StatusCode.FAILED_PRECONDITION
    assert refused.told is not None
    assert refused.told.reason == Reason.ALREADY_IN_MATCH
    assert refused.told.metadata["room_id"] == first.room_id
    assert occupants(await ann.join(second.room_id))[1] == ann.player_id


async def test_whoever_sits_somewhere_makes_no_other_room(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    await ann.create()

    assert await reason(ann.create()) == Reason.ALREADY_IN_MATCH


Do = Callable[[Person, Person, str, str], Awaitable[Room]]

COMMANDS: dict[str, Do] = {
    "join": lambda _, bob, room, id_: bob.join(room, command_id=id_),
    "move": lambda ann, _, room, id_: ann.join(room, command_id=id_),
    "leave": lambda ann, _, room, id_: ann.leave(room, command_id=id_),
    "add bot": lambda ann, _, room, id_: ann.add_bot(room, command_id=id_),
    "ready": lambda ann, _, room, id_: ann.set_ready(room, command_id=id_),
}
"""Each by the creator of a room or by somebody who comes to it, under a given id."""


@pytest.mark.parametrize("do", COMMANDS.values(), ids=COMMANDS)
async def test_a_command_that_is_repeated_changes_nothing_and_gives_the_same_reply(
    rig: Rig, do: Do
) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    room_id = (await ann.create()).room_id
    command_id = new_id()
    first = await do(ann, bob, room_id, command_id)
    if first.state == Room.STATE_WAITING:
        await cem.join(room_id)
    now = await ann.get(room_id)

    assert await do(ann, bob, room_id, command_id) == first
    assert await ann.get(room_id) == now


async def test_a_room_that_is_made_again_is_the_same_room(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    command_id = new_id()
    first = await ann.create(command_id=command_id)
    await bob.join(first.room_id)
    await ann.leave(first.room_id)

    assert await ann.create(command_id=command_id) == first


async def test_two_people_may_make_rooms_under_the_same_id(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    command_id = new_id()
    first = await ann.create(command_id=command_id)

    assert (await bob.create(command_id=command_id)).room_id != first.room_id


async def test_an_id_stands_for_one_content(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    command_id = new_id()
    room = await ann.create(command_id=command_id)
    before = await ann.get(room.room_id)

    assert await reason(ann.create(seat_count=2, command_id=command_id)) == Reason.COMMAND_ID_REUSED
    assert (
        await reason(ann.set_ready(room.room_id, command_id=command_id)) == Reason.COMMAND_ID_REUSED
    )
    assert await reason(bob.join(room.room_id, command_id=command_id)) == Reason.COMMAND_ID_REUSED
    assert await ann.get(room.room_id) == before


async def test_what_was_refused_is_decided_anew(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create(seat_count=2)).room_id
    await ann.add_bot(room_id)
    other = (await bob.create()).room_id
    command_id = new_id()
    first = await reason(bob.join(room_id, command_id=command_id))
    await bob.leave(other)
    second = await reason(bob.join(room_id, command_id=command_id))

    assert first == Reason.ALREADY_IN_MATCH
    assert second == Reason.ROOM_FULL


async def test_a_command_for_a_room_that_has_gone_on_is_stale(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    await ann.add_bot(room.room_id)
    stale = await answer(bob.join(room.room_id, expected_sequence=room.sequence))

    assert stale.code is StatusCode.ABORTED
    assert stale.told is not None
    assert stale.told.metadata == {"expected": "1", "head": "2"}
    assert (await bob.join(room.room_id, expected_sequence=2)).sequence == 3


async def test_a_repeat_is_not_stale(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    command_id = new_id()
    first = await ann.add_bot(room.room_id, command_id=command_id, expected_sequence=1)

    assert first == await ann.add_bot(room.room_id, command_id=command_id, expected_sequence=1)


@pytest.mark.parametrize(
    "do",
    [
        lambda person: person.join(NOWHERE),
        lambda person: person.leave(NOWHERE),
        lambda person: person.add_bot(NOWHERE),
        lambda person: person.set_ready(NOWHERE),
        lambda person: person.start(NOWHERE),
        lambda person: person.get(NOWHERE),
    ],
    ids=["join", "leave", "add bot", "ready", "start", "get"],
)
async def test_there_must_be_such_a_room(rig: Rig, do: Callable[[Person], Awaitable[Room]]) -> None:
    (ann,) = await rig.people("Ann")
    refused = await answer(do(ann))

    assert refused.code is StatusCode.NOT_FOUND
    assert refused.told is not None
    assert refused.told.reason == Reason.ROOM_NOT_FOUND


async def test_a_room_is_not_shown_before_it_is_where_the_reader_wants_it(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    stale = await answer(ann.get(room.room_id, min_sequence=2))

    assert stale.code is StatusCode.ABORTED
    assert await ann.get(room.room_id, min_sequence=1) == room


async def test_whoever_does_not_sit_there_is_told_so(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    refused = await answer(bob.leave(room_id))

    assert refused.code is StatusCode.PERMISSION_DENIED
    assert refused.told is not None
    assert refused.told.reason == Reason.NOT_SEATED


async def test_a_seat_that_the_room_has_not_is_named_in_the_refusal(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room_id = (await ann.create(seat_count=3)).room_id
    refused = await answer(ann.add_bot(room_id, seat=3))

    assert refused.told is not None
    assert refused.told.violations == (("seat", "must be below 3"),)


async def test_a_room_is_what_its_records_come_to(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id, seat=3)
    await bob.join(room_id, seat=1)
    await bob.set_ready(room_id)
    await ann.add_bot(room_id)
    await ann.leave(room_id)
    connections = await Connections.open(rig.url, name="test")
    async with PostgresRooms(connections).hold(room_id) as table:
        assert table.room is not None
        replayed = await table.room_at(table.room.sequence)
        kept = table.room
    await connections.close()

    assert replayed == kept


async def test_names_are_no_part_of_what_is_kept_of_a_room(rig: Rig) -> None:
    ann, bob = await rig.people("Ann the unforgettable", "Bob the unforgettable")
    room_id = (await ann.create()).room_id
    await bob.join(room_id)
    connection = await asyncpg.connect(rig.url)
    kept = await connection.fetch(
        "SELECT stored AS bytes FROM lobby.room UNION ALL SELECT record FROM lobby.room_record"
    )
    await connection.close()

    assert kept
    assert not any(b"unforgettable" in row["bytes"] for row in kept)


async def test_metrics_tell_what_became_of_commands(rig: Rig) -> None:
    counted = metrics.counter(names.LOBBY_COMMANDS).labels("CreateRoom", "repeated")
    before = counted._value.get()
    (ann,) = await rig.people("Ann")
    command_id = new_id()
    await ann.create(command_id=command_id)
    await ann.create(command_id=command_id)

    assert counted._value.get() == before + 1


async def test_requests_through_another_replica_see_the_same_rooms(rig: Rig) -> None:
    second = await rig.open_lobby()
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    moved = await ann.through(second).join(room.room_id)

    assert moved.sequence == 2
    assert await rig.stub.GetRoom(pb.GetRoomRequest(room_id=room.room_id)) == moved
