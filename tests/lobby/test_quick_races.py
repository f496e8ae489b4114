"""Of those who look for a quick match at once nobody is lost, and nobody is in two."""

from collections import Counter
from hashlib import sha256

import asyncpg
import pytest

from libs.kernel.ids import fresh_id
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.store.connections import Connections
from libs.store.ports import StoreUnavailableError
from opolyx.lobby.v1.room_pb2 import Room
from services.lobby import commands as c
from services.lobby.handlers import Asked, Handlers
from services.lobby.quick_store import PostgresQuickRooms
from services.lobby.room import Room as StoredRoom
from services.lobby.store import PostgresRooms
from services.lobby.wire import person_actor
from tests.lobby.racing import race
from tests.lobby.rig import NOW_MS, PLAIN, WITH_CARDS, Person, Rig, new_id, occupants
from tests.lobby.test_quick import FILL_MS, started
from tests.store.postgres_rig import postgres_rig

pytestmark = pytest.mark.postgres

RACES = 6


async def bound(rig: Rig) -> list[str]:
    """Return who is bound, ascending."""
    connection = await asyncpg.connect(rig.url)
    rows = await connection.fetch("SELECT player_id FROM lobby.occupancy ORDER BY player_id")
    await connection.close()
    return [str(row["player_id"]) for row in rows]


async def free_all(rig: Rig) -> None:
    """Let everybody out of their matches, so that they can sit down again."""
    connection = await asyncpg.connect(rig.url)
    await connection.execute("DELETE FROM lobby.occupancy")
    await connection.close()


def ids(people: list[Person]) -> list[str]:
    return sorted(person.player_id for person in people)


async def test_twenty_at_once_fill_five_tables_of_four(rig: Rig) -> None:
    second = await rig.open_lobby()
    people = await rig.people(*(f"P{n}" for n in range(20)))
    rooms, reasons = await race(
        (person if n % 2 else person.through(second)).quick_match()
        for n, person in enumerate(people)
    )
    assert not reasons
    tables = Counter(room.room_id for room in rooms)
    assert list(tables.values()) == [4] * 5
    first_of = {occupants(room)[0]: room.room_id for room in rooms}
    made = [
        await started(person, first_of[person.player_id])
        for person in people
        if person.player_id in first_of
    ]
    seated = [player for room in made for player in occupants(room)]
    assert sorted(seated) == ids(people)
    assert await bound(rig) == ids(people)


async def test_one_command_sent_at_once_is_one_seat(rig: Rig) -> None:
    second = await rig.open_lobby()
    for _ in range(RACES):
        (ann,) = await rig.people(new_id())
        command_id = new_id()
        rooms, reasons = await race(
            (ann if n % 2 else ann.through(second)).quick_match(command_id=command_id)
            for n in range(8)
        )

        assert not reasons
        assert {room.SerializeToString(deterministic=True) for room in rooms} == {
            rooms[0].SerializeToString(deterministic=True)
        }
        assert occupants(rooms[0]).count(ann.player_id) == 1


async def test_whoever_looks_for_many_at_once_waits_for_one(rig: Rig) -> None:
    second = await rig.open_lobby()
    for _ in range(RACES):
        (ann,) = await rig.people(new_id())
        calls = [
            ann.quick_match(),
            ann.through(second).quick_match(),
            ann.quick_match(seat_count=2),
            ann.through(second).quick_match(WITH_CARDS),
            ann.create(),
        ]
        rooms, reasons = await race(calls)

        assert len(rooms) == 1
        assert reasons == [Reason.ALREADY_IN_MATCH] * 4
        assert await bound(rig) == [ann.player_id]
        await free_all(rig)


