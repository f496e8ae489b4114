"""Rooms through the gateway: how matches form, one for each person, and each command once.

Cited: SETUP-1, SETUP-2, SETUP-4.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import grpc
import pytest
from grpc import StatusCode

from libs.kernel.command_ids import fire_id
from libs.kernel.ids import MatchId
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from tests.chassis.answers import failure
from tests.e2e.rig import (
    Refusal,
    Stage,
    change,
    create_room,
    get_room,
    new_name,
    refusal,
    refusal_of,
    start_match,
)
from tests.support.calling import Client, new_id

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

FAILED: Final = StatusCode.FAILED_PRECONDITION
DENIED: Final = StatusCode.PERMISSION_DENIED
INVALID: Final = StatusCode.INVALID_ARGUMENT

RACES: Final = 5
ROOMS: Final = 4


async def test_who_joins_many_rooms_at_once_is_in_one(stage: Stage) -> None:
    """SETUP-2."""
    rooms = [await create_room(stage.person()) for _ in range(ROOMS)]
    for _ in range(RACES):
        name = new_name()
        joins = [change(stage.person(name), "JoinRoom", room) for room in rooms]
        made = create_room_at_once(stage.person(name))
        results = await asyncio.gather(*joins, made, return_exceptions=True)
        won = [result for result in results if isinstance(result, Room)]
        lost = [result for result in results if isinstance(result, grpc.aio.AioRpcError)]

        assert (len(won), len(lost)) == (1, ROOMS)
        told = Refusal("ALREADY_IN_MATCH", {"rule": "SETUP-2", "room_id": won[0].room_id})
        assert [refusal_of(error, FAILED) for error in lost] == [told] * ROOMS
        await change(stage.person(name), "LeaveRoom", won[0])


async def create_room_at_once(person: Client) -> Any:
    request = pb.CreateRoomRequest(command_id=new_id(), rule_set="opolyx.classic@2", seat_count=2)
    return await person.call(person.lobby.CreateRoom, request)


async def test_a_seat_is_given_once_however_many_want_it(stage: Stage) -> None:
    room = await create_room(stage.person(), seats=4)
    people = [stage.person() for _ in range(6)]
    joins = [change(person, "JoinRoom", room) for person in people]
    results = await asyncio.gather(*joins, return_exceptions=True)
    full = [result for result in results if isinstance(result, grpc.aio.AioRpcError)]
    now = await get_room(people[0], room)

    told = Refusal("ROOM_FULL", {"rule": "SETUP-1", "seats": "4"})
    assert [refusal_of(error, FAILED) for error in full] == [told] * 3
    assert len({seat.player.player_id for seat in now.seats}) == 4
    assert now.sequence == room.sequence + 3


async def test_whoever_plays_is_in_no_other_match_until_it_is_over(stage: Stage) -> None:
    """SETUP-2."""
    table = await stage.table(3)
    ann, bob = table.people[0], table.people[1]
    other = await create_room(stage.person())
    error = await failure(change(ann, "JoinRoom", other))
    told = refusal_of(error, FAILED)

    assert told.reason == "ALREADY_IN_MATCH"
    assert told.metadata["match_id"] == table.match_id
    await bob.submit(table.match_id, "surrender")
    # Who is out is free, while the others go on.
    await create_room(bob)
    assert refusal_of(await failure(change(ann, "JoinRoom", other)), FAILED) == told


async def test_the_same_again_gives_the_same_room_and_changes_nothing(stage: Stage) -> None:
    ann, bob = stage.person(), stage.person()
    create = pb.CreateRoomRequest(command_id=new_id(), rule_set="opolyx.classic@2", seat_count=3)
    made = await ann.call(ann.lobby.CreateRoom, create)
    steps: list[tuple[Client, str, dict[str, Any]]] = [
        (bob, "JoinRoom", {"seat": 2}),
        (ann, "AddBot", {"strength": "steady"}),
        (bob, "SetReady", {"ready": True}),
        (bob, "LeaveRoom", {}),
        (ann, "StartMatch", {}),
    ]
    given = [(p, m, {**f, "command_id": new_id()}) for p, m, f in steps]
    first = [await change(person, method, made, **fields) for person, method, fields in given]
    now = await get_room(ann, made)
    again = [await change(person, method, made, **fields) for person, method, fields in given]

    assert await ann.call(ann.lobby.CreateRoom, create) == made
    assert again == first
    assert [room.sequence for room in first[:-1]] == [2, 3, 4, 5]
    assert await get_room(ann, made) == now


async def test_an_id_is_good_for_one_command(stage: Stage) -> None:
    ann, bob, command_id = stage.person(), stage.person(), new_id()
    room = await create_room(ann, seats=3)
    await change(ann, "AddBot", room, strength="steady", command_id=command_id)
    reused = Refusal("COMMAND_ID_REUSED", {})
    for person, method, fields in (
        (ann, "AddBot", {"strength": "shark"}),
        (ann, "SetReady", {}),
        (bob, "JoinRoom", {}),
    ):
        call = change(person, method, room, command_id=command_id, **fields)

        assert await refusal(call, INVALID) == reused
    assert (await get_room(ann, room)).sequence == 2


async def test_what_may_not_be_says_why_and_changes_nothing(stage: Stage) -> None:
    """SETUP-1, SETUP-4."""
    ann, bob = stage.person(), stage.person()
    room = await create_room(ann, seats=3)
    await change(bob, "JoinRoom", room)
    before = await get_room(ann, room)
    head = str(before.sequence)
    missing = Room(room_id=new_id())
    no_room = (StatusCode.NOT_FOUND, Refusal("ROOM_NOT_FOUND", {}))
    creator = (DENIED, Refusal("NOT_CREATOR", {"rule": "SETUP-1"}))
    cases: list[tuple[Any, tuple[StatusCode, Refusal]]] = [
        (get_room(ann, missing), no_room),
        (change(stage.person(), "JoinRoom", missing), no_room),
        (change(bob, "LeaveRoom", missing), no_room),
        (change(ann, "StartMatch", missing), no_room),
        (change(stage.person(), "LeaveRoom", room), (DENIED, Refusal("NOT_SEATED", {}))),
        (change(stage.person(), "SetReady", room), (DENIED, Refusal("NOT_SEATED", {}))),
        (change(bob, "AddBot", room, strength="steady"), creator),
        (change(bob, "StartMatch", room), creator),
        (
            change(stage.person(), "JoinRoom", room, seat=0),
            (FAILED, Refusal("SEAT_TAKEN", {"rule": "SETUP-1", "seat": "0"})),
        ),
        (
            change(ann, "StartMatch", room),
            (FAILED, Refusal("NOT_READY", {"seats": "1"})),
        ),
        (
            change(stage.person(), "JoinRoom", room, expected_sequence=1),
            (
                StatusCode.ABORTED,
                Refusal("STALE_SEQUENCE", {"expected": "1", "head": head}),
            ),
        ),
    ]
    for call, (code, told) in cases:
        assert await refusal(call, code) == told
    assert await get_room(ann, room) == before


async def test_too_few_and_uneven_teams_do_not_start(stage: Stage) -> None:
    """SETUP-1, SETUP-4."""
    ann, bob = stage.person(), stage.person()
    alone = change(ann, "StartMatch", await create_room(ann))
    teams = await create_room(bob, "opolyx.teams@2", 4)
    await change(bob, "AddBot", teams, strength="novice")
    uneven = change(bob, "StartMatch", teams)

    assert (await refusal(alone, FAILED)).reason == "TOO_FEW_SEATS"
    assert (await refusal(uneven, FAILED)).reason == "TEAMS_UNEVEN"


async def test_a_room_that_makes_no_sense_names_its_fields(stage: Stage) -> None:
    person = stage.person()
    room = await create_room(person)
    service_id = fire_id(MatchId(room.room_id), "roll:0:1")
    create = {"command_id": new_id(), "rule_set": "opolyx.classic@2", "seat_count": 2}
    cases: list[tuple[Any, tuple[str, ...]]] = [
        (created(person, {**create, "rule_set": "opolyx.classic@9"}), ("rule_set",)),
        (created(person, {**create, "seat_count": 7}), ("seat_count",)),
        (created(person, {**create, "seat_count": -1}), ("seat_count",)),
        (created(person, {**create, "visibility": 9}), ("visibility",)),
        (created(person, {**create, "command_id": service_id}), ("command_id",)),
        (created(person, {}), ("command_id", "rule_set")),
        (change(person, "JoinRoom", Room(room_id="x")), ("room_id",)),
        (change(person, "JoinRoom", room, seat=-1), ("seat",)),
        (change(person, "JoinRoom", room, seat=2), ("seat",)),
        (change(person, "SetReady", room, expected_sequence=-1), ("expected_sequence",)),
        (change(person, "AddBot", room, strength="genius"), ("strength",)),
        (change(person, "AddBot", room, strength="steady", command_id="x"), ("command_id",)),
    ]
    for call, fields in cases:
        assert (await refusal(call, INVALID)).fields == fields
    assert await get_room(person, room) == room


def created(person: Client, fields: dict[str, Any]) -> Any:
    return person.call(person.lobby.CreateRoom, pb.CreateRoomRequest(**fields))


async def test_a_room_is_not_left_once_its_match_is_there(stage: Stage) -> None:
    ann, bob = stage.person(), stage.person()
    room = await create_room(ann)
    await change(bob, "JoinRoom", room)
    await change(bob, "SetReady", room, ready=True)
    await start_match(ann, room)
    closed = Refusal("ROOM_CLOSED", {"state": "started"})
    for call in (
        change(bob, "LeaveRoom", room),
        change(stage.person(), "JoinRoom", room),
        change(ann, "AddBot", room, strength="steady"),
        change(bob, "SetReady", room),
        change(ann, "StartMatch", room),
    ):
        assert await refusal(call, FAILED) == closed


async def test_a_room_without_people_closes(stage: Stage) -> None:
    ann, bob = stage.person(), stage.person()
    room = await create_room(ann, seats=3)
    await change(bob, "JoinRoom", room)
    await change(ann, "LeaveRoom", room)
    then = await get_room(ann, room)
    await change(bob, "LeaveRoom", room)

    assert then.creator_id == then.seats[1].player.player_id != room.creator_id
    assert (await get_room(ann, room)).state == Room.STATE_CLOSED
