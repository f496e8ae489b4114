"""Rooms on the wire, and the hash by which a request is known again."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from libs.rules import events as rules_e
from libs.wire.words import numbers_by_word, words_by_number
from opolyx.lobby.v1 import lobby_event_pb2 as event_pb
from opolyx.lobby.v1 import room_pb2 as pb
from opolyx.match.v1.access_pb2 import Access
from services.lobby import events as e
from services.lobby.room import Room, State

_STATES: Final = numbers_by_word(pb.Room.State)
_STATE_WORDS: Final = words_by_number(pb.Room.State)
_WATCHING: Final = numbers_by_word(Access.Watching)
_WATCHING_WORDS: Final = words_by_number(Access.Watching)
_WHYS: Final = numbers_by_word(pb.Room.ClosedWhy)
_NOT_CLOSED: Final = pb.Room.CLOSED_WHY_UNSPECIFIED
_WHY_WORDS: Final = words_by_number(pb.Room.ClosedWhy)

assert set(_STATES) == set(State), "every state has its number"
assert set(_WATCHING) == set(e.Watching), "whoever may watch has a number"
assert set(_WHYS) == set(e.ClosedWhy), "every reason why rooms close has its number"


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


def room_message(room: Room, names: Mapping[str, str], *, idle_ms: int | None = None) -> pb.Room:
    """Write a room, with the *names* of its people as far as they have one.

    With *idle_ms*, after how long without anything it closes, it says when that is.
    """
    message = pb.Room(
        room_id=room.room_id,
        sequence=room.sequence,
        rule_set=room.rule_set,
        seats=[
            seat_message(number, spec, names, is_ready=_is_ready(room, number))
            for number, spec in enumerate(room.table)
        ],
        visibility=visibility_number(is_listed=room.is_listed),
        creator_id=room.creator,
        state=_STATES[room.state],
        match_id=room.match_id,
        create_time=time_message(room.created_ms),
        watching=_WATCHING[room.watching],
        bot_strength=room.bot_strength,
        fill_time=None if room.fill_ms is None else time_message(room.fill_ms),
        rematch_of=room.rematch_of,
        closed_why=_WHYS[room.closed_why] if room.closed_why else _NOT_CLOSED,
    )
    if idle_ms is not None and room.state is State.WAITING and room.fill_ms is None:
        message.expire_time.CopyFrom(time_message(room.changed_ms + idle_ms))
    return message


def invite_message(room_id: str, code: str, expire_ms: int) -> pb.Invite:
    """Write an invitation."""
    return pb.Invite(room_id=room_id, code=code, expire_time=time_message(expire_ms))


def write_room(room: Room) -> bytes:
    """Write all that is kept of a room but when it changed. Equal rooms give equal bytes."""
    return event_pb.StoredRoom(
        room=room_message(room, {}),
        banned_ids=sorted(room.banned),
        guest_ids=sorted(room.guests),
    ).SerializeToString(deterministic=True)


def read_room(data: bytes, changed_ms: int) -> Room:
    """Read a room that `write_room` wrote."""
    stored = event_pb.StoredRoom.FromString(data)
    guests, banned = frozenset(stored.guest_ids), frozenset(stored.banned_ids)
    return _room_of(stored.room, changed_ms, guests, banned)


def read_older_room(data: bytes, changed_ms: int) -> Room:
    """Read a room as it was kept before there were guests and kicks."""
    message = pb.Room.FromString(data)
    # Nothing else is known of who was in it; those who are may come back.
    is_private = message.visibility == pb.Room.VISIBILITY_PRIVATE
    seated = (seat.player.player_id for seat in message.seats if seat.HasField("player"))
    guests = frozenset(seated if is_private else ())
    return _room_of(message, changed_ms, guests, frozenset())


def visibility_number(*, is_listed: bool) -> pb.Room.Visibility.ValueType:
    """Return how it is written who sees a room in lists."""
    return pb.Room.VISIBILITY_LISTED if is_listed else pb.Room.VISIBILITY_PRIVATE


def watching_number(watching: e.Watching) -> Access.Watching.ValueType:
    """Return how it is written who may watch."""
    return _WATCHING[watching]


def watching_of(number: Access.Watching.ValueType) -> e.Watching:
    """Read who may watch; everybody where it is not said."""
    return e.Watching(_WATCHING_WORDS.get(number, e.Watching.EVERYBODY))


def why_number(why: e.ClosedWhy) -> pb.Room.ClosedWhy.ValueType:
    """Return how it is written why a room has closed."""
    return _WHYS[why]


def why_of(number: pb.Room.ClosedWhy.ValueType) -> e.ClosedWhy:
    """Read why a room has closed; where it is not said it was empty."""
    return e.ClosedWhy(_WHY_WORDS.get(number, e.ClosedWhy.EMPTY))


def _room_of(
    message: pb.Room, changed_ms: int, guests: frozenset[str], banned: frozenset[str]
) -> Room:
    state = State(_STATE_WORDS[message.state])
    return Room(
        room_id=message.room_id,
        created_ms=message.create_time.ToMilliseconds(),
        changed_ms=changed_ms,
        sequence=message.sequence,
        rule_set=message.rule_set,
        table=tuple(map(_spec_of, message.seats)),
        ready=frozenset(
            seat.seat for seat in message.seats if seat.ready and seat.HasField("player")
        ),
        is_listed=message.visibility == pb.Room.VISIBILITY_LISTED,
        creator=message.creator_id,
        watching=watching_of(message.watching),
        bot_strength=message.bot_strength or e.USUAL_BOT,
        fill_ms=message.fill_time.ToMilliseconds() if message.HasField("fill_time") else None,
        rematch_of=message.rematch_of,
        guests=guests,
        banned=banned,
        state=state,
        match_id=message.match_id,
        closed_why=why_of(message.closed_why) if state is State.CLOSED else None,
    )


def time_message(at_ms: int) -> Timestamp:
    """Return how a time is written."""
    time = Timestamp()
    time.FromMilliseconds(at_ms)
    return time


def seat_message(
    number: int, spec: rules_e.SeatSpec | None, names: Mapping[str, str], *, is_ready: bool = False
) -> pb.Room.Seat:
    """Write a seat and who sits there, by name if they have one."""
    if spec is None:
        return pb.Room.Seat(seat=number)
    if spec.kind == rules_e.BOT:
        return pb.Room.Seat(seat=number, bot=spec.strength, ready=is_ready)
    player = pb.Player(player_id=spec.player, display_name=names.get(spec.player, ""))
    return pb.Room.Seat(seat=number, player=player, ready=is_ready)


def _is_ready(room: Room, number: int) -> bool:
    spec = room.table[number]
    return number in room.ready or (spec is not None and spec.kind == rules_e.BOT)


def _spec_of(seat: pb.Room.Seat) -> rules_e.SeatSpec | None:
    match seat.WhichOneof("occupant"):
        case "player":
            return rules_e.SeatSpec(rules_e.PERSON, seat.player.player_id)
        case "bot":
            return rules_e.SeatSpec(rules_e.BOT, strength=seat.bot)
        case None:
            return None
