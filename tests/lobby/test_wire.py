"""Rooms and their records as bytes, and by what a request is known again."""

import pytest

from libs.rules.events import BOT, PERSON, SeatSpec
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import events as e
from services.lobby.rooms import Room, State
from services.lobby.wire import (
    read_record,
    request_hash,
    room_message,
    room_of,
    write_record,
)

SPECS = (SeatSpec(PERSON, "p", cards=((1, "rare"), (3, "common"))), SeatSpec(BOT, strength="shark"))

EVENTS: list[e.Event] = [
    e.RoomCreated(rule_set="r", seat_count=4, is_listed=False, creator="p"),
    e.RoomCreated(rule_set="r", seat_count=4, is_listed=True, creator="p"),
    e.SeatTaken(seat=1, player="p"),
    e.SeatLeft(seat=2),
    e.BotSeated(seat=3, strength="shark"),
    e.ReadySet(seat=1, is_ready=True),
    e.CreatorReplaced(creator="p"),
    e.MatchStarting(match_id="m", seats=SPECS),
    e.MatchMade(match_id="m"),
    e.RoomClosed(),
]

ROOM = Room(
    room_id="r",
    created_ms=1_800_000_000_123,
    sequence=7,
    rule_set="opolyx.classic@2",
    table=(SeatSpec(PERSON, "p"), None, SeatSpec(BOT, strength="shark"), SeatSpec(PERSON, "q")),
    ready=frozenset({3}),
    is_listed=False,
    creator="p",
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
    room = Room(
        **{name: getattr(ROOM, name) for name in ROOM.__dataclass_fields__ if name != "state"},
        state=state,
    )

    assert room_of(room_message(room, {})) == room


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
