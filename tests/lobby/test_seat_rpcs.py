"""Seats, kicks and playing again, over gRPC."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.access_pb2 import Access
from tests.chassis.answers import answer
from tests.lobby.invariants import check_lobby
from tests.lobby.rig import Person, Rig, new_id, occupants

pytestmark = pytest.mark.postgres


async def reason(call: Awaitable[Any]) -> str:
    told = (await answer(call)).told
    assert told is not None
    return told.reason


async def test_a_room_has_the_terms_that_it_was_made_on(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create(watching=Access.WATCHING_SEATS, bot_strength="shark")
    with_bot = await ann.add_bot(room.room_id, "")

    assert room.watching == Access.WATCHING_SEATS
    assert room.bot_strength == "shark"
    assert occupants(with_bot) == [ann.player_id, "shark", "", ""]


@pytest.mark.parametrize(
    ("visibility", "watching"),
    [
        (Room.VISIBILITY_LISTED, Access.WATCHING_EVERYBODY),
        (Room.VISIBILITY_PRIVATE, Access.WATCHING_INVITED),
    ],
)
async def test_whoever_may_come_may_watch_where_nobody_says_who(
    rig: Rig, visibility: Room.Visibility.ValueType, watching: Access.Watching.ValueType
) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create(visibility=visibility)

    assert (room.watching, room.bot_strength) == (watching, "steady")


async def test_seats_are_taken_cleared_and_handed_over(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id)
    await ann.add_bot(room_id, seat=3)

    moved = await bob.take_seat(room_id, 2)
    by_creator = await ann.take_seat(room_id, 1, from_seat=3)
    without_bot = await ann.remove_bot(room_id, 1)
    handed = await ann.hand_over(room_id, 2)
    kicked = await bob.kick(room_id, 0)

    assert occupants(moved) == [ann.player_id, "", bob.player_id, "steady"]
    assert occupants(by_creator) == [ann.player_id, "steady", bob.player_id, ""]
    assert occupants(without_bot) == [ann.player_id, "", bob.player_id, ""]
    assert handed.creator_id == bob.player_id
    assert occupants(kicked) == ["", "", bob.player_id, ""]
    assert kicked.sequence == 8
    await check_lobby(rig)


async def test_whoever_was_kicked_is_free_and_stays_out(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id)
    await ann.kick(room_id, 1, player_id=bob.player_id)
    banned = await answer(bob.join(room_id))

    assert banned.code is StatusCode.PERMISSION_DENIED
    assert banned.told is not None
    assert banned.told.reason == Reason.BANNED_FROM_ROOM
    assert (await bob.create()).creator_id == bob.player_id
    await check_lobby(rig)


async def test_one_does_not_kick_oneself(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room_id = (await ann.create()).room_id
    refused = await answer(ann.kick(room_id, 0))

    assert refused.told is not None
    assert refused.told.violations == (("seat", "must not be one's own"),)


Do = Callable[[Person, str, str], Awaitable[Room]]

COMMANDS: dict[str, Do] = {
    "take seat": lambda ann, room, id_: ann.take_seat(room, 3, command_id=id_),
    "remove bot": lambda ann, room, id_: ann.remove_bot(room, 2, command_id=id_),
    "kick": lambda ann, room, id_: ann.kick(room, 1, command_id=id_),
    "hand over": lambda ann, room, id_: ann.hand_over(room, 1, command_id=id_),
}
"""Each by Ann, in a room where Bob sits on 1 and a bot on 2."""


@pytest.mark.parametrize("do", COMMANDS.values(), ids=COMMANDS)
async def test_a_command_that_is_repeated_changes_nothing_and_gives_the_same_reply(
    rig: Rig, do: Do
) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id)
    await ann.add_bot(room_id)
    command_id = new_id()
    first = await do(ann, room_id, command_id)
    await ann.leave(room_id)
    now = await ann.get(room_id)

    assert await do(ann, room_id, command_id) == first
    assert await ann.get(room_id) == now
    assert await reason(ann.set_ready(room_id, command_id=command_id)) == Reason.COMMAND_ID_REUSED


NO_ROOM = "01890000-0000-7000-8000-000000000000"

MALFORMED: dict[str, tuple[Callable[[Person], Awaitable[Any]], list[str]]] = {
    "a seat below zero": (lambda p: p.take_seat(NO_ROOM, -1), ["seat"]),
    "an origin below zero": (lambda p: p.take_seat(NO_ROOM, 1, from_seat=-1), ["from_seat"]),
    "no seat to take": (lambda p: p.take_seat(NO_ROOM, None), ["seat"]),  # type: ignore[arg-type]
    "no seat to clear": (lambda p: p.remove_bot(NO_ROOM, None), ["seat"]),  # type: ignore[arg-type]
    "nobody to kick": (lambda p: p.kick(NO_ROOM, None), ["seat"]),  # type: ignore[arg-type]
    "no player": (lambda p: p.kick(NO_ROOM, 1, player_id="bob"), ["player_id"]),
    "nobody to hand over to": (
        lambda p: p.hand_over(NO_ROOM, None),  # type: ignore[arg-type]
        ["seat"],
    ),
    "no room to play again": (lambda p: p.rematch("", command_id=""), ["room_id", "command_id"]),
}


@pytest.mark.parametrize(("do", "fields"), MALFORMED.values(), ids=MALFORMED)
async def test_what_cannot_be_understood_names_its_fields(
    rig: Rig, do: Callable[[Person], Awaitable[Any]], fields: list[str]
) -> None:
    (ann,) = await rig.people("Ann")
    refused = await answer(do(ann))

    assert refused.told is not None
    assert refused.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refused.told.violations] == fields


# Playing again.


async def played(rig: Rig) -> tuple[Person, Person, str]:
    """Return two people whose match is over, and its room, where a bot sat between them."""
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id, seat=2)
    await bob.set_ready(room_id)
    await ann.add_bot(room_id, "shark", seat=1)
    await ann.start(room_id)
    rig.engine.is_over = True
    return ann, bob, room_id


async def test_those_who_played_play_again_on_their_seats(rig: Rig) -> None:
    ann, bob, room_id = await played(rig)
    made = await bob.rematch(room_id)
    found = await ann.rematch(room_id)

    assert made.rematch_of == found.rematch_of == room_id
    assert made.creator_id == bob.player_id
    assert made.room_id == found.room_id != room_id
    assert occupants(found) == [ann.player_id, "shark", bob.player_id, ""]
    await check_lobby(rig, is_anybody_out=True)


async def test_a_rematch_that_is_repeated_is_the_same_room_as_it_was(rig: Rig) -> None:
    ann, bob, room_id = await played(rig)
    first_id, second_id = new_id(), new_id()
    first = await bob.rematch(room_id, command_id=first_id)
    second = await ann.rematch(room_id, command_id=second_id)
    await bob.leave(first.room_id)
    await ann.leave(first.room_id)

    assert await bob.rematch(room_id, command_id=first_id) == first
    assert await ann.rematch(room_id, command_id=second_id) == second


async def test_after_a_rematch_there_is_another_one(rig: Rig) -> None:
    ann, bob, room_id = await played(rig)
    first = await ann.rematch(room_id)
    await bob.rematch(room_id)
    await bob.set_ready(first.room_id)
    await ann.start(first.room_id)
    second = await ann.rematch(room_id)
    third = await bob.rematch(first.room_id)

    assert len({room_id, first.room_id, second.room_id, third.room_id}) == 4
    assert third.rematch_of == first.room_id


async def test_a_rematch_is_for_those_who_played(rig: Rig) -> None:
    ann, _, room_id = await played(rig)
    (cem,) = await rig.people("Cem")
    waiting = await cem.create()

    assert await reason(cem.rematch(room_id)) == Reason.NOT_SEATED
    assert await reason(cem.rematch(waiting.room_id)) == Reason.MATCH_NOT_STARTED
    assert await reason(ann.rematch(NO_ROOM)) == Reason.ROOM_NOT_FOUND


async def test_nobody_plays_again_while_they_still_play(rig: Rig) -> None:
    ann, _, room_id = await played(rig)
    rig.engine.is_over = False

    assert await reason(ann.rematch(room_id)) == Reason.ALREADY_IN_MATCH
