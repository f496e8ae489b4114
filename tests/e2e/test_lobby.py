"""The lobby through the gateway: quick matches, rooms that are followed, names, what was played.

Cited: SETUP-2.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest
from grpc import StatusCode

from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import PlayedMatch, Player, Room
from tests.chassis.answers import failure
from tests.e2e.rig import (
    CLASSIC,
    Refusal,
    Stage,
    accept,
    change,
    create_room,
    invited,
    new_name,
    refusal,
    refusal_of,
    room_of,
)
from tests.support.calling import Client, new_id, next_of, rest_of
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

WATCH_ROOMS: Final = "opolyx.lobby.v1.LobbyService/WatchRooms"


def followed(person: Client, room: Room) -> Any:
    request = pb.WatchRoomRequest(room_id=room.room_id)
    return person.lobby.WatchRoom(request, metadata=person.metadata, timeout=60)


def all_followed(person: Client) -> Any:
    return person.lobby.WatchRooms(pb.WatchRoomsRequest(), metadata=person.metadata, timeout=60)


async def quick_match(person: Client, seats: int = 2) -> Room:
    request = pb.QuickMatchRequest(command_id=new_id(), rule_set=CLASSIC, seat_count=seats)
    return await room_of(person.call(person.lobby.QuickMatch, request))


async def started(person: Client, room: Room) -> Room:
    """Follow a room until its match is there."""
    told = [each for each in await rest_of(followed(person, room)) if each.HasField("room")]
    last: Room = told[-1].room
    assert last.state == Room.STATE_STARTED
    return last


async def test_two_who_look_for_a_match_play_it(stage: Stage) -> None:
    ann, bob = stage.person(), stage.person()
    rooms = await asyncio.gather(quick_match(ann), quick_match(bob))
    made = await started(ann, rooms[0])
    for person in (ann, bob):
        await person.submit(made.match_id, "contribute_seed")
    history = await bob.call(bob.lobby.ListMyMatches, pb.ListMyMatchesRequest())

    assert {room.room_id for room in rooms} == {made.room_id}
    assert [seat.bot for seat in made.seats] == ["", ""]
    assert [match.match_id for match in history.matches] == [made.match_id]
    assert history.matches[0].outcome == PlayedMatch.OUTCOME_PLAYING


async def test_whoever_finds_nobody_plays_with_bots(stage: Stage) -> None:
    ann = stage.person()
    made = await started(ann, await quick_match(ann, seats=3))

    assert [seat.bot for seat in made.seats] == ["", "steady", "steady"]
    await ann.submit(made.match_id, "contribute_seed")


async def test_whoever_waits_for_a_match_waits_for_no_other(stage: Stage) -> None:
    """SETUP-2."""
    name = new_name()
    room = await quick_match(stage.person(name), seats=6)
    told = await refusal(quick_match(stage.person(name), seats=5), StatusCode.FAILED_PRECONDITION)
    left = await room_of(
        stage.person(name).call(
            stage.person(name).lobby.CancelQuickMatch,
            pb.CancelQuickMatchRequest(command_id=new_id()),
        )
    )

    assert told == Refusal("ALREADY_IN_MATCH", {"rule": "SETUP-2", "room_id": room.room_id})
    assert (left.room_id, left.state) == (room.room_id, Room.STATE_CLOSED)


async def test_rooms_are_followed_through_the_gateway(stage: Stage) -> None:
    ann, spectator = stage.person(), stage.person("", "spectator")
    call = all_followed(spectator)
    await next_of("rooms", call)
    hidden = await create_room(stage.person(), visibility=Room.VISIBILITY_PRIVATE)
    room = await create_room(ann)
    # Tests beside this one may have rooms of their own.
    while (told := await next_of("room", call)).room_id != room.room_id:
        assert told.room_id != hidden.room_id
    await change(ann, "LeaveRoom", room)
    while await next_of("gone_room_id", call) != room.room_id:
        pass
    await next_of("server_time_ms", call)
    call.cancel()


async def test_who_is_kicked_follows_a_private_room_no_more(stage: Stage) -> None:
    ann, bob = stage.person(), stage.person()
    room = await create_room(ann, visibility=Room.VISIBILITY_PRIVATE)
    await accept(bob, await invited(ann, room))
    joined = await change(bob, "JoinRoom", room)
    call = followed(bob, room)
    assert await next_of("room", call) == joined
    await change(ann, "KickSeat", room, seat=1)
    error = await failure(rest_of(call))

    assert refusal_of(error, StatusCode.NOT_FOUND) == Refusal("ROOM_NOT_FOUND", {})


async def test_a_stream_of_rooms_ends_with_the_token_and_with_the_client(stage: Stage) -> None:
    def ended() -> list[str]:
        """Return how such streams have ended at the lobby."""
        lines = map(json.loads, stage.system.log.read_text().splitlines())
        return [
            line["code"]
            for line in lines
            if line["event"] == "rpc_handled"
            and (line["service"], line.get("method")) == ("lobby", WATCH_ROOMS)
        ]

    before = len(ended())
    short = all_followed(stage.person(ttl_ms=2_000))
    await next_of("rooms", short)
    error = await failure(rest_of(short))
    assert refusal_of(error, StatusCode.UNAUTHENTICATED) == Refusal("TOKEN_EXPIRED", {})
    # Whatever ends it here, the lobby does not go on telling nobody.
    await until(lambda: len(ended()) == before + 1)
    gone = all_followed(stage.person())
    await next_of("rooms", gone)
    gone.cancel()
    await until(lambda: len(ended()) == before + 2)

    assert ended()[before:] == ["CANCELLED"] * 2


async def test_people_are_called_what_they_say(stage: Stage) -> None:
    name = new_name()
    ann, bob, spectator = stage.person(name), stage.person(), stage.person("", "spectator")
    own = await ann.call(ann.lobby.GetPlayer, pb.GetPlayerRequest())
    naming = pb.SetDisplayNameRequest(command_id=new_id(), display_name="Ann of Ghent")
    named = await ann.call(ann.lobby.SetDisplayName, naming)
    batch = pb.BatchGetPlayersRequest(player_ids=[own.player_id])
    seen = await bob.call(bob.lobby.BatchGetPlayers, batch)
    nobody = spectator.call(spectator.lobby.GetPlayer, pb.GetPlayerRequest())

    assert own.display_name == name
    assert named == Player(player_id=own.player_id, display_name="Ann of Ghent")
    assert list(seen.players) == [named]
    assert await refusal(nobody, StatusCode.NOT_FOUND) == Refusal("PLAYER_NOT_FOUND", {})
