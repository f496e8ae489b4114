"""Unary calls, with patience: again under the same ids, until there is an answer that helps."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import grpc

from libs.chassis.status import Answer, RefusedError, answer_of
from libs.client.replies import is_passing

T = TypeVar("T")

PATIENCE_S: Final = 30.0
"""How long a call is made again and again without an answer (start)."""

_PAUSE_S: Final = 0.1
_PAUSE_MAX_S: Final = 2.0


class ConnectionLostError(Exception):
    """There was no answer: nobody is there, or what is there has none that a client understands.

    Whether a command was carried out is not known. Sent again under the same id, it is answered as
    if this had not been.
    """


async def patiently(
    method: Callable[..., Awaitable[T]],
    request: Any,
    *,
    metadata: tuple[tuple[str, str | bytes], ...] = (),
    timeout_s: float = PATIENCE_S,
) -> T:
    """Call a unary *method*, and again where the machine objects and not a rule.

    It is the same request each time, so what has a `command_id` happens once.

    Raises:
        RefusedError: it is refused; or it is refused for the moment, and *timeout_s* is over.
        ConnectionLostError: there was no answer in *timeout_s*, or none of a server of ours.

    """
    now_s = asyncio.get_running_loop().time
    end_s = now_s() + timeout_s
    pause_s = _PAUSE_S
    while True:
        try:
            async with asyncio.timeout_at(end_s):
                return await method(request, metadata=metadata)
        except TimeoutError:
            raise ConnectionLostError(f"no answer within {timeout_s:g} s") from None
        except grpc.aio.AioRpcError as error:
            answer = answer_of(error)
            wait_s = max(pause_s, (answer.retry_after_ms or 0) / 1000)
            if not may_pass(answer) or now_s() + wait_s >= end_s:
                raise error_of(answer, error) from None
        await asyncio.sleep(wait_s)
        pause_s = min(2 * pause_s, _PAUSE_MAX_S)


_NO_ANSWER: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
"""Of gRPC's own words those that say no more than that nobody has answered."""


def may_pass(answer: Answer) -> bool:
    """Tell whether the same call may be answered otherwise in a moment."""
    return answer.code in _NO_ANSWER if answer.told is None else is_passing(answer.told.reason)


def error_of(answer: Answer, error: grpc.aio.AioRpcError) -> Exception:
    """Return what a call is ended with that failed with *error*, which was read as *answer*."""
    if answer.told is None:
        return ConnectionLostError(f"{answer.code.name}: {error.details()}")
    return RefusedError(answer.told, code=answer.code, retry_after_ms=answer.retry_after_ms)
