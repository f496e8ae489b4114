"""One RPC while it is handled: what will be told of it, and how it can be ended from outside."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import grpc
from grpc import StatusCode

from libs.chassis.limiting import CountedStream
from libs.chassis.messages import Deserializer, Serializer
from libs.chassis.status import RefusedError
from libs.kernel.ids import fresh_id

REQUEST_ID: Final = "x-request-id"
"""Metadata by which a caller names a call, and which is told back in its trailers."""

FAREWELL_S: Final = 1.0
"""How long a handler that wants to may take for its last words (start)."""

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
        "_farewell",
        "_is_cut",
        "_is_over",
        "_task",
        "code",
        "counted",
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
        self._is_cut = False
        self._farewell: Callable[[RefusedError], None] | None = None
        self.method = method
        self.code = StatusCode.OK
        self.counted: CountedStream | None = None
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

        The handler sees itself cancelled, as it does when the client goes away; at once, unless it
        has asked to be told first.
        """
        if self._is_over or self.ended_by is not None:
            return
        self.ended_by = refusal
        if self._farewell is None:
            self._cut()
            return
        self._farewell(refusal)
        self.expiry = asyncio.get_running_loop().call_later(FAREWELL_S, self._cut)

    def on_end(self, farewell: Callable[[RefusedError], None]) -> None:
        """Have *farewell* called with what ends the call, and its handler cancelled later."""
        self._farewell = farewell

    def take_end(self) -> RefusedError | None:
        """Return what ended the call from outside, and take the cancellation back; else None."""
        if not self._is_cut:
            return None
        self._task.uncancel()
        return self.ended_by

    def close(self) -> float:
        """Let nothing end it any more; returns how long it has taken, in seconds."""
        self._is_over = True
        if self.expiry is not None:
            self.expiry.cancel()
        return time.perf_counter() - self._began_s

    def _cut(self) -> None:
        self._is_cut = True
        self._task.cancel()


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
        await self.send(self._write(message))

    async def send(self, data: bytes) -> None:
        """Send a response that is encoded already, for whoever sends the same to many."""
        await self._context.write(data)
        self._call.sent += 1

    def on_end(self, farewell: Callable[[RefusedError], None]) -> None:
        """Have *farewell* called when the call is to end: drained, or its token expired.

        The handler then has `FAREWELL_S` to say go away in its own words and to raise the refusal;
        without this it is cancelled at once.
        """
        self._call.on_end(farewell)

    async def requests(self) -> AsyncIterator[Any]:
        """Yield the requests until the client has no more. Raises what `read` does."""
        while (request := await self.read()) is not grpc.aio.EOF:
            yield request
