"""From a room to a match, whatever crashes."""

import pytest

from opolyx.lobby.v1.room_pb2 import Room
from tests.lobby.rig import Rig

pytestmark = pytest.mark.postgres


async def test_a_room_becomes_the_match_of_those_who_sit_there(rig: Rig) -> None:
    ann, bob = await rig.people("ann", "bob")
    room = await ann.create(seat_count=4)
    await bob.join(room.room_id, seat=2)
    await ann.add_bot(room.room_id, "shark", seat=3)
    await bob.set_ready(room.room_id)

    started = await ann.start(room.room_id)

    assert started.state == Room.STATE_STARTED
    (asked,) = rig.engine.asked
    assert asked.match_id == started.match_id
    assert asked.rule_set == room.rule_set
    assert [spec.player or spec.strength for spec in asked.seats] == [
        ann.player_id,
        bob.player_id,
        "shark",
    ]
    (told,) = rig.bots.told
    assert told.match_id == started.match_id
    assert [(seat.seat, seat.strength) for seat in told.seats] == [(2, "shark")]
