"""What must hold in the lobby's tables, whatever was done at once or crashed."""

from collections import defaultdict
from collections.abc import Mapping
from functools import reduce
from typing import Any

import asyncpg

from libs.eventlog.topics import LOBBY_EVENTS
from libs.rules.events import PERSON
from services.lobby.event_wire import read_record
from services.lobby.events import MatchStarting, Record
from services.lobby.room import Room, State, apply
from services.lobby.store import room_of
from tests.lobby.rig import Rig


async def check_lobby(rig: Rig, *, is_anybody_out: bool = False) -> None:
    """Hold every table to every other.

    With *is_anybody_out*, people of matches may be free already; else all of them are bound.
    """
    connection = await asyncpg.connect(rig.url)
    # One moment of all tables: somebody may be writing still whose caller has gone.
    async with connection.transaction(isolation="repeatable_read"):
        rows = await connection.fetch("SELECT * FROM lobby.room")
        kept = {str(row["room_id"]): room_of(row) for row in rows}
        records = await _records(connection)
        bound = await connection.fetch("SELECT * FROM lobby.occupancy")
        waiting = await connection.fetch("SELECT room_id, sequence FROM lobby.outbox")
        guests = await connection.fetch("SELECT * FROM lobby.admission")
    await connection.close()

    assert set(kept) == set(records)
    for room_id, room in kept.items():
        check_records(room, records[room_id])
        check_room(room)
    check_occupancy(kept, records, bound, is_anybody_out=is_anybody_out)
    check_outbox(records, await _published(rig), waiting)
    assert all(kept[str(row["room_id"])].match_id == str(row["match_id"]) for row in guests)
    rematches = [r.rematch_of for r in kept.values() if r.rematch_of and r.state is State.WAITING]
    assert len(rematches) == len(set(rematches)), "people who play again wait in one room"


def check_records(room: Room, records: list[Record]) -> None:
    """Hold a room to what happened in it: gapless, each command once, and it comes to the room."""
    assert [record.sequence for record in records] == list(range(1, len(records) + 1))
    assert len({record.command_id for record in records}) == len(records)
    blank = Room(room_id=room.room_id, created_ms=records[0].at_ms)
    assert reduce(apply, records, blank) == room


def check_room(room: Room) -> None:
    """Hold a room to itself (SETUP-1, SETUP-2)."""
    seated = [spec.player for spec in room.table if spec and spec.kind == PERSON]
    assert len(seated) == len(set(seated)), "nobody sits twice"
    assert not room.banned & room.people, "whoever was kicked is out"
    assert not room.banned & room.guests
    assert all(room.person_on(seat) is not None for seat in room.ready), "people alone are ready"
    assert (room.closed_why is not None) == (room.state is State.CLOSED)
    if room.state is not State.CLOSED:
        assert room.people, "a room without people closes"
        assert room.creator in room.people or (room.fill_ms is not None and not room.creator)


def check_occupancy(
    rooms: Mapping[str, Room],
    records: Mapping[str, list[Record]],
    bound: list[Any],
    *,
    is_anybody_out: bool,
) -> None:
    """Hold who is bound to who sits in rooms that wait, or start, and in matches (SETUP-2)."""
    here = {(str(row["player_id"]), str(row["room_id"])): row for row in bound}
    assert len({player for player, _ in here}) == len(here)
    may = {(player, room.room_id) for room in rooms.values() for player in room.bound}
    must = {
        (player, room.room_id)
        for room in rooms.values()
        for player in room.bound
        if room.state is State.WAITING or not is_anybody_out
    }
    assert set(here) <= may, "somebody is bound to where they do not sit"
    assert must <= set(here), "somebody sits there who is not bound"
    for (player, room_id), row in here.items():
        room = rooms[room_id]
        assert (row["match_id"] and str(row["match_id"])) == (room.match_id or None)
        if room.match_id:
            assert _seats(records[room_id])[row["match_seat"]] == player


def check_outbox(
    records: Mapping[str, list[Record]], published: set[tuple[str, int]], waiting: list[Any]
) -> None:
    """Every record is in the event log, or waits to get there."""
    known = {(str(row["room_id"]), row["sequence"]) for row in waiting} | published
    assert known >= {
        (room_id, record.sequence) for room_id, its in records.items() for record in its
    }


async def _records(connection: Any) -> dict[str, list[Record]]:
    rows = await connection.fetch("SELECT record FROM lobby.room_record ORDER BY room_id, sequence")
    found: dict[str, list[Record]] = defaultdict(list)
    for row in rows:
        record = read_record(row["record"])
        found[record.room_id].append(record)
    return found


async def _published(rig: Rig) -> set[tuple[str, int]]:
    found = set()
    # A group of its own each time reads from the beginning.
    rig.readers += 1
    while batch := await rig.published(LOBBY_EVENTS.name, f"invariants {rig.readers}"):
        for delivery in batch:
            found.add((delivery.entry.key, int(delivery.entry.headers["sequence"])))
    return found


def _seats(records: list[Record]) -> list[str]:
    starting = next(
        event for record in records for event in record.events if isinstance(event, MatchStarting)
    )
    return [spec.player for spec in starting.seats]
