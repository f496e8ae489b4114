"""Requests from outside, checked, as the lobby's own commands."""

from typing import Final, TypeVar

from libs.bots.strengths import STRENGTHS
from libs.chassis import identity
from libs.chassis.status import refused
from libs.kernel.ids import fresh_id, is_uuid
from libs.kernel.reasons import Reason
from libs.rules import tables
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.wire.limits import PLAYERS_MAX
from libs.wire.requests import Checks
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from opolyx.match.v1.access_pb2 import Access
from services.lobby import commands as c
from services.lobby.display_names import check_display_name, clean_display_name
from services.lobby.events import USUAL_BOT, Watching
from services.lobby.handlers import Asked
from services.lobby.ports import Player
from services.lobby.wire import person_actor, request_hash, watching_of

C = TypeVar("C", bound=c.Command)

TOKEN_NAME_MAX: Final = 64
"""The most characters of a name that a token carries."""

ISSUER_MAX: Final = 200
SUBJECT_MAX: Final = 255
"""The most characters of what identifies a person; RFC 7519 leaves it open, OpenID has this."""


def caller() -> str:
    """Return the player id of the person on whose behalf the call is made.

    Raises:
        RefusedError: NOT_ALLOWED, it is made for nobody.

    """
    player = identity.caller().player_id
    if not is_uuid(player):
        raise refused(Reason.NOT_ALLOWED)
    return player


def is_operator() -> bool:
    """Tell whether an operator makes the present call."""
    behalf = identity.caller().on_behalf
    return behalf is not None and bool(behalf.operator_id)


def create_room(request: pb.CreateRoomRequest) -> Asked[c.CreateRoom]:
    """Read a request. Raises what `caller` does, and MalformedError, as do all of these."""
    checks = Checks()
    checks.command_id("command_id", request.command_id)
    check_table(checks, request)
    _check_terms(checks, request)
    checks.finish()
    is_listed = request.visibility != room_pb2.Room.VISIBILITY_PRIVATE
    usual = Watching.EVERYBODY if is_listed else Watching.INVITED
    is_said = request.watching != Access.WATCHING_UNSPECIFIED
    command = c.CreateRoom(
        player=caller(),
        rule_set=request.rule_set,
        seat_count=request.seat_count,
        is_listed=is_listed,
        watching=watching_of(request.watching) if is_said else usual,
        bot_strength=request.bot_strength or USUAL_BOT,
    )
    return asked_of(command, request)


def join_room(request: pb.JoinRoomRequest) -> Asked[c.JoinRoom]:
    """Read a request."""
    checks = room_checks(request)
    _check_seat(checks, request)
    checks.finish()
    return asked_of(c.JoinRoom(player=caller(), seat=_seat(request)), request)


def leave_room(request: pb.LeaveRoomRequest) -> Asked[c.LeaveRoom]:
    """Read a request."""
    room_checks(request).finish()
    return asked_of(c.LeaveRoom(player=caller()), request)


def add_bot(request: pb.AddBotRequest) -> Asked[c.AddBot]:
    """Read a request."""
    checks = room_checks(request)
    _check_seat(checks, request)
    _check_strength(checks, "strength", request.strength)
    checks.finish()
    command = c.AddBot(player=caller(), strength=request.strength, seat=_seat(request))
    return asked_of(command, request)


def set_ready(request: pb.SetReadyRequest) -> Asked[c.SetReady]:
    """Read a request."""
    room_checks(request).finish()
    return asked_of(c.SetReady(player=caller(), is_ready=request.ready), request)


def start_match(request: pb.StartMatchRequest, at_ms: int) -> Asked[c.StartMatch]:
    """Read a request, and name the match that it would start."""
    room_checks(request).finish()
    return asked_of(c.StartMatch(player=caller(), match_id=fresh_id(at_ms)), request)


def new_player(request: pb.ResolvePlayerRequest, at_ms: int) -> Player:
    """Return who a token's subject becomes, if they are nobody yet."""
    checks = Checks()
    _check_text(checks, "issuer", request.issuer, ISSUER_MAX)
    _check_text(checks, "subject", request.subject, SUBJECT_MAX)
    if len(request.display_name) > TOKEN_NAME_MAX:
        checks.add("display_name", f"must have at most {TOKEN_NAME_MAX} characters")
    checks.finish()
    return Player(fresh_id(at_ms), clean_display_name(request.display_name))


