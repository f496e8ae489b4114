"""Private rooms and playing again, with every service there is.

Cited: SETUP-1, SETUP-2.
"""

from typing import Any, Final

import pytest
from grpc import StatusCode

from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1 import match_service_pb2 as pb
from tests.e2e.rig import (
    Refusal,
    Stage,
    accept,
    change,
    create_room,
    get_room,
    invited,
    refusal,
    start_match,
)
from tests.support.calling import Client
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

NOT_FOUND: Final = StatusCode.NOT_FOUND


async def look(person: Client, match_id: str) -> Any:
    """Look at a match."""
    return await person.call(person.match.GetMatch, pb.GetMatchRequest(match_id=match_id))


async def test_a_private_match_is_seen_by_its_people_and_the_invited(stage: Stage) -> None:
    ann, bob, cem, dan = (stage.person() for _ in range(4))
    room = await create_room(ann, seats=4, visibility=Room.VISIBILITY_PRIVATE)
    code = await invited(ann, room)
    await accept(bob, code)
    await accept(cem, code)
    await change(bob, "JoinRoom", room)
    await change(bob, "SetReady", room, ready=True)
    match_id = await start_match(ann, room)
    outside = await refusal(look(dan, match_id), NOT_FOUND)
    no_room = await refusal(get_room(dan, room), NOT_FOUND)
    await accept(dan, code)

    for person in (ann, bob, cem):
        assert (await look(person, match_id)).match_id == match_id
    assert outside == Refusal("MATCH_NOT_FOUND", {})
    assert no_room == Refusal("ROOM_NOT_FOUND", {})
    # Whoever comes late is let in at once.
    assert (await look(dan, match_id)).match_id == match_id
    assert (await get_room(dan, room)).state == Room.STATE_STARTED


async def test_whoever_is_out_sits_down_at_once_and_the_others_play_again(stage: Stage) -> None:
    ann, bob = stage.person(), stage.person()
    room = await create_room(ann, seats=4, visibility=Room.VISIBILITY_PRIVATE)
    await accept(bob, await invited(ann, room))
    await change(bob, "JoinRoom", room, seat=2)
    await change(bob, "SetReady", room, ready=True)
    await change(ann, "AddBot", room, seat=3)
    match_id = await start_match(ann, room)

    async def has_begun() -> bool:
        return bool((await look(ann, match_id)).round)

    for person in (ann, bob):
        await person.submit(match_id, "contribute_seed")
    await until(has_begun)
    for person in (bob, ann):
        await person.submit(match_id, "surrender")
    # No wait: whether a record has told so yet matters to nobody.
    first = await change(bob, "Rematch", room)
    second = await change(ann, "Rematch", room)

    assert first.room_id == second.room_id != room.room_id
    assert second.rematch_of == room.room_id
    assert [seat.WhichOneof("occupant") for seat in second.seats] == [
        "player",
        None,
        "player",
        "bot",
    ]
    assert second.creator_id == second.seats[2].player.player_id
    for person in (ann, bob):
        await change(person, "LeaveRoom", second)
