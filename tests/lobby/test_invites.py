"""Private rooms, and those who are invited into them."""

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from grpc import StatusCode

from libs.chassis.channels import on_behalf
from libs.kernel.reasons import Reason
from libs.wire.limits import INVITES_MAX
from opolyx.engine.v1 import caller_pb2
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.access_pb2 import Access
from tests.chassis.answers import answer
from tests.lobby.invariants import check_lobby
from tests.lobby.rig import NOW_MS, Person, Rig, new_id, occupants
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

MINUTE, HOUR, WEEK = timedelta(minutes=1), timedelta(hours=1), timedelta(days=7)


async def reason(call: Awaitable[Any]) -> str:
    told = (await answer(call)).told
    assert told is not None
    return told.reason


def lasting(time: timedelta) -> Duration:
    duration = Duration()
    duration.FromTimedelta(time)
    return duration


async def private(rig: Rig, **fields: Any) -> tuple[Person, Person, str]:
    """Return the creator of a private room, somebody else, and the room."""
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create(visibility=Room.VISIBILITY_PRIVATE, **fields)
    return ann, bob, room.room_id


async def started(rig: Rig, **fields: Any) -> tuple[Person, Person, str, str]:
    """Return as `private` does, with a code, of a room whose match is there."""
    ann, bob, room_id = await private(rig, **fields)
    code = (await ann.invite(room_id)).code
    await ann.add_bot(room_id)
    await ann.start(room_id)
    return ann, bob, room_id, code


def operator(person: Person) -> Person:
    caller = caller_pb2.Caller(operator_id=person.player_id)
    person.metadata = on_behalf(caller.SerializeToString())
    return person


# Who sees a private room.


async def test_a_private_room_is_not_there_for_others(rig: Rig) -> None:
    _, bob, room_id = await private(rig)

    for call in (
        bob.get(room_id),
        bob.join(room_id),
        bob.leave(room_id),
        bob.set_ready(room_id),
        bob.add_bot(room_id),
        bob.start(room_id),
        bob.take_seat(room_id, 1),
        bob.kick(room_id, 0),
        bob.invite(room_id),
        bob.rematch(room_id),
    ):
        refused = await answer(call)
        assert refused.code is StatusCode.NOT_FOUND
        assert refused.told is not None
        assert refused.told.reason == Reason.ROOM_NOT_FOUND


