import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode

from libs.chassis.status import (
    CODES,
    RETRY_AFTER_MS,
    VIOLATIONS_MAX,
    RefusedError,
    answer_of,
    error_of,
    refused,
    status_of,
)
from libs.kernel.reasons import Reason
from libs.wire.refusals import Told, refused_message
from libs.wire.requests import Violation
from opolyx.match.v1 import refused_pb2

DETAILS = "grpc-status-details-bin"


def packed(error: RefusedError) -> status_pb2.Status:
    """Return the rich status that travels in the trailers."""
    trailers = dict(status_of(error).trailing_metadata or ())
    details = trailers[DETAILS]
    assert isinstance(details, bytes)
    return status_pb2.Status.FromString(details)


def received(error: RefusedError) -> grpc.aio.AioRpcError:
    """Return what the caller gets."""
    status = status_of(error)
    trailers = grpc.aio.Metadata(*(status.trailing_metadata or ()))
    return grpc.aio.AioRpcError(status.code, None, trailers, status.details)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_its_code_and_one_error_info(reason: Reason) -> None:
    error = refused(reason)

    status = packed(error)
    kinds = [detail.TypeName() for detail in status.details]
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == (reason, "opolyx")
    assert status.code == CODES[reason].value[0]
    assert status.message
    assert kinds.count("google.rpc.ErrorInfo") == 1
    assert ("google.rpc.RetryInfo" in kinds) == (reason in RETRY_AFTER_MS)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (Reason.INVALID_REQUEST, StatusCode.INVALID_ARGUMENT),
        (Reason.MATCH_NOT_FOUND, StatusCode.NOT_FOUND),
        (Reason.NOT_SEATED, StatusCode.PERMISSION_DENIED),
        (Reason.STALE_SEQUENCE, StatusCode.ABORTED),
        (Reason.NOT_YOUR_TURN, StatusCode.FAILED_PRECONDITION),
        (Reason.INVALID_CHOICE, StatusCode.INVALID_ARGUMENT),
        (Reason.TOKEN_EXPIRED, StatusCode.UNAUTHENTICATED),
        (Reason.OVERLOADED, StatusCode.RESOURCE_EXHAUSTED),
        (Reason.NOT_OWNER_OF_SHARD, StatusCode.UNAVAILABLE),
        (Reason.MATCH_EXISTS, StatusCode.ALREADY_EXISTS),
    ],
)
def test_codes_are_those_of_the_vocabulary(reason: Reason, code: StatusCode) -> None:
    assert CODES[reason] is code


def test_a_refusal_comes_back_as_it_went() -> None:
    told = Told(
        Reason.INVALID_REQUEST,
        {"fields": "seat"},
        "That is no request.",
        (Violation("seat", "must be 0 or more"),),
    )
    answer = answer_of(received(RefusedError(told, retry_after_ms=1_250)))

    assert answer.code is StatusCode.INVALID_ARGUMENT
    assert answer.told == told
    assert answer.retry_after_ms == 1_250


def test_a_reason_that_is_newer_than_we_are_is_passed_on() -> None:
    told = Told("FROM_THE_FUTURE", {}, "It is not yet time.")
    answer = answer_of(received(RefusedError(told, code=StatusCode.FAILED_PRECONDITION)))

    assert answer.told == told
    assert answer.code is StatusCode.FAILED_PRECONDITION


def test_a_refusal_in_a_message_is_one_again_be_it_newer_than_we_are() -> None:
    known = refused(Reason.RATE_LIMITED, retry_after_ms=70)

    again = error_of(refused_message(known.told, known.retry_after_ms))
    newer = error_of(refused_pb2.Refused(reason="TIRED", text="Tired."))

    assert (again.told, again.code, again.retry_after_ms) == (known.told, known.code, 70)
    assert (newer.told.reason, newer.code) == ("TIRED", StatusCode.FAILED_PRECONDITION)
    assert newer.retry_after_ms is None


def test_a_status_names_no_more_fields_than_a_header_has_room_for() -> None:
    violations = tuple(Violation(f"field_{n}", "x" * 60) for n in range(1_000))
    told = Told(Reason.INVALID_REQUEST, {}, "No.", violations)

    status = packed(RefusedError(told))

    bad = error_details_pb2.BadRequest()
    assert status.details[1].Unpack(bad)
    assert len(bad.field_violations) == VIOLATIONS_MAX
    assert status.ByteSize() < 4_096


@pytest.mark.parametrize(
    "trailers",
    [(), ((DETAILS, b"\xff"),), ((DETAILS, b""),), (("other", "x"),)],
    ids=["none", "garbage", "empty", "others"],
)
def test_what_others_write_into_a_status_is_read_without_harm(
    trailers: tuple[tuple[str, str | bytes], ...],
) -> None:
    error = grpc.aio.AioRpcError(StatusCode.UNKNOWN, None, grpc.aio.Metadata(*trailers), "hm")

    assert answer_of(error) == (StatusCode.UNKNOWN, None, None)


def test_an_error_info_of_another_domain_is_not_ours() -> None:
    info = error_details_pb2.ErrorInfo(reason="NOT_ALLOWED", domain="elsewhere")
    status = status_pb2.Status(code=StatusCode.UNKNOWN.value[0], message="hm")
    status.details.add().Pack(info)
    metadata = grpc.aio.Metadata((DETAILS, status.SerializeToString()))

    assert answer_of(grpc.aio.AioRpcError(StatusCode.UNKNOWN, None, metadata, "hm")).told is None
