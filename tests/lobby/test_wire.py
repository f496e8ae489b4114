"""Rooms and their records as bytes, and by what a request is known again."""

from dataclasses import replace

import pytest

from libs.rules.events import BOT, PERSON, SeatSpec
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import events as e
from services.lobby.event_wire import read_record, write_record
from services.lobby.room import Room, State
from services.lobby.wire import (
    read_older_room,
    read_room,
    request_hash,
    room_message,
    write_room,
)

SPECS = (SeatSpec(PERSON, "p", cards=((1, "rare"), (3, "common"))), SeatSpec(BOT, strength="shark"))

EVENTS: list[e.Event] = [
    e.RoomCreated(rule_set="r", seat_count=4, is_listed=False, creator="p"),
    e.RoomCreated(rule_set="r", seat_count=4, is_listed=True, creator="p"),
    e.RoomCreated(
        rule_set="r",
        seat_count=4,
        is_listed=True,
        creator="",
        watching=e.Watching.INVITED,
        bot_strength="shark",
        fill_ms=1_800_000_015_000,
        rematch_of="q",
    ),
    e.SeatTaken(seat=1, player="p"),
    e.SeatLeft(seat=2),
    e.SeatChanged(from_seat=0, to_seat=3),
    e.PersonKicked(seat=2, player="q"),
    e.GuestAdmitted(player="q"),
    e.BotSeated(seat=3, strength="shark"),
    e.ReadySet(seat=1, is_ready=True),
    e.CreatorReplaced(creator="p"),
    e.MatchStarting(match_id="m", seats=SPECS),
    e.MatchMade(match_id="m"),
    e.RoomClosed(),
    e.RoomClosed(why=e.ClosedWhy.IDLE),
    e.RoomClosed(why=e.ClosedWhy.MATCH_NOT_MADE),
]

ROOM = Room(
    room_id="r",
    created_ms=1_800_000_000_123,
    changed_ms=1_800_000_000_456,
    sequence=7,
    rule_set="opolyx.classic@2",
    table=(SeatSpec(PERSON, "p"), None, SeatSpec(BOT, strength="shark"), SeatSpec(PERSON, "q")),
    ready=frozenset({3}),
    is_listed=False,
    creator="p",
    watching=e.Watching.SEATS,
    bot_strength="novice",
    rematch_of="s",
    guests=frozenset({"p", "q", "t"}),
    banned=frozenset({"u"}),
    state=State.STARTING,
    match_id="m",
)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_read_as_it_was_written(event: e.Event) -> None:
    record = e.Record(
        room_id="r", sequence=3, command_id="c", actor="player:p", at_ms=5, events=(event,)
    )

    assert read_record(write_record(record)) == record


@pytest.mark.parametrize("state", list(State))
def test_a_room_is_read_as_it_was_written(state: State) -> None:
    why = e.ClosedWhy.IDLE if state is State.CLOSED else None
    room = replace(ROOM, state=state, closed_why=why)

    assert read_room(write_room(room), room.changed_ms) == room


def test_a_quick_match_is_read_as_it_was_written() -> None:
    room = replace(ROOM, creator="", fill_ms=1_800_000_015_000)

    assert read_room(write_room(room), room.changed_ms) == room


def test_a_room_that_the_release_before_kept_is_read() -> None:
    older = room_pb2.Room(
        room_id="r",
        sequence=7,
        rule_set="opolyx.classic@2",
        seats=room_message(ROOM, {}).seats,
        visibility=room_pb2.Room.VISIBILITY_PRIVATE,
        creator_id="p",
        state=room_pb2.Room.STATE_STARTING,
        match_id="m",
        create_time=room_message(ROOM, {}).create_time,
    )
    read = read_older_room(older.SerializeToString(), ROOM.changed_ms)

    assert read == replace(
        ROOM,
        watching=e.Watching.EVERYBODY,
        bot_strength="steady",
        rematch_of="",
        guests=frozenset({"p", "q"}),
        banned=frozenset(),
    )


def test_a_waiting_room_says_when_it_closes_by_itself() -> None:
    waiting = replace(ROOM, state=State.WAITING, match_id="")
    quick = replace(waiting, fill_ms=1_800_000_015_000)

    assert room_message(waiting, {}, idle_ms=5).expire_time.ToMilliseconds() == 1_800_000_000_461
    assert not room_message(quick, {}, idle_ms=5).HasField("expire_time")
    assert not room_message(ROOM, {}, idle_ms=5).HasField("expire_time")


def test_a_room_shows_names_and_that_bots_are_always_ready() -> None:
    message = room_message(ROOM, {"p": "Ann"})

    assert [seat.player.display_name for seat in message.seats] == ["Ann", "", "", ""]
    assert [seat.ready for seat in message.seats] == [False, False, True, True]
    assert [seat.seat for seat in message.seats] == [0, 1, 2, 3]
    assert message.visibility == room_pb2.Room.VISIBILITY_PRIVATE


def test_a_request_is_known_again_whatever_it_expected() -> None:
    first = pb.JoinRoomRequest(room_id="r", command_id="a", seat=0)
    again = pb.JoinRoomRequest(room_id="r", command_id="b", seat=0, expected_sequence=4)

    assert request_hash("player:p", first) == request_hash("player:p", again)


@pytest.mark.parametrize(
    ("actor", "request_"),
    [
        ("player:q", pb.SetReadyRequest(room_id="r")),
        ("player:p", pb.SetReadyRequest(room_id="r", ready=True)),
        ("player:p", pb.LeaveRoomRequest(room_id="r")),
        ("player:p", pb.SetReadyRequest(room_id="s")),
    ],
    ids=["actor", "content", "kind", "room"],
)
def test_a_request_is_another_by_its(
    actor: str, request_: pb.SetReadyRequest | pb.LeaveRoomRequest
) -> None:
    assert request_hash(actor, request_) != request_hash(
        "player:p", pb.SetReadyRequest(room_id="r")
    )


def test_a_seat_that_is_named_differs_from_one_that_is_not() -> None:
    first = pb.JoinRoomRequest(room_id="r", seat=0)

    assert request_hash("p", first) != request_hash("p", pb.JoinRoomRequest(room_id="r"))
