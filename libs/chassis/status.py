"""From a refusal to a gRPC status and back: a code for each reason, an `ErrorInfo` for each error.

Statuses without an `ErrorInfo` are gRPC's own: INTERNAL for a bug, DEADLINE_EXCEEDED, CANCELLED,
UNIMPLEMENTED for a method that there is not.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, cast

import grpc
from google.protobuf.any_pb2 import Any as PackedDetail
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode
from grpc_status import rpc_status

from libs.kernel.reasons import Reason
from libs.rules.refusals import Fact, Refusal
from libs.wire.refusals import Telling, Told, tell, told_of
from libs.wire.requests import Violation
from opolyx.match.v1 import refused_pb2

M = TypeVar("M", bound=Message)

DOMAIN: Final = "opolyx"

VIOLATIONS_MAX: Final = 20
"""How many wrong fields a status names. It travels in a header, which has little room."""

_BY_CODE: Final[Mapping[StatusCode, tuple[Reason, ...]]] = {
    StatusCode.INVALID_ARGUMENT: (
        Reason.INVALID_REQUEST,
        Reason.COMMAND_ID_REUSED,
        Reason.INVALID_CHOICE,
        Reason.TRADE_WITH_SELF,
        Reason.TRADE_EMPTY,
        Reason.TRADE_CASH_BOTH_SIDES,
        Reason.TRADE_DUPLICATE_SQUARE,
        Reason.SEED_INVALID,
    ),
    StatusCode.NOT_FOUND: (
        Reason.MATCH_NOT_FOUND,
        Reason.ROOM_NOT_FOUND,
        Reason.PLAYER_NOT_FOUND,
        Reason.INVITE_NOT_FOUND,
        Reason.OFFER_NOT_FOUND,
    ),
    StatusCode.ALREADY_EXISTS: (Reason.MATCH_EXISTS,),
    StatusCode.UNAUTHENTICATED: (
        Reason.TOKEN_MISSING,
        Reason.TOKEN_INVALID,
        Reason.TOKEN_EXPIRED,
    ),
    StatusCode.PERMISSION_DENIED: (
        Reason.NOT_ALLOWED,
        Reason.NOT_SEATED,
        Reason.NOT_CREATOR,
        Reason.BANNED_FROM_ROOM,
    ),
    StatusCode.RESOURCE_EXHAUSTED: (
        Reason.RATE_LIMITED,
        Reason.OVERLOADED,
        Reason.SLOW_READER,
    ),
    StatusCode.UNAVAILABLE: (
        Reason.NOT_OWNER_OF_SHARD,
        Reason.STORE_UNAVAILABLE,
        Reason.GOING_AWAY,
    ),
    StatusCode.ABORTED: (Reason.STALE_SEQUENCE,),
    StatusCode.FAILED_PRECONDITION: (
        Reason.MATCH_NOT_STARTED,
        Reason.MATCH_ENDED,
        Reason.MATCH_FROZEN,
        Reason.MATCH_NOT_FROZEN,
        Reason.MATCH_QUARANTINED,
        Reason.MATCH_NOT_QUARANTINED,
        Reason.SEAT_IS_OUT,
        Reason.DEADLINE_STALE,
        Reason.DEADLINE_NOT_DUE,
        Reason.NOT_YOUR_TURN,
        Reason.NOT_YOUR_BID,
        Reason.NOT_YOUR_DEBT,
        Reason.WRONG_PHASE,
        Reason.AUCTION_RUNNING,
        Reason.NOT_MANAGING_TIME,
        Reason.NOT_A_PROPERTY,
        Reason.NOT_A_STREET,
        Reason.NOT_OWNER,
        Reason.GROUP_INCOMPLETE,
        Reason.GROUP_MORTGAGED,
        Reason.GROUP_HAS_LEVELS,
        Reason.UNEVEN_BUILDING,
        Reason.LEVEL_LIMIT,
        Reason.TURN_LEVEL_LIMIT,
        Reason.NO_LEVEL,
        Reason.ALREADY_MORTGAGED,
        Reason.NOT_MORTGAGED,
        Reason.NOT_ENOUGH_CASH,
        Reason.CAN_STILL_PAY,
        Reason.NOT_IN_JAIL,
        Reason.TRADE_UNFAIR,
        Reason.TRADE_NOT_TRADABLE,
        Reason.TRADE_LIMIT,
        Reason.NOT_OFFER_RECEIVER,
        Reason.NOT_OFFER_PROPOSER,
        Reason.SEED_TOO_LATE,
        Reason.ROOM_FULL,
        Reason.ROOM_CLOSED,
        Reason.TOO_FEW_SEATS,
        Reason.TEAMS_UNEVEN,
        Reason.ALREADY_IN_MATCH,
        Reason.NOT_READY,
        Reason.SEAT_TAKEN,
        Reason.SEAT_EMPTY,
        Reason.TOO_MANY_INVITES,
    ),
}

CODES: Final[Mapping[Reason, StatusCode]] = {
    reason: code for code, reasons in _BY_CODE.items() for reason in reasons
}
"""The status code of every reason."""

assert CODES.keys() == set(Reason), set(Reason) ^ CODES.keys()
assert len(CODES) == sum(map(len, _BY_CODE.values())), "a reason has one code"

UNKNOWN_CODE: Final = StatusCode.FAILED_PRECONDITION
"""The status code of a reason that is newer than we are: that of the rules, as most reasons are."""

RETRY_AFTER_MS: Final[Mapping[Reason, int]] = {
    Reason.RATE_LIMITED: 1_000,
    Reason.OVERLOADED: 250,
    Reason.NOT_OWNER_OF_SHARD: 100,
    Reason.STORE_UNAVAILABLE: 500,
    Reason.GOING_AWAY: 100,
    Reason.SLOW_READER: 100,
}
"""How long to wait before trying again, where that helps and nobody knows better (start)."""


class RefusedError(Telling, Exception):
    """An RPC ends with a refusal. Raised by servicers and the edge; the edge makes a status of it.

    Clients raise it again when they are told one.

    Attributes:
        told: what the caller is told.
        code: the status code; that of the reason, unless whoever passes on what another service
            said knows better.
        retry_after_ms: when to try again; None for what the reason itself says, if anything.

    """

    def __init__(
        self, told: Told, *, code: StatusCode | None = None, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(told.reason)
        self.told = told
        reason = Reason(told.reason) if told.reason in Reason.__members__ else None
        self.code = code or (UNKNOWN_CODE if reason is None else CODES[reason])
        if retry_after_ms is None and reason is not None:
            retry_after_ms = RETRY_AFTER_MS.get(reason)
        self.retry_after_ms = retry_after_ms

    def __str__(self) -> str:
        return f"{self.told.reason}: {self.told.text}"


def refused(reason: Reason, *, retry_after_ms: int | None = None, **facts: Fact) -> RefusedError:
    """Return the error of a refusal that no rule of the game gave, to be raised."""
    return RefusedError(tell(Refusal(reason, "", facts)), retry_after_ms=retry_after_ms)


def error_of(message: refused_pb2.Refused) -> RefusedError:
    """Return a refusal that came in a message as the error that makes a status of it."""
    has_hint = message.HasField("retry_after_ms")
    return RefusedError(
        told_of(message), retry_after_ms=message.retry_after_ms if has_hint else None
    )


def status_of(error: RefusedError) -> grpc.Status:
    """Return the status of a refusal: its code, its sentence and its typed details."""
    told = error.told
    info = error_details_pb2.ErrorInfo(reason=told.reason, domain=DOMAIN, metadata=told.metadata)
    details: list[Message] = [info]
    if told.violations:
        details.append(_bad_request(told.violations))
    if error.retry_after_ms is not None:
        delay = Duration()
        delay.FromMilliseconds(error.retry_after_ms)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    number: int = error.code.value[0]
    packed = status_pb2.Status(code=number, message=told.text, details=map(_pack, details))
    return rpc_status.to_status(packed)


class Answer(NamedTuple):
    """What a status says to whoever called.

    Attributes:
        code: the status code.
        told: the refusal; None if the status is gRPC's own. Its reason may be newer than we are.
        retry_after_ms: when to try again, if that helps.

    """

    code: StatusCode
    told: Told | None
    retry_after_ms: int | None = None


def answer_of(error: grpc.aio.AioRpcError) -> Answer:
    """Read the status of a call that failed."""
    details = _details(error)
    info = _first(details, error_details_pb2.ErrorInfo)
    bad = _first(details, error_details_pb2.BadRequest)
    retry = _first(details, error_details_pb2.RetryInfo)
    told: Told | None = None
    if info is not None and info.domain == DOMAIN:
        fields = bad.field_violations if bad is not None else ()
        violations = tuple(Violation(field.field, field.description) for field in fields)
        told = Told(info.reason, dict(info.metadata), error.details() or "", violations)
    retry_after_ms = retry.retry_delay.ToMilliseconds() if retry is not None else None
    return Answer(error.code(), told, retry_after_ms)


def _bad_request(violations: Sequence[Violation]) -> error_details_pb2.BadRequest:
    return error_details_pb2.BadRequest(
        field_violations=[
            error_details_pb2.BadRequest.FieldViolation(field=field, description=description)
            for field, description in violations[:VIOLATIONS_MAX]
        ]
    )


def _pack(detail: Message) -> PackedDetail:
    packed = PackedDetail()
    packed.Pack(detail)
    return packed


def _details(error: grpc.aio.AioRpcError) -> Sequence[PackedDetail]:
    try:
        status = rpc_status.from_call(cast("grpc.Call", error))
    except (ValueError, DecodeError):
        return ()  # whoever wrote this was not us
    return status.details if status is not None else ()


def _first(details: Sequence[PackedDetail], kind: type[M]) -> M | None:
    message = kind()
    return next((message for detail in details if detail.Unpack(message)), None)
