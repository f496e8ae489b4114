"""Rooms and their records on the wire, and the hash by which a request is known again."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, assert_never

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from libs.rules import events as rules_e
from libs.wire.readers import spec_of
from libs.wire.words import numbers_by_word, words_by_number
from libs.wire.writers import spec_message
from opolyx.lobby.v1 import lobby_event_pb2 as event_pb
from opolyx.lobby.v1 import room_pb2 as pb
from services.lobby import events as e
from services.lobby.rooms import Room, State

_STATES: Final = numbers_by_word(pb.Room.State)
_STATE_WORDS: Final = words_by_number(pb.Room.State)

assert set(_STATES) == set(State), "every state has its number"


def person_actor(player: str) -> str:
    """Return how a person is called in a room's records."""
    return f"player:{player}"


def request_hash(actor: str, request: Message) -> bytes:
    """Return by what a request of *actor* is known again: its content, whatever it expected (W3).

    The id of its command and what it expected of the room are not in it.
    """
    content = type(request)()
    content.CopyFrom(request)
    for field in ("command_id", "expected_sequence"):
        if field in content.DESCRIPTOR.fields_by_name:
            content.ClearField(field)
    content.DiscardUnknownFields()
    kind = content.DESCRIPTOR.full_name
    written = content.SerializeToString(deterministic=True)
    return sha256(b"\x00".join((kind.encode(), actor.encode(), written))).digest()


def room_message(room: Room, names: Mapping[str, str]) -> pb.Room:
    """Write a room, with the *names* of its people as far as they have one."""
    created = Timestamp()
    created.FromMilliseconds(room.created_ms)
    return pb.Room(
        room_id=room.room_id,
        sequence=room.sequence,
        rule_set=room.rule_set,
        seats=[_seat_message(room, number, names) for number in range(len(room.table))],
        visibility=_visibility(is_listed=room.is_listed),
        creator_id=room.creator,
        state=_STATES[room.state],
        match_id=room.match_id,
        create_time=created,
    )


def room_of(message: pb.Room) -> Room:
    """Read a room that `room_message` wrote."""
    return Room(
        room_id=message.room_id,
        created_ms=message.create_time.ToMilliseconds(),
        sequence=message.sequence,
        rule_set=message.rule_set,
        table=tuple(map(_spec_of, message.seats)),
        ready=frozenset(
            seat.seat for seat in message.seats if seat.ready and seat.HasField("player")
        ),
        is_listed=message.visibility == pb.Room.VISIBILITY_LISTED,
        creator=message.creator_id,
        state=State(_STATE_WORDS[message.state]),
        match_id=message.match_id,
    )


def write_record(record: e.Record) -> bytes:
    """Write a room's record. Equal records give equal bytes."""
    return event_pb.RoomRecord(
        room_id=record.room_id,
        sequence=record.sequence,
        command_id=record.command_id,
        actor=record.actor,
        at_ms=record.at_ms,
        events=map(_event_message, record.events),
    ).SerializeToString(deterministic=True)


def read_record(data: bytes) -> e.Record:
    """Read a record that `write_record` wrote."""
    message = event_pb.RoomRecord.FromString(data)
    return e.Record(
        room_id=message.room_id,
        sequence=message.sequence,
        command_id=message.command_id,
        actor=message.actor,
        at_ms=message.at_ms,
        events=tuple(map(_event_of, message.events)),
    )


def _visibility(*, is_listed: bool) -> pb.Room.Visibility.ValueType:
    return pb.Room.VISIBILITY_LISTED if is_listed else pb.Room.VISIBILITY_PRIVATE


def _seat_message(room: Room, number: int, names: Mapping[str, str]) -> pb.Room.Seat:
    spec = room.table[number]
    if spec is None:
        return pb.Room.Seat(seat=number)
    if spec.kind == rules_e.BOT:
        return pb.Room.Seat(seat=number, bot=spec.strength, ready=True)
    player = pb.Player(player_id=spec.player, display_name=names.get(spec.player, ""))
    return pb.Room.Seat(seat=number, player=player, ready=number in room.ready)


def _spec_of(seat: pb.Room.Seat) -> rules_e.SeatSpec | None:
    match seat.WhichOneof("occupant"):
        case "player":
            return rules_e.SeatSpec(rules_e.PERSON, seat.player.player_id)
        case "bot":
            return rules_e.SeatSpec(rules_e.BOT, strength=seat.bot)
        case None:
            return None


def _event_message(event: e.Event) -> event_pb.RoomEvent:
    wrapped = event_pb.RoomEvent
    match event:
        case e.RoomCreated():
            created = event_pb.RoomCreated(
                rule_set=event.rule_set,
                seat_count=event.seat_count,
                visibility=_visibility(is_listed=event.is_listed),
                creator_id=event.creator,
            )
            return wrapped(room_created=created)
        case e.SeatTaken(seat=seat, player=player):
            return wrapped(seat_taken=event_pb.SeatTaken(seat=seat, player_id=player))
        case e.SeatLeft(seat=seat):
            return wrapped(seat_left=event_pb.SeatLeft(seat=seat))
        case e.BotSeated(seat=seat, strength=strength):
            return wrapped(bot_seated=event_pb.BotSeated(seat=seat, strength=strength))
        case e.ReadySet(seat=seat, is_ready=ready):
            return wrapped(ready_set=event_pb.ReadySet(seat=seat, ready=ready))
        case e.CreatorReplaced(creator=creator):
            return wrapped(creator_replaced=event_pb.CreatorReplaced(creator_id=creator))
        case e.MatchStarting(match_id=match_id, seats=seats):
            specs = map(spec_message, seats)
            return wrapped(match_starting=event_pb.MatchStarting(match_id=match_id, seats=specs))
        case e.MatchMade(match_id=match_id):
            return wrapped(match_made=event_pb.MatchMade(match_id=match_id))
        case e.RoomClosed():
            return wrapped(room_closed=event_pb.RoomClosed())
        case _:
            assert_never(event)


def _event_of(message: event_pb.RoomEvent) -> e.Event:  # noqa: C901 - one case for each event
    match message.WhichOneof("event"):
        case "room_created":
            created = message.room_created
            return e.RoomCreated(
                rule_set=created.rule_set,
                seat_count=created.seat_count,
                is_listed=created.visibility == pb.Room.VISIBILITY_LISTED,
                creator=created.creator_id,
            )
        case "seat_taken":
            return e.SeatTaken(seat=message.seat_taken.seat, player=message.seat_taken.player_id)
        case "seat_left":
            return e.SeatLeft(seat=message.seat_left.seat)
        case "bot_seated":
            bot = message.bot_seated
            return e.BotSeated(seat=bot.seat, strength=bot.strength)
        case "ready_set":
            return e.ReadySet(seat=message.ready_set.seat, is_ready=message.ready_set.ready)
        case "creator_replaced":
            return e.CreatorReplaced(creator=message.creator_replaced.creator_id)
        case "match_starting":
            starting = message.match_starting
            specs = tuple(map(spec_of, starting.seats))
            return e.MatchStarting(match_id=starting.match_id, seats=specs)
        case "match_made":
            return e.MatchMade(match_id=message.match_made.match_id)
        case "room_closed":
            return e.RoomClosed()
        case None:
            raise ValueError("an event of a room that is not known here")
