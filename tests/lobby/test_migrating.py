"""Rooms of the release before are there after its tables have become this one's."""

import asyncpg
import pytest

from libs.store.connections import Connections
from libs.store.migrate import migrate, read_migrations
from opolyx.lobby.v1.room_pb2 import Room
from services.lobby.bootstrap import MIGRATIONS
from services.lobby.events import Watching
from services.lobby.ports import Idle
from services.lobby.room import State
from services.lobby.store import PostgresRooms
from tests.lobby.rig import PLAIN, new_id

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

_ADD_ROOM = """
    INSERT INTO lobby.room (room_id, sequence, state, match_id, facts, rule_set, is_listed)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""


def older(state: Room.State.ValueType, match_id: str = "") -> Room:
    """Return a room as the release before kept it."""
    ann = Room.Seat(seat=0)
    ann.player.player_id = new_id()
    return Room(
        room_id=new_id(),
        sequence=3,
        rule_set=PLAIN,
        seats=[ann, Room.Seat(seat=1, bot="shark", ready=True)],
        visibility=Room.VISIBILITY_PRIVATE,
        creator_id=ann.player.player_id,
        state=state,
        match_id=match_id,
    )


async def test_rooms_of_the_release_before_are_read_and_have_their_time(database: str) -> None:
    waiting, started = older(Room.STATE_WAITING), older(Room.STATE_STARTED, new_id())
    connection = await asyncpg.connect(database)
    await connection.execute("DROP SCHEMA lobby CASCADE")
    every = read_migrations(MIGRATIONS)
    await migrate(connection, "lobby", every[:1])
    for room, state in ((waiting, "waiting"), (started, "started")):
        kept = (room.room_id, 3, state, room.match_id or None, room.SerializeToString())
        await connection.execute(_ADD_ROOM, *kept, PLAIN, False)  # noqa: FBT003 - a column
    await migrate(connection, "lobby", every)
    now_ms: int = await connection.fetchval("SELECT (extract(epoch FROM now()) * 1000)::bigint")
    await connection.close()

    connections = await Connections.open(database, name="test")
    rooms = PostgresRooms(connections)
    read = await rooms.find(waiting.room_id)
    over = await rooms.find(started.room_id)
    long_ago = await rooms.idle(before_ms=now_ms - 60_000, limit=9)
    by_now = await rooms.idle(before_ms=now_ms + 60_000, limit=9)
    await connections.close()

    assert read is not None
    assert (read.state, read.watching, read.bot_strength) == (
        State.WAITING,
        Watching.EVERYBODY,
        "steady",
    )
    # Whoever sits in a private room may come back to it, as in one that is made now.
    assert read.guests == read.people == {waiting.creator_id}
    assert over is not None
    assert (over.state, over.match_id) == (State.STARTED, started.match_id)
    assert long_ago == []
    assert by_now == [Idle(waiting.room_id, 3)]
