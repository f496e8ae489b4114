"""Every RPC by every kind of caller: a row for each, and a request that lacks but the right.

A new RPC without a row fails, and so does a row without its RPC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.e2e.rig import CLASSIC, refusal_of
from tests.support.calling import new_id

KINDS: Final = (
    "nobody",
    "expired",
    "other",
    "spectator",
    "seat",
    "bot",
    "service",
    "operator",
)
"""Without a token; with one of yesterday; a person who is neither seated nor invited; one who may
only watch; whoever sits there; the bot runner for the seat of its bot; another service as itself;
an operator who does not sit there."""

RIGHTS: Final = frozenset(
    {
        *("TOKEN_MISSING", "TOKEN_EXPIRED", "TOKEN_INVALID", "NOT_ALLOWED", "NOT_SEATED"),
        *("NOT_CREATOR", "MATCH_NOT_FOUND", "ROOM_NOT_FOUND", "PLAYER_NOT_FOUND"),
        *("BANNED_FROM_ROOM", "ALREADY_IN_MATCH"),
    }
)
"""The reasons that are about who calls. Whatever else is said was said to somebody who may."""

OK: Final = "ok"

_ANYBODY: Final = "ok TOKEN_EXPIRED ok ok ok ok NOT_ALLOWED ok"
_SERVICES: Final = f"TOKEN_MISSING TOKEN_EXPIRED {'NOT_ALLOWED ' * 6}"
_OPERATORS: Final = f"TOKEN_MISSING TOKEN_EXPIRED {'NOT_ALLOWED ' * 5}ok"
_LOOKERS: Final = "TOKEN_MISSING TOKEN_EXPIRED ok ok ok NOT_ALLOWED NOT_ALLOWED ok"
_PEOPLE: Final = "TOKEN_MISSING TOKEN_EXPIRED ok NOT_ALLOWED ok NOT_ALLOWED NOT_ALLOWED ok"


def _room(operator: str, *, seat: str = OK) -> str:
    """Return the row of what is done in a room that *other* is not to know of."""
    hidden = "TOKEN_MISSING TOKEN_EXPIRED ROOM_NOT_FOUND NOT_ALLOWED"
    return f"{hidden} {seat} NOT_ALLOWED NOT_ALLOWED {operator}"


_ROWS: Final[Mapping[str, str]] = {
    "MatchService": "",
    "ListRuleSets GetRuleSet GetBoard ListKeys": _ANYBODY,
    "CreateMatch AdmitGuest FireDeadline Fire": _SERVICES,
    "ListMatches": _LOOKERS,
    "LobbyService": "",
    "CreateRoom QuickMatch": (
        "TOKEN_MISSING TOKEN_EXPIRED ok NOT_ALLOWED ALREADY_IN_MATCH NOT_ALLOWED NOT_ALLOWED ok"
    ),
    "SetDisplayName ListMyMatches AcceptInvite": _PEOPLE,
    "ListRooms WatchRooms GetPlayer BatchGetPlayers": _LOOKERS,
    "GetRoom WatchRoom": (
        "TOKEN_MISSING TOKEN_EXPIRED ROOM_NOT_FOUND ROOM_NOT_FOUND ok NOT_ALLOWED NOT_ALLOWED ok"
    ),
    "JoinRoom": _room(OK),
    "LeaveRoom TakeSeat SetReady CreateInvite": _room("NOT_SEATED"),
    "AddBot RemoveBot KickSeat HandOverRoom StartMatch": _room("NOT_CREATOR"),
    "Rematch": _room("NOT_SEATED"),
    "CancelQuickMatch": (
        "TOKEN_MISSING TOKEN_EXPIRED NOT_SEATED NOT_ALLOWED NOT_SEATED NOT_ALLOWED NOT_ALLOWED "
        "NOT_SEATED"
    ),
    "ResolvePlayer": _SERVICES,
    "ProgressionService": "",
    "GetProfile ListCards GetLeaderboard WatchProfile": _LOOKERS,
    "BotService": "",
    "ListBots": _LOOKERS,
    "SeatBots": _SERVICES,
    "AdminService": "",
    "FindMatches FreezeMatch ResumeMatch AbortMatch": _OPERATORS,
    "ListQuarantinedMatches ReleaseMatch ListAdminCalls": _OPERATORS,
    "GatewayService": "",
    "GetServerInfo": "ok TOKEN_EXPIRED ok ok ok ok ok ok",
}

_OF_PUBLIC: Final[Mapping[str, str]] = {
    "SubmitCommand PlayMatch ListLegalCommands WhyNot": (
        "TOKEN_MISSING TOKEN_EXPIRED NOT_SEATED NOT_ALLOWED ok ok NOT_ALLOWED NOT_SEATED"
    ),
    "WatchMatch GetMatch ReadEvents Explain GetHead": (
        "TOKEN_MISSING TOKEN_EXPIRED ok ok ok ok NOT_ALLOWED ok"
    ),
}

_OF_PRIVATE: Final[Mapping[str, str]] = {
    "SubmitCommand PlayMatch ListLegalCommands WhyNot": (
        "TOKEN_MISSING TOKEN_EXPIRED MATCH_NOT_FOUND NOT_ALLOWED ok ok NOT_ALLOWED NOT_SEATED"
    ),
    "WatchMatch GetMatch ReadEvents Explain GetHead": (
        "TOKEN_MISSING TOKEN_EXPIRED MATCH_NOT_FOUND MATCH_NOT_FOUND ok ok NOT_ALLOWED ok"
    ),
}


def _expanded(rows: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {
        name: dict(zip(KINDS, row.split(), strict=True))
        for names, row in rows.items()
        if row
        for name in names.split()
    }


OF_ALL: Final = _expanded(_ROWS)
"""What each kind of caller is told, by RPC: those that are about no match, or only for services. A
room is a private one."""

OF_PUBLIC: Final = _expanded(_OF_PUBLIC)
"""The same, of a match that everybody may watch."""

OF_PRIVATE: Final = _expanded(_OF_PRIVATE)
"""The same, of one that nobody may who has no seat."""


INSIDE: Final[Mapping[str, str]] = {
    "gateway": (
        "SubmitCommand Decide Follow CreateRoom JoinRoom TakeSeat LeaveRoom AddBot RemoveBot "
        "KickSeat HandOverRoom SetReady StartMatch Rematch QuickMatch CancelQuickMatch "
        "CreateInvite AcceptInvite ListMyMatches SetDisplayName ListRooms WatchRooms GetRoom "
        "WatchRoom GetPlayer BatchGetPlayers ResolvePlayer"
    ),
    "lobby": "CreateMatch AdmitGuest SeatBots",
    "timer": "FireDeadline Fire",
    "match_engine": "Arm",
    "gateway lobby": "GetProfile ListCards GetLeaderboard WatchProfile ListBots",
    # An engine lets operators alone administer, even where the gateway calls as itself.
    "": (
        "PlayMatch WatchMatch FindMatches FreezeMatch ResumeMatch AbortMatch "
        "ListQuarantinedMatches ReleaseMatch ListAdminCalls"
    ),
    "gateway lobby match_engine timer progression bot_runner": (
        "GetMatch ListLegalCommands ReadEvents Explain WhyNot ListRuleSets GetRuleSet GetBoard "
        "ListMatches GetHead ListKeys WatchShards"
    ),
}
"""Which services may call what past the gateway, where the one listens that is asked."""

MAY_CALL: Final = {
    name: services.split() for services, names in INSIDE.items() for name in names.split()
}


def request_for(method: MethodDescriptor, given: Mapping[str, Any]) -> bytes:
    """Return a request of *method* that is well made, about the things that are *given* by name."""
    message = GetMessageClass(method.input_type)()
    values = {**_VALUES, **given, "command_id": new_id()}
    _fill(message, values)
    return message.SerializeToString()


_VALUES: Final[dict[str, Any]] = {
    "rule_set": CLASSIC,
    "rule_set_id": CLASSIC,
    "seat_count": 3,
    "seat": 1,
    "reason": "to see who may",
    "display_name": "Ann",
    "code": "a" * 26,
    "issuer": "opolyx-dev",
    "subject": "ann",
    "strength": "steady",
    "sequence": 1,
    "deadline_id": "roll:0:1",
}


def _fill(message: Message, values: Mapping[str, Any]) -> None:
    for field in message.DESCRIPTOR.fields:
        if field.name in values and field.message_type is None and not field.is_repeated:
            setattr(message, field.name, values[field.name])
        elif field.name == "player_ids":
            getattr(message, field.name).append(values["player_id"])
        elif field.name in ("open", "deadline", "roll") and _is_single(field):
            getattr(message, field.name).SetInParent()
            _fill(getattr(message, field.name), values)
        elif field.name == "command" and _is_single(field):
            inner = getattr(message, field.name)
            if inner.DESCRIPTOR.name == "Command":
                _fill(inner, values)


def _is_single(field: Any) -> bool:
    return field.message_type is not None and not field.is_repeated


def told(error: grpc.aio.AioRpcError | None) -> str:
    """Return what a caller was told of its right: the reason if it was about that, or else OK."""
    if error is None:
        return OK
    reason = refusal_of(error, error.code()).reason
    return reason if reason in RIGHTS else OK
