"""Every limit that a caller can run into: kept here or elsewhere, told by `GetServerInfo`.

Each number stands where it is kept: in the settings, beside the code, or, where another service
keeps it, in `libs/wire/limits.py`.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from libs.chassis.identity import SIZE_MAX
from libs.chassis.limiting import Limiter, OpenStreams, Rate
from libs.chassis.sections import RateSettings
from libs.kernel.reasons import Reason
from libs.wire import limits as agreed
from libs.wire.limits import LimitName
from libs.wire.requests import PAGE_SIZE_MAX
from opolyx.gateway.v1.gateway_service_pb2 import Limit
from services.gateway.allowed import LOBBY_SERVICE
from services.gateway.playing import SUBMIT, UNANSWERED_MAX
from services.gateway.settings import GatewaySection

CREATING: Final = tuple(
    f"{LOBBY_SERVICE.full_name}/{name}" for name in ("CreateRoom", "QuickMatch", "Rematch")
)
"""The methods that make rooms. They share a rate."""

_MINUTE_S: Final = 60


def limiter(section: GatewaySection) -> Limiter:
    """Return what keeps the rates of people."""
    rooms = section.room_rate
    own = {
        (SUBMIT,): _rate(section.command_rate, LimitName.COMMANDS),
        CREATING: Rate(rooms.per_minute / _MINUTE_S, rooms.burst, LimitName.ROOMS),
    }
    return Limiter(_rate(section.rate, LimitName.CALLS), own)


def open_streams(section: GatewaySection) -> OpenStreams:
    """Return what counts the streams of people."""
    return OpenStreams(section.streams_per_person)


def limits(section: GatewaySection) -> list[Limit]:
    """Return all limits, by what they are about."""
    return [
        Limit(
            name=kept.name,
            value=kept.value(section),
            unit=kept.unit,
            scope=kept.scope,
            reason=kept.reason or "",
            description=kept.description,
        )
        for kept in _KEPT
    ]


def _rate(settings: RateSettings, limit: LimitName) -> Rate:
    return Rate(settings.per_s, settings.burst, limit)


class _Kept(NamedTuple):
    """A limit, and how its value is found; the rest is as `Limit` has it."""

    name: str
    value: Callable[[GatewaySection], float]
    unit: str
    scope: str
    reason: Reason | None
    description: str


_KEPT: Final = (
    _Kept(
        "message_bytes",
        lambda section: section.request_bytes_max,
        "bytes",
        "message",
        Reason.INVALID_REQUEST,
        "How large a request may be.",
    ),
    _Kept(
        "request_seconds",
        lambda section: section.request_timeout_s,
        "s",
        "message",
        Reason.INVALID_REQUEST,
        "How long a call may be open before its request, or the first message of it, is there.",
    ),
    _Kept(
        "token_characters",
        lambda _: SIZE_MAX,
        "characters",
        "message",
        Reason.TOKEN_INVALID,
        "How long a token may be.",
    ),
    _Kept(
        "display_name_characters",
        lambda _: agreed.DISPLAY_NAME_MAX,
        "characters",
        "message",
        Reason.INVALID_REQUEST,
        "How long the name that somebody gives themselves may be.",
    ),
    _Kept(
        "players_per_call",
        lambda _: agreed.PLAYERS_MAX,
        "players",
        "message",
        Reason.INVALID_REQUEST,
        "How many people may be asked for at once.",
    ),
    _Kept(
        "page_size",
        lambda _: PAGE_SIZE_MAX,
        "entries",
        "message",
        None,
        "How much a page of a list may hold. Who asks for more gets this much.",
    ),
    _Kept(
        LimitName.CALLS,
        lambda section: section.rate.per_s,
        "calls/s",
        "person",
        Reason.RATE_LIMITED,
        "How often somebody may call in the long run, commands and the making of rooms apart.",
    ),
    _Kept(
        "calls_burst",
        lambda section: section.rate.burst,
        "calls",
        "person",
        Reason.RATE_LIMITED,
        "How many of these calls may come at once.",
    ),
    _Kept(
        LimitName.COMMANDS,
        lambda section: section.command_rate.per_s,
        "commands/s",
        "person",
        Reason.RATE_LIMITED,
        "How often somebody may give a command in the long run, on a stream or by itself.",
    ),
    _Kept(
        "commands_burst",
        lambda section: section.command_rate.burst,
        "commands",
        "person",
        Reason.RATE_LIMITED,
        "How many commands may come at once.",
    ),
    _Kept(
        LimitName.ROOMS,
        lambda section: section.room_rate.per_minute,
        "calls/min",
        "person",
        Reason.RATE_LIMITED,
        "How often somebody may make a room, or ask for a quick match or a rematch.",
    ),
    _Kept(
        "rooms_burst",
        lambda section: section.room_rate.burst,
        "calls",
        "person",
        Reason.RATE_LIMITED,
        "How many of these calls may come at once.",
    ),
    _Kept(
        "rooms_per_person",
        lambda _: agreed.ROOMS_MAX,
        "rooms",
        "person",
        Reason.ALREADY_IN_MATCH,
        "In how many waiting rooms and unfinished matches somebody may be.",
    ),
    _Kept(
        LimitName.STREAMS_OF_PERSON,
        lambda section: section.streams_per_person,
        "streams",
        "person",
        Reason.OVERLOADED,
        "How many streams somebody may have open.",
    ),
    _Kept(
        "streams_per_connection",
        lambda section: section.streams_per_connection or 0,
        "calls",
        "connection",
        None,
        "How many calls one connection carries at a time. The client's gRPC holds others back.",
    ),
    _Kept(
        "connection_idle_seconds",
        lambda section: section.connection_idle_s or 0,
        "s",
        "connection",
        None,
        "How long a connection is kept open without a call. The next call opens another.",
    ),
    _Kept(
        LimitName.UNANSWERED,
        lambda _: UNANSWERED_MAX,
        "commands",
        "stream",
        Reason.OVERLOADED,
        "How many commands on a stream may be unanswered.",
    ),
    _Kept(
        LimitName.QUEUE,
        lambda section: section.queue_max,
        "messages",
        "stream",
        Reason.SLOW_READER,
        "How many messages of a match may wait for its reader.",
    ),
    _Kept(
        LimitName.WRITE,
        lambda section: section.write_timeout_s,
        "s",
        "stream",
        Reason.SLOW_READER,
        "How long the reader of a stream may take to accept a message.",
    ),
    _Kept(
        LimitName.WAITING,
        lambda _: agreed.COMMANDS_WAITING_MAX,
        "commands",
        "match",
        Reason.OVERLOADED,
        "How many commands may wait for their turn at a match.",
    ),
    _Kept(
        "invites_per_room",
        lambda _: agreed.INVITES_MAX,
        "invitations",
        "room",
        Reason.TOO_MANY_INVITES,
        "How many invitations of a room may be of use at a time.",
    ),
    _Kept(
        "guests_per_room",
        lambda _: agreed.GUESTS_MAX,
        "people",
        "room",
        Reason.TOO_MANY_INVITES,
        "How many people may have taken an invitation of a room.",
    ),
    _Kept(
        LimitName.CALLS_OF_SERVER,
        lambda section: section.unary_calls_max,
        "calls",
        "server",
        Reason.OVERLOADED,
        "How many calls without a stream may be handled at once.",
    ),
    _Kept(
        LimitName.STREAMS_OF_SERVER,
        lambda section: section.streams_max,
        "streams",
        "server",
        Reason.OVERLOADED,
        "How many streams may be open.",
    ),
)