def renamed(request: pb.SetDisplayNameRequest) -> Player:
    """Return the caller under the name that they give themselves."""
    checks = Checks()
    checks.command_id("command_id", request.command_id)
    name = check_display_name(checks, "display_name", request.display_name)
    checks.finish()
    return Player(caller(), name)


def players(request: pb.BatchGetPlayersRequest) -> list[str]:
    """Return whom a request is about, each once."""
    checks = Checks()
    if not 1 <= len(request.player_ids) <= PLAYERS_MAX:
        checks.add("player_ids", f"must have 1 to {PLAYERS_MAX} entries")
    for number, player_id in enumerate(request.player_ids):
        checks.uuid(f"player_ids[{number}]", player_id)
    checks.finish()
    return list(dict.fromkeys(request.player_ids))


def check_table(checks: Checks, request: pb.CreateRoomRequest | pb.QuickMatchRequest) -> None:
    """Expect a rule set that is known here, and a number of seats that it allows."""
    check_rule_set(checks, request.rule_set)
    if request.rule_set in RULE_SETS:
        rule_set = RULE_SETS[request.rule_set]
        if isinstance(tables.new_table(rule_set, request.seat_count), Refusal):
            checks.add("seat_count", f"must be one of {', '.join(map(str, rule_set.seats))}")


def check_rule_set(checks: Checks, rule_set: str) -> None:
    """Expect a rule set that is known here."""
    if rule_set not in RULE_SETS:
        checks.add("rule_set", f"must be one of {', '.join(RULE_SETS)}")


OnRoom = (
    pb.JoinRoomRequest
    | pb.TakeSeatRequest
    | pb.LeaveRoomRequest
    | pb.AddBotRequest
    | pb.RemoveBotRequest
    | pb.KickSeatRequest
    | pb.HandOverRoomRequest
    | pb.SetReadyRequest
    | pb.StartMatchRequest
)
"""The requests that name a room, and may say which one the caller saw."""

Mutation = (
    OnRoom
    | pb.CreateRoomRequest
    | pb.RematchRequest
    | pb.CreateInviteRequest
    | pb.AcceptInviteRequest
    | pb.QuickMatchRequest
    | pb.CancelQuickMatchRequest
)
"""The requests that change rooms."""


def room_checks(request: OnRoom | pb.RematchRequest | pb.CreateInviteRequest) -> Checks:
    """Begin to check what every request about a room has."""
    checks = Checks()
    checks.uuid("room_id", request.room_id)
    checks.command_id("command_id", request.command_id)
    expected = _expected(request)
    if expected is not None:
        checks.least("expected_sequence", expected, 0)
    return checks


def _expected(request: Mutation) -> int | None:
    """Return the sequence that the caller saw, if it is said."""
    if isinstance(request, OnRoom) and request.HasField("expected_sequence"):
        return request.expected_sequence
    return None


def _check_text(checks: Checks, field: str, value: str, size_max: int) -> None:
    checks.text(field, value, size_max=size_max)
    checks.storable(field, value)


def _check_terms(checks: Checks, request: pb.CreateRoomRequest) -> None:
    if request.visibility not in room_pb2.Room.Visibility.values():
        checks.add("visibility", "is no value that is known here")
    if request.watching not in Access.Watching.values():
        checks.add("watching", "is no value that is known here")
    _check_strength(checks, "bot_strength", request.bot_strength)


def _check_strength(checks: Checks, field: str, strength: str) -> None:
    """Expect a bot that there is, or none."""
    if strength and strength not in STRENGTHS:
        checks.add(field, f"must be one of {', '.join(STRENGTHS)}")


def _check_seat(checks: Checks, request: pb.JoinRoomRequest | pb.AddBotRequest) -> None:
    if request.HasField("seat"):
        checks.least("seat", request.seat, 0)


def _seat(request: pb.JoinRoomRequest | pb.AddBotRequest) -> int | None:
    return request.seat if request.HasField("seat") else None


def asked_of(command: C, request: Mutation) -> Asked[C]:
    """Return *command* with what tells it from others."""
    actor = person_actor(caller())
    return Asked(
        command=command,
        command_id=request.command_id,
        actor=actor,
        request_hash=request_hash(actor, request),
        expected=_expected(request),
        sees_all=is_operator(),
    )
