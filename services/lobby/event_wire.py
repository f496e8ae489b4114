"""What happened in rooms, on the wire."""

from typing import assert_never

from libs.wire.readers import spec_of
from libs.wire.writers import spec_message
from opolyx.lobby.v1 import lobby_event_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import events as e
from services.lobby.wire import (
    visibility_number,
    watching_number,
    watching_of,
    why_number,
    why_of,
)


def write_record(record: e.Record) -> bytes:
    """Write a room's record. Equal records give equal bytes."""
    return pb.RoomRecord(
        room_id=record.room_id,
        sequence=record.sequence,
        command_id=record.command_id,
        actor=record.actor,
        at_ms=record.at_ms,
        events=map(_event_message, record.events),
    ).SerializeToString(deterministic=True)


def read_record(data: bytes) -> e.Record:
    """Read a record that `write_record` wrote."""
    message = pb.RoomRecord.FromString(data)
    return e.Record(
        room_id=message.room_id,
        sequence=message.sequence,
        command_id=message.command_id,
        actor=message.actor,
        at_ms=message.at_ms,
        events=tuple(map(_event_of, message.events)),
    )


def _event_message(event: e.Event) -> pb.RoomEvent:  # noqa: C901, PLR0912 - one case for each event
    wrapped = pb.RoomEvent
    match event:
        case e.RoomCreated():
            return wrapped(room_created=_created_message(event))
        case e.SeatTaken(seat=seat, player=player):
            return wrapped(seat_taken=pb.SeatTaken(seat=seat, player_id=player))
        case e.SeatLeft(seat=seat):
            return wrapped(seat_left=pb.SeatLeft(seat=seat))
        case e.SeatChanged(from_seat=left, to_seat=taken):
            return wrapped(seat_changed=pb.SeatChanged(from_seat=left, to_seat=taken))
        case e.PersonKicked(seat=seat, player=player):
            return wrapped(person_kicked=pb.PersonKicked(seat=seat, player_id=player))
        case e.GuestAdmitted(player=player):
            return wrapped(guest_admitted=pb.GuestAdmitted(player_id=player))
        case e.BotSeated(seat=seat, strength=strength):
            return wrapped(bot_seated=pb.BotSeated(seat=seat, strength=strength))
        case e.ReadySet(seat=seat, is_ready=ready):
            return wrapped(ready_set=pb.ReadySet(seat=seat, ready=ready))
        case e.CreatorReplaced(creator=creator):
            return wrapped(creator_replaced=pb.CreatorReplaced(creator_id=creator))
        case e.MatchStarting(match_id=match_id, seats=seats):
            specs = map(spec_message, seats)
            return wrapped(match_starting=pb.MatchStarting(match_id=match_id, seats=specs))
        case e.MatchMade(match_id=match_id):
            return wrapped(match_made=pb.MatchMade(match_id=match_id))
        case e.RoomClosed(why=why):
            return wrapped(room_closed=pb.RoomClosed(why=why_number(why)))
        case _:
            assert_never(event)


def _created_message(event: e.RoomCreated) -> pb.RoomCreated:
    return pb.RoomCreated(
        rule_set=event.rule_set,
        seat_count=event.seat_count,
        visibility=visibility_number(is_listed=event.is_listed),
        creator_id=event.creator,
        watching=watching_number(event.watching),
        bot_strength=event.bot_strength,
        fill_ms=event.fill_ms,
        rematch_of=event.rematch_of,
    )


def _event_of(message: pb.RoomEvent) -> e.Event:  # noqa: C901, PLR0912 - one case for each event
    match message.WhichOneof("event"):
        case "room_created":
            return _created_of(message.room_created)
        case "seat_taken":
            return e.SeatTaken(seat=message.seat_taken.seat, player=message.seat_taken.player_id)
        case "seat_left":
            return e.SeatLeft(seat=message.seat_left.seat)
        case "seat_changed":
            changed = message.seat_changed
            return e.SeatChanged(from_seat=changed.from_seat, to_seat=changed.to_seat)
        case "person_kicked":
            kicked = message.person_kicked
            return e.PersonKicked(seat=kicked.seat, player=kicked.player_id)
        case "guest_admitted":
            return e.GuestAdmitted(player=message.guest_admitted.player_id)
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
            return e.RoomClosed(why=why_of(message.room_closed.why))
        case None:
            raise ValueError("an event of a room that is not known here")


def _created_of(message: pb.RoomCreated) -> e.RoomCreated:
    return e.RoomCreated(
        rule_set=message.rule_set,
        seat_count=message.seat_count,
        is_listed=message.visibility == room_pb2.Room.VISIBILITY_LISTED,
        creator=message.creator_id,
        watching=watching_of(message.watching),
        bot_strength=message.bot_strength or e.USUAL_BOT,
        fill_ms=message.fill_ms if message.HasField("fill_ms") else None,
        rematch_of=message.rematch_of,
    )
