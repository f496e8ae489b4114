"""Whatever is done in a room at once is done in some order, and everything holds afterwards."""

import asyncio

import pytest

from libs.kernel.reasons import Reason
from opolyx.lobby.v1.room_pb2 import Room
from tests.lobby.invariants import check_lobby
from tests.lobby.racing import race
from tests.lobby.rig import Person, Rig, new_id, occupants

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

TIMES = 6
"""How often each race is run: who wins is up to chance."""


async def empty(room_id: str, *people: Person) -> None:
    """Have everybody leave who is there, so that they may sit down elsewhere."""
    await race(person.leave(room_id) for person in people)


async def test_a_join_that_two_tabs_send_at_once_is_one_join(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    bob_too = bob.through(await rig.open_lobby())
    for _ in range(TIMES):
        room_id = (await ann.create()).room_id
        command_id = new_id()
        rooms, reasons = await race(
            tab.join(room_id, command_id=command_id) for tab in (bob, bob_too) * 3
        )

        assert not reasons
        assert len({room.SerializeToString() for room in rooms}) == 1
        assert rooms[0].sequence == 2
        await check_lobby(rig)
        await empty(room_id, ann, bob)


async def test_two_tabs_in_two_rooms_sit_in_one(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    cem_too = cem.through(await rig.open_lobby())
    first, second = (await ann.create()).room_id, (await bob.create()).room_id
    for _ in range(TIMES):
        rooms, reasons = await race((cem.join(first), cem_too.join(second)))

        assert len(rooms) == 1
        assert reasons == [Reason.ALREADY_IN_MATCH]
        await check_lobby(rig)
        await cem.leave(rooms[0].room_id)


async def test_a_join_whose_client_goes_away_is_whole_or_nothing(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    for step in range(12):
        room_id = (await ann.create()).room_id
        command_id = new_id()
        joining = asyncio.create_task(bob.join(room_id, command_id=command_id))
        await asyncio.sleep(step / 1000)
        joining.cancel()
        await asyncio.gather(joining, return_exceptions=True)
        await check_lobby(rig)
        joined = await bob.join(room_id, command_id=command_id)

        assert joined.sequence == 2
        assert occupants(await ann.get(room_id))[1] == bob.player_id
        await empty(room_id, ann, bob)


async def test_the_last_two_who_leave_at_once_close_the_room_once(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    bob_too = bob.through(await rig.open_lobby())
    for _ in range(TIMES):
        room_id = (await ann.create()).room_id
        await bob.join(room_id)
        left, reasons = await race((ann.leave(room_id), bob_too.leave(room_id)))
        first, last = sorted(left, key=lambda room: room.sequence)

        assert not reasons
        assert (first.state, last.state) == (Room.STATE_WAITING, Room.STATE_CLOSED)
        # Whoever was left is the creator, until they left too.
        assert first.creator_id in occupants(first)
        assert last.closed_why == Room.CLOSED_WHY_EMPTY
        await check_lobby(rig)


async def test_whoever_takes_a_seat_at_once_with_others_has_one(rig: Rig) -> None:
    ann, *others = await rig.people("Ann", "Bob", "Cem", "Dan")
    second = await rig.open_lobby()
    room_id = (await ann.create(seat_count=6)).room_id
    for other in others:
        await other.join(room_id)
    for seat in (5, 4, 0, 1, 2, 3):
        rooms, reasons = await race(
            (person if n % 2 else person.through(second)).take_seat(room_id, seat)
            for n, person in enumerate((ann, *others))
        )

        assert len(rooms) <= 1
        assert set(reasons) <= {Reason.SEAT_TAKEN}
        await check_lobby(rig)


async def test_a_kick_and_a_word_of_readiness_are_in_some_order(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    bob_too = bob.through(await rig.open_lobby())
    for _ in range(TIMES):
        room_id = (await ann.create()).room_id
        await bob.join(room_id)
        _, reasons = await race((ann.kick(room_id, 1), bob_too.set_ready(room_id)))
        room = await ann.get(room_id)

        assert set(reasons) <= {Reason.NOT_SEATED}
        assert occupants(room) == [ann.player_id, "", "", ""]
        assert not any(seat.ready for seat in room.seats)
        await check_lobby(rig)
        await empty(room_id, ann)


async def test_whoever_is_kicked_while_the_match_starts_is_out_or_plays(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    ann_too = ann.through(await rig.open_lobby())
    for _ in range(TIMES):
        room_id = (await ann.create()).room_id
        for other in (bob, cem):
            await other.join(room_id)
            await other.set_ready(room_id)
        _, reasons = await race((ann.start(room_id), ann_too.kick(room_id, 2)))
        room = await ann.get(room_id)
        # Both replicas may have made it: the very same.
        asked = next(each for each in rig.engine.asked if each.match_id == room.match_id)
        plays = cem.player_id in [spec.player for spec in asked.seats]

        assert set(reasons) <= {Reason.ROOM_CLOSED}
        assert plays == bool(reasons)
        await check_lobby(rig, is_anybody_out=True)
        await _over(rig, ann, bob, cem)


async def test_two_who_play_again_at_once_meet_in_one_room(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    second = await rig.open_lobby()
    for _ in range(TIMES):
        room_id = (await ann.create()).room_id
        for other in (bob, cem):
            await other.join(room_id)
            await other.set_ready(room_id)
        await ann.start(room_id)
        rig.engine.is_over = True
        rooms, reasons = await race(
            person.rematch(room_id) for person in (ann, bob.through(second), cem)
        )
        rig.engine.is_over = False
        met = await ann.get(rooms[0].room_id)

        assert not reasons
        assert {room.room_id for room in rooms} == {met.room_id}
        assert occupants(met) == [ann.player_id, bob.player_id, cem.player_id, ""]
        await check_lobby(rig, is_anybody_out=True)
        await empty(met.room_id, ann, bob, cem)


async def test_whoever_takes_an_invitation_while_being_kicked_stays_out(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    bob_too = bob.through(await rig.open_lobby())
    for _ in range(TIMES):
        room = await ann.create(visibility=Room.VISIBILITY_PRIVATE)
        code = (await ann.invite(room.room_id)).code
        await bob.accept(code)
        await bob.join(room.room_id)
        _, reasons = await race((ann.kick(room.room_id, 1), bob_too.accept(code)))
        _, after = await race((bob.join(room.room_id), bob_too.accept(code)))

        assert set(reasons) <= {Reason.BANNED_FROM_ROOM}
        assert sorted(after) == [Reason.BANNED_FROM_ROOM, Reason.ROOM_NOT_FOUND]
        await check_lobby(rig)
        await empty(room.room_id, ann)


async def test_invitations_made_at_once_are_no_more_than_there_may_be(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    ann_too = ann.through(await rig.open_lobby())
    room_id = (await ann.create()).room_id
    calls = [(ann if n % 2 else ann_too).invite(room_id) for n in range(25)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 20


async def _over(rig: Rig, *people: Person) -> None:
    """End the match of these people, so that they can sit down again."""
    rig.engine.is_over = True
    for person in people:
        rooms, _ = await race([person.create()])
        await empty(rooms[0].room_id, person)
    rig.engine.is_over = False
