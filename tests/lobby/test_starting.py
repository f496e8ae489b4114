"""From a room to a match, whatever crashes."""

import asyncio

import pytest
from grpc import StatusCode

from libs.eventlog.topics import LOBBY_EVENTS
from libs.kernel.ids import MatchId, derived_command_id
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from libs.telemetry import metrics, names
from opolyx.lobby.v1.lobby_event_pb2 import RoomRecord
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.match_service_pb2 import CreateMatchRequest
from opolyx.record.v1.event_pb2 import CollectionCard
from services.lobby import room
from services.lobby.commands import StartMatch
from services.lobby.handlers import Asked
from services.lobby.store import PostgresRooms
from tests.chassis.answers import answer
from tests.lobby.rig import PLAIN, WITH_CARDS, Person, Rig, new_id
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


async def room_of(rig: Rig, rule_set: str = PLAIN) -> tuple[Person, Person, str]:
    """Return the creator of a room that can start, another person in it, and the room."""
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create(rule_set)
    await bob.join(room.room_id)
    await bob.set_ready(room.room_id)
    await ann.add_bot(room.room_id, "shark", seat=3)
    return ann, bob, room.room_id


def seats_of(request: CreateMatchRequest) -> list[str]:
    return [spec.player or spec.strength for spec in request.seats]


async def is_started(person: Person, room_id: str) -> bool:
    return (await person.get(room_id)).state == Room.STATE_STARTED


async def test_a_room_becomes_the_match_of_those_who_sit_there(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig)
    room = await ann.start(room_id)

    assert room.state == Room.STATE_STARTED
    assert room.match_id[14] == "7"
    (asked,) = rig.engine.asked
    assert (asked.match_id, asked.rule_set) == (room.match_id, PLAIN)
    assert seats_of(asked) == [ann.player_id, bob.player_id, "shark"]
    (told,) = rig.bots.told
    assert told.match_id == room.match_id
    assert [(seat.seat, seat.strength) for seat in told.seats] == [(2, "shark")]


async def test_whoever_plays_is_bound_to_the_match(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig)
    match_id = (await ann.start(room_id)).match_id
    refused = await answer(bob.create())

    assert refused.told is not None
    assert refused.told.reason == Reason.ALREADY_IN_MATCH
    assert refused.told.metadata["match_id"] == match_id


