"""Whatever a handler fails with, as a message in a stream."""

from typing import Final

import grpc

from libs.chassis.faults import OPERATIONAL, PLAIN_TEXTS, refusal_of
from libs.chassis.status import RefusedError
from libs.telemetry import logs
from libs.wire.refusals import refused_message
from opolyx.match.v1 import refused_pb2 as pb

_log: Final = logs.get()


def refusal_message(refusal: RefusedError) -> pb.Refused:
    """Write a refusal as the status of a unary call would say it."""
    return refused_message(refusal.told, refusal.retry_after_ms)


def error_message(error: Exception) -> pb.Refused:
    """Write what *error* comes to for one request of a stream that goes on.

    A bug is logged, and is told without a reason of the documented ones, as in a status: it must
    end neither the stream nor all else that is on it.
    """
    refusal = refusal_of(error, OPERATIONAL)
    if refusal is not None:
        return refusal_message(refusal)
    _log.exception("rpc_failed", error=type(error).__name__)
    internal = grpc.StatusCode.INTERNAL
    return pb.Refused(reason=internal.name, text=PLAIN_TEXTS[internal])