async def test_nor_does_an_id_that_was_used_there_tell_of_it(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    code = (await ann.invite(room_id, ttl=lasting(MINUTE))).code
    used = new_id()
    await ann.add_bot(room_id, command_id=used)
    rig.clock.advance(60_000)

    for call in (
        bob.join(room_id, command_id=used),
        bob.leave(room_id, command_id=used),
        bob.invite(room_id, command_id=used),
    ):
        assert await reason(call) == Reason.ROOM_NOT_FOUND
    assert await reason(bob.accept(code, command_id=used)) == Reason.INVITE_NOT_FOUND
    assert await reason(ann.leave(room_id, command_id=used)) == Reason.COMMAND_ID_REUSED


async def test_an_operator_sees_and_enters_a_private_room(rig: Rig) -> None:
    _, bob, room_id = await private(rig)
    operator(bob)

    assert (await bob.get(room_id)).room_id == room_id
    assert bob.player_id in occupants(await bob.join(room_id))


# Invitations.


async def test_whoever_has_the_code_sees_and_joins(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    invite = await ann.invite(room_id)
    seen = await bob.accept(invite.code)
    before = await bob.get(room_id)
    joined = await bob.join(room_id)

    assert len(invite.code) == 26
    assert set(invite.code) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert invite.room_id == room_id
    assert invite.expire_time.ToMilliseconds() == NOW_MS + HOUR // timedelta(milliseconds=1)
    assert occupants(seen) == [ann.player_id, "", "", ""]
    assert before == seen
    assert occupants(joined) == [ann.player_id, bob.player_id, "", ""]
    await check_lobby(rig)


async def test_the_same_command_is_the_same_code(rig: Rig) -> None:
    ann, _, room_id = await private(rig)
    command_id = new_id()
    first = await ann.invite(room_id, command_id=command_id)

    assert await ann.invite(room_id, command_id=command_id) == first
    assert (await ann.invite(room_id)).code != first.code
    again = ann.invite(room_id, command_id=command_id, ttl=lasting(MINUTE))
    assert await reason(again) == Reason.COMMAND_ID_REUSED


async def test_a_commands_id_is_no_invitations(rig: Rig) -> None:
    ann, _, room_id = await private(rig)
    command_id = new_id()
    await ann.add_bot(room_id, command_id=command_id)

    assert await reason(ann.invite(room_id, command_id=command_id)) == Reason.COMMAND_ID_REUSED


async def test_an_invitation_is_of_use_until_it_expires(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    (cem,) = await rig.people("Cem")
    invite = await ann.invite(room_id, ttl=lasting(MINUTE))
    rig.clock.advance(59_999)
    command_id = new_id()
    first = await bob.accept(invite.code, command_id=command_id)
    rig.clock.advance(1)

    assert await reason(cem.accept(invite.code)) == Reason.INVITE_NOT_FOUND
    assert await bob.accept(invite.code, command_id=command_id) == first


async def test_a_room_has_at_most_so_many_that_are_of_use(rig: Rig) -> None:
    ann, _, room_id = await private(rig)
    for _ in range(INVITES_MAX):
        await ann.invite(room_id, ttl=lasting(MINUTE))
    refused = await reason(ann.invite(room_id))
    rig.clock.advance(60_000)

    assert refused == Reason.TOO_MANY_INVITES
    assert (await ann.invite(room_id)).code


async def test_whoever_sits_there_invites(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    await bob.accept((await ann.invite(room_id)).code)

    assert await reason(bob.invite(room_id)) == Reason.NOT_SEATED
    await bob.join(room_id)
    assert (await bob.invite(room_id)).room_id == room_id


async def test_nobody_is_invited_to_a_room_that_has_closed(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    code = (await ann.invite(room_id)).code
    await ann.leave(room_id)

    assert await reason(bob.accept(code)) == Reason.ROOM_CLOSED


async def test_whoever_was_kicked_is_not_invited_again(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    code = (await ann.invite(room_id)).code
    await bob.accept(code)
    await bob.join(room_id)
    await ann.kick(room_id, 1)

    assert await reason(bob.accept(code)) == Reason.BANNED_FROM_ROOM
    assert await reason(bob.get(room_id)) == Reason.ROOM_NOT_FOUND


@pytest.mark.parametrize("ttl", [timedelta(seconds=59), WEEK + MINUTE, timedelta(-1)])
async def test_an_invitation_lasts_a_minute_to_a_week(rig: Rig, ttl: timedelta) -> None:
    ann, _, room_id = await private(rig)
    refused = await answer(ann.invite(room_id, ttl=lasting(ttl)))

    assert refused.told is not None
    assert [violation.field for violation in refused.told.violations] == ["ttl"]
    assert (await ann.invite(room_id, ttl=lasting(MINUTE))).code
    assert (await ann.invite(room_id, ttl=lasting(WEEK))).code


async def test_a_code_that_nobody_gave_out_is_none(rig: Rig) -> None:
    (bob,) = await rig.people("Bob")
    nonsense = await answer(bob.accept("a\x00b"))

    assert await reason(bob.accept("a" * 26)) == Reason.INVITE_NOT_FOUND
    assert nonsense.told is not None
    assert [violation.field for violation in nonsense.told.violations] == ["code"]


async def test_no_code_is_logged_or_recorded(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    ann, bob, room_id = await private(rig)
    code = (await ann.invite(room_id)).code
    await bob.accept(code)
    told = capsys.readouterr()
    found = await rig.published("opolyx.lobby-events.v1")

    assert "CreateInvite" in told.err + told.out
    assert code not in told.err + told.out
    assert not any(code.encode() in delivery.entry.value for delivery in found)


# Whoever may watch the match.


async def test_the_match_knows_who_was_invited(rig: Rig) -> None:
    ann, bob, room_id = await private(rig)
    (cem,) = await rig.people("Cem")
    code = (await ann.invite(room_id)).code
    await bob.accept(code)
    await cem.accept(code)
    await bob.join(room_id)
    await bob.set_ready(room_id)
    await ann.start(room_id)
    (asked,) = rig.engine.asked

    assert asked.access.watching == Access.WATCHING_INVITED
    assert list(asked.access.guest_ids) == [cem.player_id]


async def test_a_match_that_everybody_may_watch_says_nothing_of_it(rig: Rig) -> None:
    ann, _, _, _ = await started(rig, watching=Access.WATCHING_EVERYBODY)
    (asked,) = rig.engine.asked

    assert not asked.HasField("access")
    assert asked.seats[0].player == ann.player_id


async def test_whoever_takes_an_invitation_late_may_watch(rig: Rig) -> None:
    _, bob, room_id, code = await started(rig)
    room = await bob.accept(code)

    assert rig.engine.admitted == [(room.match_id, bob.player_id)]
    assert (await bob.get(room_id)).state == Room.STATE_STARTED
    await check_lobby(rig)


async def test_a_guest_is_admitted_once_the_engine_is_there(rig: Rig) -> None:
    _, bob, room_id, code = await started(rig)
    rig.engine.is_away = True
    room = await bob.accept(code)
    await rig.close_lobbies()
    rig.engine.is_away = False
    bob = bob.through(await rig.open_lobby())

    async def is_admitted() -> bool:
        return (room.match_id, bob.player_id) in rig.engine.admitted

    await until(is_admitted)
    assert (await bob.get(room_id)).sequence == room.sequence


async def test_a_guest_of_a_match_that_is_being_made_is_admitted_when_it_is_there(
    rig: Rig,
) -> None:
    ann, bob, room_id = await private(rig)
    code = (await ann.invite(room_id)).code
    await ann.add_bot(room_id)
    rig.engine.says = Reason.STORE_UNAVAILABLE
    await ann.start(room_id)
    room = await bob.accept(code)
    tries = len(rig.engine.asked)
    # An engine that does not have the match yet would never let him in.
    await until(lambda: len(rig.engine.asked) > tries + 2)
    rig.engine.says = None

    async def is_admitted() -> bool:
        return (room.match_id, bob.player_id) in rig.engine.admitted

    await until(is_admitted)
    # Every try was the very same match, though somebody was invited between them.
    assert len({request.SerializeToString() for request in rig.engine.asked}) == 1
    await check_lobby(rig)


async def test_no_guest_is_admitted_where_the_seats_alone_watch(rig: Rig) -> None:
    ann, bob, room_id = await private(rig, watching=Access.WATCHING_SEATS)
    (cem,) = await rig.people("Cem")
    code = (await ann.invite(room_id)).code
    await bob.accept(code)
    await ann.add_bot(room_id)
    await ann.start(room_id)
    await cem.accept(code)

    (asked,) = rig.engine.asked
    assert asked.access == Access(watching=Access.WATCHING_SEATS)
    assert rig.engine.admitted == []
    await check_lobby(rig)


async def test_a_guest_who_never_can_be_admitted_is_given_up(rig: Rig) -> None:
    _, bob, _, code = await started(rig)
    rig.engine.says_of_match = Reason.MATCH_NOT_FOUND
    await bob.accept(code)
    rig.engine.says_of_match = None
    (cem,) = await rig.people("Cem")
    room = await cem.accept(code)

    assert rig.engine.admitted == [(room.match_id, cem.player_id)]