async def test_whoever_cancels_while_the_last_seat_is_taken_is_out_or_in(rig: Rig) -> None:
    second = await rig.open_lobby()
    for _ in range(RACES):
        ann, bob = await rig.people(new_id(), new_id())
        room_id = (await ann.quick_match(seat_count=2)).room_id
        _, reasons = await race((ann.cancel(), bob.through(second).quick_match(seat_count=2)))
        if reasons:
            assert reasons == [Reason.ROOM_CLOSED]
            made = await started(ann, room_id)
            assert sorted(occupants(made)) == ids([ann, bob])
            assert await bound(rig) == ids([ann, bob])
        else:
            # Bob waits, wherever that is, and not for ever.
            assert await bound(rig) == ids([bob])
            left = await bob.cancel()
            assert left.state == Room.STATE_CLOSED
        await free_all(rig)


async def test_whoever_cancels_while_bots_come_is_out_or_in(rig: Rig) -> None:
    second = await rig.open_lobby()
    for _ in range(RACES):
        ann, bob = await rig.people(new_id(), new_id())
        room_id = (await ann.quick_match()).room_id
        await bob.quick_match()
        rig.clock.advance(FILL_MS)
        _, reasons = await race((bob.through(second).cancel(),))
        made = await started(ann, room_id)

        there = [ann, bob] if reasons else [ann]
        assert reasons in ([], [Reason.ROOM_CLOSED])
        assert [player for player in occupants(made) if player != "steady"] == [
            person.player_id for person in there
        ]
        assert await bound(rig) == ids(there)
        await free_all(rig)


async def test_several_replicas_fill_a_room_once(rig: Rig) -> None:
    for _ in range(3):
        await rig.open_lobby()
    people = await rig.people(*(f"P{n}" for n in range(5)))
    rooms = [await person.quick_match(PLAIN, 2 + n) for n, person in enumerate(people)]
    rig.clock.advance(FILL_MS)
    made = [await started(person, room.room_id) for person, room in zip(people, rooms, strict=True)]

    assert {asked.match_id for asked in rig.engine.asked} == {room.match_id for room in made}
    assert [room.sequence for room in made] == [3] * 5


async def test_a_full_room_is_started_though_nobody_was_left_to_do_it(rig: Rig) -> None:
    """The replica that took the last seat has crashed before it gave the start."""
    ann, bob = await rig.people("Ann", "Bob")
    await rig.close_lobbies()
    connections = await Connections.open(rig.url, name="crashing")
    handlers = await rig.handlers(PostgresRooms(connections))
    rooms = [await seat(handlers, connections, person.player_id) for person in (ann, bob)]
    await connections.close()
    stub = await rig.open_lobby()
    made = await started(ann.through(stub), rooms[0].room_id)

    assert rooms[1].free_seats == 0
    assert occupants(made) == [ann.player_id, bob.player_id]


async def test_a_seat_whose_answer_was_lost_is_one_seat(rig: Rig) -> None:
    async with postgres_rig(rig.url) as far:
        handlers = await rig.handlers(PostgresRooms(far.line))
        player, command_id = new_id(), new_id()
        far.proxy.cut_before_reply(b"COMMIT\x00")
        with pytest.raises(StoreUnavailableError):
            await seat(handlers, far.line, player, command_id)
        room = await seat(handlers, far.line, player, command_id)

        assert room.sequence == 1
        assert await bound(rig) == [player]


async def seat(
    handlers: Handlers, connections: Connections, player: str, command_id: str = ""
) -> StoredRoom:
    """Seat somebody in a quick match of two, and do nothing more."""
    command = c.QuickMatch(player=player, rule_set=PLAIN, seat_count=2, fill_ms=NOW_MS + FILL_MS)
    asked = Asked(
        command=command,
        command_id=command_id or new_id(),
        actor=person_actor(player),
        request_hash=sha256(b"quick").digest(),
    )
    rooms = PostgresQuickRooms(connections)
    outcome = await handlers.change_held(lambda: rooms.hold(asked, fresh_id(NOW_MS)), asked)
    assert not isinstance(outcome, Refusal)
    return outcome
