"""Rooms, invitations and people as plain values, and as lines for people."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from libs.client.signs import Signs
from libs.kernel.clock import SystemClock
from libs.wire.words import words_by_number
from opolyx.lobby.v1.room_pb2 import Invite, PlayedMatch, Player, Room
from opolyx.match.v1.access_pb2 import Access
from services.console.output import printable, table_lines

MS_PER_S: Final = 1_000
UNKNOWN: Final = "unknown"
"""What a newer server says that this release has no word for."""

Plain = dict[str, Any]

_STATES: Final = words_by_number(Room.State)
_VISIBILITIES: Final = words_by_number(Room.Visibility)
_WATCHING: Final = words_by_number(Access.Watching)
_WHYS: Final = words_by_number(Room.ClosedWhy)
_OUTCOMES: Final = words_by_number(PlayedMatch.Outcome)


def describe_room(room: Room) -> Plain:
    """Return a room as plain values, null where there is nothing."""
    return {
        "room_id": room.room_id,
        "sequence": room.sequence,
        "rule_set": room.rule_set,
        "state": _STATES.get(room.state, UNKNOWN),
        "visibility": _VISIBILITIES.get(room.visibility, UNKNOWN),
        "watching": _WATCHING.get(room.watching, UNKNOWN),
        "bot_strength": room.bot_strength,
        "creator_id": room.creator_id or None,
        "seats": [{**describe_seat(seat), "ready": seat.ready} for seat in room.seats],
        "match_id": room.match_id or None,
        "created_ms": time_ms(room, "create_time"),
        "fill_ms": time_ms(room, "fill_time"),
        "expire_ms": time_ms(room, "expire_time"),
        "rematch_of": room.rematch_of or None,
        "closed_why": _WHYS.get(room.closed_why, UNKNOWN) if room.closed_why else None,
    }


def describe_seat(seat: Room.Seat) -> Plain:
    """Return a seat of a room, or of a match that was played, as plain values."""
    return {
        "seat": seat.seat,
        "player_id": seat.player.player_id or None,
        "name": seat.player.display_name or None,
        "bot": seat.bot or None,
    }


def describe_invite(invite: Invite) -> Plain:
    """Return an invitation as plain values."""
    return {
        "room_id": invite.room_id,
        "code": invite.code,
        "expire_ms": time_ms(invite, "expire_time"),
    }


def describe_player(player: Player) -> Plain:
    """Return a person as plain values."""
    return {"player_id": player.player_id, "name": player.display_name or None}


def describe_played(match: PlayedMatch) -> Plain:
    """Return a match that somebody played as plain values."""
    return {
        "match_id": match.match_id,
        "room_id": match.room_id,
        "rule_set": match.rule_set,
        "seat": match.seat,
        "seats": [describe_seat(seat) for seat in match.seats],
        "outcome": _OUTCOMES.get(match.outcome, UNKNOWN),
        "place": match.place if match.HasField("place") else None,
        "started_ms": time_ms(match, "start_time"),
        "ended_ms": time_ms(match, "end_time"),
    }


def room_table(rooms: Iterable[Plain]) -> list[str]:
    """Return the lines of a list of rooms."""
    header = ("room", "rule set", "taken", "who", "opened (UTC)")
    return table_lines(
        header,
        (
            (
                room["room_id"],
                room["rule_set"],
                f"{sum(map(_is_taken, room['seats']))} of {len(room['seats'])}",
                ", ".join(who(seat) for seat in room["seats"] if _is_taken(seat)),
                moment(room["created_ms"]),
            )
            for room in rooms
        ),
    )


def room_lines(room: Plain) -> list[str]:
    """Return the lines of one room: what it is, and who sits where."""
    facts = {
        "room": room["room_id"],
        "rule set": room["rule_set"],
        "state": f"{room['state']}{_why(room)}",
        "seen by": "everybody" if room["visibility"] == "listed" else "those who were invited",
        "watched by": {"seats": "nobody else"}.get(room["watching"], room["watching"]),
        "bots": room["bot_strength"],
        "match": room["match_id"],
        "bots come (UTC)": room["fill_ms"] and moment(room["fill_ms"]),
        "closes (UTC)": room["expire_ms"] and moment(room["expire_ms"]),
        "rematch of": room["rematch_of"],
    }
    seats = (
        (
            seat["seat"],
            who(seat) if _is_taken(seat) else None,
            _standing(seat, room["creator_id"]),
            seat["player_id"],
        )
        for seat in room["seats"]
    )
    return [
        *fact_lines(facts),
        "",
        *table_lines(("seat", "who", "is", "player"), seats),
    ]


def fact_lines(facts: Mapping[str, object]) -> list[str]:
    """Return a line for each fact that there is."""
    known = {name: str(value) for name, value in facts.items() if value is not None}
    width = max(map(len, known))
    return [f"{name.ljust(width)}  {value}" for name, value in known.items()]


def who(seat: Plain) -> str:
    """Return who sits on a seat, as a table has it; nothing if it is empty."""
    if seat["bot"]:
        return f"{seat['bot']} (bot)"
    return name_or_id(seat["name"], seat["player_id"])


def name_or_id(name: str | None, player_id: str | None) -> str:
    """Return what a person is called in a table; names come from anybody."""
    return printable(name or "") or player_id or ""


def seated(seats: Sequence[Plain]) -> str:
    """Return everybody at a table on one line."""
    return ", ".join(map(who, seats))


def moment(at_ms: int) -> str:
    """Return a time as a table has it, in UTC."""
    return f"{datetime.fromtimestamp(at_ms / MS_PER_S, UTC):%Y-%m-%d %H:%M:%S}"


def seconds_to_fill(room: Room, signs: Signs) -> int:
    """Return in how many seconds bots come, as far as is known what time it is at the server."""
    now_ms = signs.server_ms() or SystemClock().now_ms()
    return max(0, room.fill_time.ToMilliseconds() - now_ms) // MS_PER_S


def time_ms(message: Any, field: str) -> int | None:
    """Return the time in a field in milliseconds since 1970 UTC, None where there is none."""
    if not message.HasField(field):
        return None
    time: Timestamp = getattr(message, field)
    return time.ToMilliseconds()


def _is_taken(seat: Plain) -> bool:
    return bool(seat["bot"] or seat["player_id"])


def _standing(seat: Plain, creator_id: str | None) -> str | None:
    if seat["player_id"] and seat["player_id"] == creator_id:
        return "creator"
    return "ready" if seat["ready"] else None


def _why(room: Plain) -> str:
    return f", {room['closed_why'].replace('_', ' ')}" if room["closed_why"] else ""
