"""The list of rooms: what is in it, in which order, and page by page."""

import pytest

from libs.kernel.reasons import Reason
from libs.wire.paging import next_page_token
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from tests.chassis.answers import answer
from tests.lobby.rig import PLAIN, WITH_CARDS, Rig

pytestmark = pytest.mark.postgres

ROOM_ID = "01890000-0000-7000-8000-000000000000"
OF_ALL, OF_PLAIN = pb.ListRoomsRequest(), pb.ListRoomsRequest(rule_set=PLAIN)


async def listed(rig: Rig, **fields: object) -> tuple[list[str], str]:
    response = await rig.stub.ListRooms(pb.ListRoomsRequest(**fields))  # type: ignore[arg-type]
    return [room.room_id for room in response.rooms], response.next_page_token


async def rooms(rig: Rig, count: int, **fields: object) -> list[str]:
    """Make rooms, and return them, the newest first."""
    made = []
    for number in range(count):
        rig.clock.advance(1)
        host = await rig.person(f"Host {number} {fields}")
        made.append((await host.create(**fields)).room_id)  # type: ignore[arg-type]
    return made[::-1]


async def test_the_newest_rooms_come_first(rig: Rig) -> None:
    made = await rooms(rig, 3)

    assert await listed(rig) == (made, "")


async def test_a_room_in_the_list_is_the_room_with_its_names(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create()
    response = await rig.stub.ListRooms(pb.ListRoomsRequest())

    assert list(response.rooms) == [room]
    assert response.rooms[0].seats[0].player.display_name == "Ann"


async def test_pages_follow_each_other_without_a_gap_or_a_repeat(rig: Rig) -> None:
    made = await rooms(rig, 5)
    first, token = await listed(rig, page_size=2)
    newer = await rooms(rig, 1, seat_count=2)
    second, token = await listed(rig, page_size=2, page_token=token)
    third, end = await listed(rig, page_size=2, page_token=token)

    assert first + second + third == made
    assert end == ""
    assert (await listed(rig, page_size=1))[0] == newer


async def test_a_page_that_holds_all_is_the_last(rig: Rig) -> None:
    made = await rooms(rig, 2)

    assert await listed(rig, page_size=2) == (made, "")
    assert await listed(rig, page_size=500) == (made, "")


async def test_private_rooms_are_not_listed(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.create(visibility=Room.VISIBILITY_PRIVATE)

    assert await listed(rig) == ([], "")
    assert (await ann.get(room.room_id)).visibility == Room.VISIBILITY_PRIVATE


async def test_rooms_are_listed_while_they_wait(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    closed, started = await ann.create(), await bob.create()
    await ann.leave(closed.room_id)
    await bob.add_bot(started.room_id)
    waiting = await listed(rig)
    await bob.start(started.room_id)

    assert waiting == ([started.room_id], "")
    assert await listed(rig) == ([], "")


async def test_rooms_of_one_rule_set_can_be_listed(rig: Rig) -> None:
    plain = await rooms(rig, 1, rule_set=PLAIN)
    with_cards = await rooms(rig, 1, rule_set=WITH_CARDS)

    assert await listed(rig, rule_set=PLAIN) == (plain, "")
    assert await listed(rig, rule_set=WITH_CARDS) == (with_cards, "")


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"page_size": -1}, "page_size"),
        ({"page_token": "nonsense"}, "page_token"),
        ({"page_token": "ü"}, "page_token"),
        ({"page_token": next_page_token(OF_PLAIN, ROOM_ID)}, "page_token"),
        ({"page_token": next_page_token(OF_ALL, "no room")}, "page_token"),
        ({"rule_set": "opolyx.classic@9"}, "rule_set"),
    ],
)
async def test_what_cannot_be_listed_names_its_field(
    rig: Rig, fields: dict[str, object], wrong: str
) -> None:
    refused = await answer(
        rig.stub.ListRooms(pb.ListRoomsRequest(**fields))  # type: ignore[arg-type]
    )

    assert refused.told is not None
    assert refused.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refused.told.violations] == [wrong]