async def test_a_start_that_is_repeated_makes_no_second_match(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    command_id = new_id()
    first = await ann.start(room_id, command_id=command_id)
    again = await ann.start(room_id, command_id=command_id)

    assert again == first
    assert len(rig.engine.asked) == 1


async def test_two_starts_at_once_make_one_match(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    second = ann.through(await rig.open_lobby())
    command_id = new_id()
    replies = await asyncio.gather(
        *(each.start(room_id, command_id=command_id) for each in (ann, second) * 5)
    )

    assert len({room.match_id for room in replies}) == 1
    assert len({request.SerializeToString() for request in rig.engine.asked}) == 1


async def test_starts_under_other_ids_find_the_room_closed(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    replies = await asyncio.gather(*(ann.start(room_id) for _ in range(5)), return_exceptions=True)

    started = [room for room in replies if isinstance(room, Room)]
    assert len(started) == 1
    assert len({request.match_id for request in rig.engine.asked}) == 1


async def test_a_start_without_an_engine_is_kept_and_the_match_made_later(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    rig.engine.is_away = True
    room = await ann.start(room_id)
    rig.engine.is_away = False
    await until(lambda: is_started(ann, room_id))

    assert room.state == Room.STATE_STARTING
    assert room.match_id
    assert (await ann.get(room_id)).match_id == room.match_id


async def test_a_match_is_made_by_another_lobby_after_a_crash(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    rig.engine.is_away = True
    match_id = (await ann.start(room_id)).match_id
    await rig.close_lobbies()
    rig.engine.is_away = False
    ann = ann.through(await rig.open_lobby())
    await until(lambda: is_started(ann, room_id))

    assert {request.match_id for request in rig.engine.asked} == {match_id}


async def test_every_try_makes_the_very_same_match(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    rig.engine.says = Reason.STORE_UNAVAILABLE
    match_id = (await ann.start(room_id)).match_id
    await until(lambda: len(rig.engine.asked) > 2)
    rig.engine.says = None
    await until(lambda: is_started(ann, room_id))

    assert len({request.SerializeToString() for request in rig.engine.asked}) == 1
    assert rig.engine.asked[0].command_id == derived_command_id(MatchId(match_id), "create")


async def test_two_lobbies_that_make_a_match_say_once_that_it_is_there(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    repeated = metrics.counter(names.LOBBY_COMMANDS).labels("ReportMade", "repeated")
    before = repeated._value.get()
    await rig.open_lobby()
    rig.engine.gate = asyncio.Event()
    await ann.start(room_id)
    await until(lambda: len(rig.engine.asked) == 2)
    rig.engine.gate.set()
    await until(lambda: repeated._value.get() == before + 1)

    assert (await ann.get(room_id)).sequence == 6


async def test_whoever_gives_up_waiting_does_not_stop_the_start(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    rig.engine.gate = asyncio.Event()
    waiting = asyncio.create_task(ann.start(room_id))
    await until(lambda: len(rig.engine.asked) > 0)
    waiting.cancel()
    rig.engine.gate.set()
    await until(lambda: is_started(ann, room_id))

    assert len({request.SerializeToString() for request in rig.engine.asked}) == 1


async def test_a_lobby_comes_up_and_keeps_rooms_before_its_neighbours(rig: Rig) -> None:
    await rig.close_neighbours()
    ann = await rig.person("Ann", await rig.open_lobby())
    room_id = (await ann.create()).room_id
    await ann.add_bot(room_id)

    assert (await ann.start(room_id)).state == Room.STATE_STARTING


async def test_a_match_is_not_held_up_by_bots_that_do_not_hear_of_it(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig)
    rig.bots.is_away = True

    assert (await ann.start(room_id)).state == Room.STATE_STARTED


async def test_the_record_of_the_start_says_who_plays(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig)
    match_id = (await ann.start(room_id)).match_id
    records: list[RoomRecord] = []

    async def has_all() -> bool:
        found = await rig.published(LOBBY_EVENTS.name)
        records.extend(RoomRecord.FromString(delivery.entry.value) for delivery in found)
        return len(records) == 6

    await until(has_all)

    assert [record.sequence for record in records] == [1, 2, 3, 4, 5, 6]
    start = records[4].events[0].match_starting
    assert start.match_id == match_id
    assert [spec.player or spec.strength for spec in start.seats] == [
        ann.player_id,
        bob.player_id,
        "shark",
    ]
    assert records[4].actor == f"player:{ann.player_id}"
    assert records[5].events[0].match_made.match_id == match_id
    assert records[5].actor == "system"


# Collection cards.


async def test_the_match_has_the_best_card_of_each_square(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig, WITH_CARDS)
    rig.progression.cards[bob.player_id] = [
        (1, CollectionCard.RARITY_RARE),
        (1, CollectionCard.RARITY_EPIC),
        (1, CollectionCard.RARITY_COMMON),
        (5, CollectionCard.RARITY_COMMON),
        (39, CollectionCard.RARITY_LEGENDARY),
    ]
    await ann.start(room_id)

    cards = [[(card.square, card.rarity) for card in s.cards] for s in rig.engine.asked[0].seats]
    best = [
        (1, CollectionCard.RARITY_EPIC),
        (5, CollectionCard.RARITY_COMMON),
        (39, CollectionCard.RARITY_LEGENDARY),
    ]
    assert cards == [[], best, []]


async def test_nobody_asks_for_cards_where_they_do_not_matter(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig, PLAIN)
    rig.progression.is_away = True

    assert (await ann.start(room_id)).state == Room.STATE_STARTED


async def test_nobody_asks_for_cards_of_a_match_that_cannot_start(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig, WITH_CARDS)
    rig.progression.is_away = True
    await bob.set_ready(room_id, ready=False)
    refused = await answer(ann.start(room_id))

    assert refused.told is not None
    assert refused.told.reason == Reason.NOT_READY


async def test_a_match_does_not_start_without_the_cards_that_its_people_have(rig: Rig) -> None:
    ann, _, room_id = await room_of(rig, WITH_CARDS)
    before = await ann.get(room_id)
    command_id = new_id()
    rig.progression.is_away = True
    refused = await answer(ann.start(room_id, command_id=command_id))
    unchanged = await ann.get(room_id)
    rig.progression.is_away = False

    assert refused.code is StatusCode.UNAVAILABLE
    assert refused.told is not None
    assert refused.told.reason == Reason.STORE_UNAVAILABLE
    assert refused.retry_after_ms is not None
    assert unchanged == before
    assert (await ann.start(room_id, command_id=command_id)).state == Room.STATE_STARTED


class LateRooms(PostgresRooms):
    """Rooms of which the first look shows an older one."""

    seen: room.Room | None = None

    async def find(self, room_id: str) -> room.Room | None:
        seen, self.seen = self.seen, None
        return seen or await super().find(room_id)


async def test_a_room_that_can_start_only_since_one_looked_has_its_cards_too(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig, WITH_CARDS)
    await bob.set_ready(room_id, ready=False)
    connections = await Connections.open(rig.url, name="test")
    late = LateRooms(connections)
    late.seen = await late.find(room_id)
    await bob.set_ready(room_id)
    rig.progression.cards[bob.player_id] = [(1, CollectionCard.RARITY_RARE)]
    starter = await rig.starter(late)
    command = StartMatch(player=ann.player_id, match_id=new_id())
    await starter.start(
        room_id, Asked(command=command, command_id=new_id(), actor="a", request_hash=bytes(32))
    )
    await until(lambda: is_started(ann, room_id))
    await connections.close()

    assert [len(spec.cards) for spec in rig.engine.asked[0].seats] == [0, 1, 0]


async def test_later_cards_do_not_change_a_match_that_is_being_made(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig, WITH_CARDS)
    rig.engine.says = Reason.STORE_UNAVAILABLE
    await ann.start(room_id)
    rig.progression.cards[bob.player_id] = [(1, CollectionCard.RARITY_RARE)]
    rig.engine.says = None
    await until(lambda: is_started(ann, room_id))

    assert len({request.SerializeToString() for request in rig.engine.asked}) == 1


# Refusals, with their codes.


async def test_a_start_is_for_the_creator(rig: Rig) -> None:
    _, bob, room_id = await room_of(rig)
    refused = await answer(bob.start(room_id))

    assert refused.code is StatusCode.PERMISSION_DENIED
    assert refused.told is not None
    assert refused.told.reason == Reason.NOT_CREATOR


async def test_nobody_leaves_a_room_that_has_become_a_match(rig: Rig) -> None:
    ann, bob, room_id = await room_of(rig)
    await ann.start(room_id)
    refused = await answer(bob.leave(room_id))

    assert refused.code is StatusCode.FAILED_PRECONDITION
    assert refused.told is not None
    assert refused.told.reason == Reason.ROOM_CLOSED
