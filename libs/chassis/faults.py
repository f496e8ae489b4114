"""What is answered when a handler fails: a refusal, gRPC's own status, or that it is a bug."""

from collections.abc import Mapping
from typing import Final

import grpc
from grpc import StatusCode

from libs.chassis.status import RefusedError, answer_of, refused
from libs.eventlog.ports import LogUnavailableError
from libs.kernel.reasons import Reason
from libs.store.ports import StoreUnavailableError
from libs.wire.refusals import tell_malformed
from libs.wire.requests import MalformedError

Operational = Mapping[type[Exception], Reason]
"""What the world may do to a handler, and the reason that the caller is told."""

OPERATIONAL: Final[Operational] = {
    StoreUnavailableError: Reason.STORE_UNAVAILABLE,
    LogUnavailableError: Reason.STORE_UNAVAILABLE,
}
"""What it may do to any of them. A service adds what its own ports raise."""

PLAIN_TEXTS: Final = {
    StatusCode.INTERNAL: "Something went wrong here; the request id names it in our log.",
    StatusCode.DEADLINE_EXCEEDED: "It took too long.",
}
"""The message of a status that has no reason, by code."""


class OverTimeError(Exception):
    """A unary call took longer than any may."""


def refusal_of(error: BaseException, operational: Operational) -> RefusedError | None:
    """Return the refusal that an exception of a handler stands for; None if it stands for none."""
    match error:
        case RefusedError():
            return error
        case MalformedError():
            return RefusedError(tell_malformed(error))
        case grpc.aio.AioRpcError():
            return _passed_on(error)
        case _:
            reason = next((r for kind, r in operational.items() if isinstance(error, kind)), None)
            return refused(reason) if reason is not None else None


def plain_code(error: BaseException) -> StatusCode:
    """Return the code of what is no refusal: too late, or a bug."""
    is_late = isinstance(error, OverTimeError) or (
        isinstance(error, grpc.aio.AioRpcError) and error.code() is StatusCode.DEADLINE_EXCEEDED
    )
    return StatusCode.DEADLINE_EXCEEDED if is_late else StatusCode.INTERNAL


def _passed_on(error: grpc.aio.AioRpcError) -> RefusedError | None:
    """Return what another service refused, to be refused here the same way."""
    answer = answer_of(error)
    if answer.told is not None:
        return RefusedError(answer.told, code=answer.code, retry_after_ms=answer.retry_after_ms)
    if answer.code is StatusCode.UNAVAILABLE:
        return refused(Reason.STORE_UNAVAILABLE)
    return None
