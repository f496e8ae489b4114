"""A quick match: people who want the same sit down together, and bots fill the rest in time."""

from collections.abc import Awaitable, Callable

import pytest

from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.access_pb2 import Access
from opolyx.record.v1 import event_pb2
from tests.chassis.answers import answer
from tests.lobby.rig import NOW_MS, PLAIN, WITH_CARDS, Person, Rig, new_id, occupants
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

FILL_MS = 15_000
TEAMS = "opolyx.teams@2"
RARE = event_pb2.CollectionCard.RARITY_RARE


async def reason(call: Awaitable[object]) -> str:
    """Return why a call is refused."""
    told = (await answer(call)).told
    assert told is not None
    return told.reason


async def started(person: Person, room_id: str) -> Room:
    """Wait until a room's match is there."""
    told = person.watch(room_id)
    room: Room = await told.next()
    while room.state != Room.STATE_STARTED:
        room = await told.next()
    return room


async def test_whoever_is_first_waits_in_a_room_without_a_creator(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room = await ann.quick_match()

    assert room.state == Room.STATE_WAITING
    assert occupants(room) == [ann.player_id, "", "", ""]
    assert (room.rule_set, room.creator_id, room.sequence) == (PLAIN, "", 1)
    assert room.fill_time.ToMilliseconds() == NOW_MS + FILL_MS
    assert not room.HasField("expire_time")
    assert (room.visibility, room.watching) == (
        Room.VISIBILITY_PRIVATE,
        Access.WATCHING_EVERYBODY,
    )


async def test_people_who_want_the_same_sit_down_together(rig: Rig) -> None:
    ann, bob, cem, dan = await rig.people("Ann", "Bob", "Cem", "Dan")
    room = await ann.quick_match()
    joined = await bob.quick_match()
    others = [await cem.quick_match(seat_count=3), await dan.quick_match(WITH_CARDS)]

    assert joined.room_id == room.room_id
    assert occupants(joined) == [ann.player_id, bob.player_id, "", ""]
    assert joined.fill_time == room.fill_time
    assert len({room.room_id, *(other.room_id for other in others)}) == 3


async def test_the_match_starts_as_soon_as_all_seats_are_taken(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.quick_match(seat_count=2)
    full = await bob.quick_match(seat_count=2)
    made = await started(ann, room.room_id)
    (asked,) = rig.engine.asked

    assert full.state == Room.STATE_WAITING
    assert occupants(full) == [ann.player_id, bob.player_id]
    assert made.match_id == asked.match_id
    assert [spec.player for spec in asked.seats] == [ann.player_id, bob.player_id]
    assert [match.match_id for match in (await bob.matches()).matches] == [made.match_id]


@pytest.mark.parametrize("rule_set", [PLAIN, TEAMS])
async def test_bots_fill_the_room_when_its_time_has_come(rig: Rig, rule_set: str) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.quick_match(rule_set)
    await bob.quick_match(rule_set)
    rig.clock.advance(FILL_MS)
    made = await started(ann, room.room_id)
    (asked,) = rig.engine.asked

    assert occupants(made) == [ann.player_id, bob.player_id, "steady", "steady"]
    assert [spec.player or spec.strength for spec in asked.seats] == occupants(made)
    assert made.fill_time == room.fill_time
    await until(lambda: bool(rig.bots.told))
    assert [seat.seat for seat in rig.bots.told[0].seats] == [2, 3]


async def test_nothing_starts_before_its_time(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    waiting = await ann.quick_match()
    rig.clock.advance(FILL_MS - 1)
    # Another one starts meanwhile, so the rooms were looked at.
    await bob.quick_match(seat_count=2)
    other = await cem.quick_match(seat_count=2)
    await started(bob, other.room_id)

    assert await ann.get(waiting.room_id) == waiting


async def test_whoever_cancels_is_free_and_the_others_wait_on(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.quick_match()
    await bob.quick_match()
    left = await ann.cancel()

    assert left.room_id == room.room_id
    assert occupants(left) == ["", bob.player_id, "", ""]
    assert left.creator_id == ""
    assert (await ann.create()).creator_id == ann.player_id


Leave = Callable[[Person, str], Awaitable[Room]]

LEAVE: dict[str, Leave] = {
    "cancel": lambda person, _: person.cancel(),
    "leave": lambda person, room_id: person.leave(room_id),
}


@pytest.mark.parametrize("how", LEAVE)
async def test_when_all_have_cancelled_the_room_closes(rig: Rig, how: str) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    room_id = (await ann.quick_match()).room_id
    await bob.quick_match()
    await LEAVE[how](ann, room_id)
    closed = await LEAVE[how](bob, room_id)
    rig.clock.advance(FILL_MS)
    fresh = await cem.quick_match()

    assert (closed.state, closed.closed_why) == (Room.STATE_CLOSED, Room.CLOSED_WHY_EMPTY)
    assert fresh.room_id != room_id
    assert not rig.engine.asked


@pytest.mark.parametrize("how", LEAVE)
async def test_it_is_too_late_to_cancel_once_the_match_is_being_made(rig: Rig, how: str) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.quick_match(seat_count=2)).room_id
    await bob.quick_match(seat_count=2)
    await started(ann, room_id)

    assert await reason(LEAVE[how](ann, room_id)) == Reason.ROOM_CLOSED


async def test_whoever_waits_for_none_cannot_cancel(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    await ann.create()

    assert await reason(ann.cancel()) == Reason.NOT_SEATED
    assert await reason(bob.cancel()) == Reason.NOT_SEATED


async def test_the_same_again_changes_nothing_and_has_the_same_reply(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    joining, cancelling = new_id(), new_id()
    await bob.quick_match()
    joined = await ann.quick_match(command_id=joining)
    again = await ann.quick_match(command_id=joining)
    await cem.quick_match()
    left = await ann.cancel(command_id=cancelling)

    assert again == joined
    assert await ann.quick_match(command_id=joining) == joined
    assert await ann.cancel(command_id=cancelling) == left
    # Though ann waits anew, in the same room.
    rejoined = await ann.quick_match()
    assert rejoined.room_id == left.room_id
    assert await ann.cancel(command_id=cancelling) == left
    assert await ann.get(left.room_id) == rejoined


async def test_an_id_stands_for_one_command_in_whichever_room(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    first, second = new_id(), new_id()
    await ann.quick_match(command_id=first)
    await ann.cancel(command_id=second)
    room = await ann.create()
    third = new_id()
    await ann.add_bot(room.room_id, command_id=third)
    await ann.leave(room.room_id)

    for used in (first, second, third):
        assert await reason(ann.quick_match(seat_count=2, command_id=used)) == (
            Reason.COMMAND_ID_REUSED
        )
    for used in (first, third):
        assert await reason(ann.cancel(command_id=used)) == Reason.COMMAND_ID_REUSED


async def test_whoever_waits_or_sits_elsewhere_does_not_wait_once_more(rig: Rig) -> None:
    """SETUP-2."""
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    waiting = await ann.quick_match()
    sitting = await bob.create()
    listed = await cem.create()
    calls: list[Awaitable[Room]] = [
        ann.quick_match(),
        ann.quick_match(seat_count=2),
        ann.create(),
        ann.join(listed.room_id),
        bob.quick_match(),
    ]
    for call in calls:
        assert await reason(call) == Reason.ALREADY_IN_MATCH

    assert await ann.get(waiting.room_id) == waiting
    assert await bob.get(sitting.room_id) == sitting


async def test_nothing_can_be_done_in_it_but_to_cancel(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    room = await ann.quick_match()
    room_id = room.room_id
    await bob.quick_match()
    before = await ann.get(room_id)
    calls: list[Awaitable[object]] = [
        ann.join(room_id, seat=3),
        ann.take_seat(room_id, 3),
        ann.add_bot(room_id),
        ann.remove_bot(room_id, 1),
        ann.kick(room_id, 1),
        ann.hand_over(room_id, 1),
        ann.set_ready(room_id),
        ann.start(room_id),
        ann.invite(room_id),
    ]
    for call in calls:
        assert await reason(call) == Reason.NOT_CREATOR

    assert await reason(cem.join(room_id)) == Reason.ROOM_NOT_FOUND
    assert await ann.get(room_id) == before


async def test_it_is_told_to_its_people_alone(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    everything = cem.watch_rooms()
    assert await everything.listed() == []
    room = await ann.quick_match(seat_count=2)
    told = ann.watch(room.room_id)
    assert await told.next() == room
    shown = await cem.create()
    full = await bob.quick_match(seat_count=2)
    heard = [await told.next()]
    while heard[-1].state != Room.STATE_STARTED:
        heard.append(await told.next())

    assert heard[0].room_id == full.room_id
    assert await told.next() is None
    assert await everything.next() == shown
    listed = (await rig.stub.ListRooms(pb.ListRoomsRequest(), metadata=cem.metadata)).rooms
    assert list(listed) == [shown]
    assert await reason(cem.watch(room.room_id).next()) == Reason.ROOM_NOT_FOUND
    assert await reason(cem.get(room.room_id)) == Reason.ROOM_NOT_FOUND


async def test_the_cards_of_its_people_are_in_the_match(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    rig.progression.cards[bob.player_id] = [(1, RARE)]
    room = await ann.quick_match(WITH_CARDS, 3)
    await bob.quick_match(WITH_CARDS, 3)
    rig.clock.advance(FILL_MS)
    await started(ann, room.room_id)
    (asked,) = rig.engine.asked

    assert [[card.square for card in spec.cards] for spec in asked.seats] == [[], [1], []]


async def test_while_nobody_tells_the_cards_people_wait_on_and_may_cancel(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    rig.progression.is_away = True
    room = await ann.quick_match(WITH_CARDS)
    await bob.quick_match(WITH_CARDS)
    rig.clock.advance(FILL_MS)
    # Another one, of which no cards are asked, starts meanwhile.
    other = await cem.quick_match()
    rig.clock.advance(FILL_MS)
    await started(cem, other.room_id)
    left = await bob.cancel()
    assert left.state == Room.STATE_WAITING
    rig.progression.is_away = False
    made = await started(ann, room.room_id)

    assert occupants(made) == [ann.player_id, "steady", "steady", "steady"]


async def test_while_no_engine_is_there_the_match_is_made_later(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    rig.engine.is_away = True
    room = await ann.quick_match(seat_count=2)
    await bob.quick_match(seat_count=2)

    async def is_starting() -> bool:
        return (await ann.get(room.room_id)).state == Room.STATE_STARTING

    await until(is_starting)
    assert await reason(ann.cancel()) == Reason.ROOM_CLOSED
    rig.engine.is_away = False

    assert (await started(ann, room.room_id)).match_id == rig.engine.asked[-1].match_id


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"command_id": "x"}, "command_id"),
        ({"rule_set": "opolyx.chess@1"}, "rule_set"),
        ({"seat_count": 7}, "seat_count"),
        ({"rule_set": TEAMS, "seat_count": 5}, "seat_count"),
    ],
    ids=["id", "rule set", "seats", "teams"],
)
async def test_what_is_wanted_is_something_that_there_is(
    rig: Rig, fields: dict[str, object], field: str
) -> None:
    (ann,) = await rig.people("Ann")
    told = (await answer(ann.quick_match(**fields))).told  # type: ignore[arg-type]

    assert told is not None
    assert [violation.field for violation in told.violations] == [field]


async def test_whoever_may_only_watch_neither_waits_nor_cancels(rig: Rig) -> None:
    nobody = Person(rig.stub, "")

    assert await reason(nobody.quick_match()) == Reason.NOT_ALLOWED
    assert await reason(nobody.cancel()) == Reason.NOT_ALLOWED
