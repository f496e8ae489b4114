"""Requests about seats, invitations and quick matches, checked, as the lobby's own commands."""

from typing import Final

from libs.wire.requests import Checks
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.lobby import commands as c
from services.lobby.handlers import Asked
from services.lobby.inviting import WantedInvite
from services.lobby.requests import asked_of, caller, check_table, is_operator, room_checks
from services.lobby.room import Room
from services.lobby.wire import person_actor, request_hash

_MINUTE_MS: Final = 60_000

TTL_MIN_MS: Final = _MINUTE_MS
TTL_MAX_MS: Final = 7 * 24 * 60 * _MINUTE_MS
TTL_MS: Final = 60 * _MINUTE_MS
"""For how long an invitation is of use at least, at most, and where nobody says it."""

CODE_MAX: Final = 64
"""The most characters that are looked for as a code; all that are given out are shorter."""


def take_seat(request: pb.TakeSeatRequest) -> Asked[c.TakeSeat]:
    """Read a request. Raises what `requests.create_room` does, as do all of these."""
    checks = room_checks(request)
    _check_named_seat(checks, request)
    if request.HasField("from_seat"):
        checks.least("from_seat", request.from_seat, 0)
    checks.finish()
    left = request.from_seat if request.HasField("from_seat") else None
    return asked_of(c.TakeSeat(player=caller(), seat=request.seat, from_seat=left), request)


def remove_bot(request: pb.RemoveBotRequest) -> Asked[c.RemoveBot]:
    """Read a request."""
    checks = room_checks(request)
    _check_named_seat(checks, request)
    checks.finish()
    return asked_of(c.RemoveBot(player=caller(), seat=request.seat), request)


def kick_seat(request: pb.KickSeatRequest) -> Asked[c.KickSeat]:
    """Read a request."""
    checks = room_checks(request)
    _check_named_seat(checks, request)
    if request.player_id:
        checks.uuid("player_id", request.player_id)
    checks.finish()
    command = c.KickSeat(player=caller(), seat=request.seat, target=request.player_id)
    return asked_of(command, request)


def hand_over(request: pb.HandOverRoomRequest) -> Asked[c.HandOver]:
    """Read a request."""
    checks = room_checks(request)
    _check_named_seat(checks, request)
    checks.finish()
    return asked_of(c.HandOver(player=caller(), seat=request.seat), request)


def check_rematch(request: pb.RematchRequest) -> None:
    """Go on if a request can be understood."""
    room_checks(request).finish()


def rematch(request: pb.RematchRequest, played: Room) -> Asked[c.Rematch]:
    """Read a request about a room that the caller sees."""
    return asked_of(c.Rematch(player=caller(), played=played), request)


def create_invite(request: pb.CreateInviteRequest) -> WantedInvite:
    """Read a request."""
    checks = room_checks(request)
    ttl_ms = request.ttl.ToMilliseconds() if request.HasField("ttl") else TTL_MS
    if not TTL_MIN_MS <= ttl_ms <= TTL_MAX_MS:
        checks.add("ttl", "must be 1 minute to 7 days")
    checks.finish()
    player = caller()
    return WantedInvite(
        room_id=request.room_id,
        player=player,
        command_id=request.command_id,
        request_hash=request_hash(person_actor(player), request),
        sees_all=is_operator(),
        ttl_ms=ttl_ms,
    )


def check_invite(request: pb.AcceptInviteRequest) -> None:
    """Go on if a request can be understood."""
    checks = Checks()
    checks.text("code", request.code, size_max=CODE_MAX)
    if not request.code.isascii() or not request.code.isalnum():
        checks.add("code", "must be made of letters and digits")
    checks.command_id("command_id", request.command_id)
    checks.finish()


def accept_invite(request: pb.AcceptInviteRequest, *, is_current: bool) -> Asked[c.AdmitGuest]:
    """Read a request about an invitation that there is."""
    return asked_of(c.AdmitGuest(player=caller(), is_current=is_current), request)


_OnSeat = pb.TakeSeatRequest | pb.RemoveBotRequest | pb.KickSeatRequest | pb.HandOverRoomRequest


def quick_match(request: pb.QuickMatchRequest, fill_ms: int) -> Asked[c.QuickMatch]:
    """Read a request; whoever is the first to wait waits until *fill_ms*."""
    checks = Checks()
    checks.command_id("command_id", request.command_id)
    check_table(checks, request)
    checks.finish()
    command = c.QuickMatch(
        player=caller(),
        rule_set=request.rule_set,
        seat_count=request.seat_count,
        fill_ms=fill_ms,
    )
    return asked_of(command, request)


def cancel_quick(request: pb.CancelQuickMatchRequest) -> Asked[c.LeaveRoom]:
    """Read a request."""
    checks = Checks()
    checks.command_id("command_id", request.command_id)
    checks.finish()
    return asked_of(c.LeaveRoom(player=caller()), request)


def _check_named_seat(checks: Checks, request: _OnSeat) -> None:
    if request.HasField("seat"):
        checks.least("seat", request.seat, 0)
    else:
        checks.add("seat", "is missing")
