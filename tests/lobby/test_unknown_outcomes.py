"""A command whose answer was lost is carried out once, however often it is sent (W6)."""

from collections.abc import AsyncIterator

import pytest

from libs.chassis.channels import open_channel
from libs.chassis.engines import Engines
from libs.kernel.clock import ManualClock
from libs.rules.refusals import Refusal
from libs.store.ports import StoreUnavailableError
from services.lobby import commands as c
from services.lobby.handlers import Asked, Handlers
from services.lobby.neighbours import EngineMatches
from services.lobby.room import Room
from services.lobby.store import PostgresRooms
from services.lobby.wire import person_actor
from tests.lobby.rig import NOW_MS, PLAIN, new_id
from tests.store.postgres_rig import PostgresRig, postgres_rig

pytestmark = pytest.mark.postgres

COMMITTED = b"COMMIT\x00"
BEGUN = b"BEGIN\x00"
"""How PostgreSQL says that a transaction is committed, or begun."""


class Line:
    """Handlers whose line to the store may be cut."""

    def __init__(self, rig: PostgresRig) -> None:
        self.rig = rig
        self.rooms = PostgresRooms(rig.line)
        self.told = 0
        self.handlers = Handlers(
            self.rooms,
            EngineMatches(Engines(["127.0.0.1:1"], open_channel)),
            ManualClock(NOW_MS),
            self._tell,
        )

    def lose_reply(self) -> None:
        self.rig.proxy.cut_before_reply(COMMITTED)

    def _tell(self) -> None:
        self.told += 1


@pytest.fixture
async def line(shared_database: str) -> AsyncIterator[Line]:
    async with postgres_rig(shared_database) as rig:
        yield Line(rig)


def asked(command: c.CreateRoom | c.JoinRoom) -> Asked[c.Command]:
    actor = person_actor(command.player)
    return Asked(command=command, command_id=new_id(), actor=actor, request_hash=bytes(32))


def creating() -> Asked[c.Command]:
    return asked(c.CreateRoom(player=new_id(), rule_set=PLAIN, seat_count=4, is_listed=True))


async def test_a_room_whose_making_had_no_answer_is_made_once(line: Line) -> None:
    command = creating()
    line.lose_reply()
    with pytest.raises(StoreUnavailableError):
        await line.handlers.create(command)
    made = await line.handlers.create(command)

    assert isinstance(made, Room)
    assert made.sequence == 1
    assert await line.handlers.create(command) == made


async def test_a_join_that_had_no_answer_is_one_join(line: Line) -> None:
    room = await line.handlers.create(creating())
    assert not isinstance(room, Refusal)
    command = asked(c.JoinRoom(player=new_id()))
    line.lose_reply()
    with pytest.raises(StoreUnavailableError):
        await line.handlers.change(room.room_id, command)
    joined = await line.handlers.change(room.room_id, command)

    assert isinstance(joined, Room)
    assert joined.sequence == 2
    assert await line.rooms.find(room.room_id) == joined


async def test_what_never_got_there_changes_nothing(line: Line) -> None:
    room = await line.handlers.create(creating())
    assert not isinstance(room, Refusal)
    command = asked(c.JoinRoom(player=new_id()))
    line.rig.proxy.cut_before_reply(BEGUN)
    with pytest.raises(StoreUnavailableError):
        await line.handlers.change(room.room_id, command)
    unchanged = await line.rooms.find(room.room_id)
    joined = await line.handlers.change(room.room_id, command)

    assert unchanged == room
    assert isinstance(joined, Room)
    assert joined.sequence == 2
