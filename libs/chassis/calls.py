"""One RPC while it is handled: what will be told of it, and how it can be ended from outside."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import grpc
from grpc import StatusCode

from libs.chassis.messages import Deserializer, Serializer
from libs.chassis.status import RefusedError
from libs.kernel.ids import fresh_id

REQUEST_ID: Final = "x-request-id"
"""Metadata by which a caller names a call, and which is told back in its trailers."""

_NAMED_WELL: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
_INFRASTRUCTURE: Final = ("grpc.health.", "grpc.reflection.")

_request_id: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """Return the id of the call that is being handled; empty outside of any."""
    return _request_id.get()


@dataclass(frozen=True, slots=True)
class Method:
    """An RPC that is served: its `package.Service/Method`, and whether either side streams."""

    name: str
    is_stream: bool

    @property
    def is_infrastructure(self) -> bool:
        """Whether it is health or reflection: for anyone, and nothing to write a line about."""
        return self.name.startswith(_INFRASTRUCTURE)


class Call:
    """One call in progress. Belongs to the task that handles it."""

    __slots__ = (
        "_began_s",
        "_is_over",
        "_task",
        "code",
        "ended_by",
        "expiry",
        "method",
        "reason",
        "received",
        "request_id",
        "sent",
    )

    def __init__(self, method: Method, metadata: Mapping[str, str | bytes], now_ms: int) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._began_s = time.perf_counter()
        self._is_over = False
        self.method = method
        self.code = StatusCode.OK
        self.reason = ""
        self.received = 0
        self.sent = 0
        self.ended_by: RefusedError | None = None
        self.expiry: asyncio.TimerHandle | None = None
        given = metadata.get(REQUEST_ID)
        is_usable = isinstance(given, str) and _NAMED_WELL.fullmatch(given)
        self.request_id = str(given) if is_usable else fresh_id(now_ms)
        _request_id.set(self.request_id)

    def end(self, refusal: RefusedError) -> None:
        """End the call with this status, wherever its handler is; nothing if it is over anyway.

        The handler sees itself cancelled, as it does when the client goes away.
        """
        if not self._is_over and self.ended_by is None:
            self.ended_by = refusal
            self._task.cancel()

    def take_end(self) -> RefusedError | None:
        """Return what ended the call from outside, and take the cancellation back; else None."""
        if self.ended_by is not None:
            self._task.uncancel()
        return self.ended_by

    def close(self) -> float:
        """Let nothing end it any more; returns how long it has taken, in seconds."""
        self._is_over = True
        if self.expiry is not None:
            self.expiry.cancel()
        return time.perf_counter() - self._began_s


class StreamContext:
    """What a streaming handler gets for its context: grpc's own, with our reading and writing."""

    __slots__ = ("_call", "_context", "_read", "_write")

    def __init__(
        self,
        context: grpc.aio.ServicerContext[bytes, bytes],
        call: Call,
        read: Deserializer,
        write: Serializer,
    ) -> None:
        self._context = context
        self._call = call
        self._read = read
        self._write = write

    def __getattr__(self, name: str) -> Any:
        """Be grpc's context in all else."""
        return getattr(self._context, name)

    async def read(self) -> Any:
        """Return the next request, or `grpc.aio.EOF`.

        Raises:
            RefusedError: INVALID_REQUEST.

        """
        data: object = await self._context.read()
        if not isinstance(data, bytes):
            return data  # the end, which grpc's stubs don't tell of
        self._call.received += 1
        return self._read(data)

    async def write(self, message: Any) -> None:
        """Send a response; waits while the client does not read."""
        await self._context.write(self._write(message))
        self._call.sent += 1

    async def requests(self) -> AsyncIterator[Any]:
        """Yield the requests until the client has no more. Raises what `read` does."""
        while (request := await self.read()) is not grpc.aio.EOF:
            yield request
