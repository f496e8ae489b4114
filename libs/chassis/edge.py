"""The edge of a gRPC server: every RPC gets a span, metrics, one line, and a typed status.

Messages are bytes to grpc and are read and written here: what grpc itself says about bad ones has
no reason in it. Its own limits lie above ours for the same cause. To grpc every request is a
stream, so that who calls is known before anything is read from them, and a call that is opened and
never made is counted and ended like any other.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast

import grpc
from grpc import StatusCode
from opentelemetry.trace import Span, Status
from opentelemetry.trace import StatusCode as SpanStatus

from libs.chassis.admission import Door
from libs.chassis.calls import REQUEST_ID, Call, Method, StreamContext
from libs.chassis.faults import (
    OPERATIONAL,
    PLAIN_TEXTS,
    Operational,
    OverTimeError,
    plain_code,
    refusal_of,
)
from libs.chassis.identity import NOBODY, Caller, set_caller
from libs.chassis.messages import Deserializer, Serializer, malformed, reader
from libs.chassis.sections import ServerSettings
from libs.chassis.status import refused, status_of
from libs.chassis.traffic import Traffic
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from libs.telemetry import logs, metrics, names, traces
from libs.telemetry.names import LogFields
from libs.wire.limits import LimitName

VERSION: Final = "opolyx-version"
"""The trailer that says which release answered."""

ABORT_S: Final = 1.0
"""How long a call that ends waits for its client to read what it was sent (start)."""

T = TypeVar("T")
Context = grpc.aio.ServicerContext[bytes, bytes]
# Quoted, since grpc's handlers take parameters in its stubs alone.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]"

_log: Final = logs.get()
_DURATION: Final = metrics.histogram(names.RPC_SERVER_DURATION)
_STREAMS: Final = metrics.counter(names.RPC_SERVER_STREAMS)
_REFUSALS: Final = metrics.counter(names.REFUSALS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On which terms a server takes calls.

    Attributes:
        service: the name of the service.
        door: whom it lets in.
        settings: its limits.
        clock: the time.
        version: of the release.
        is_strict: whether requests may hold nothing that is not known here; for clients' requests.
        operational: what its own ports raise, beside `libs.chassis.faults.OPERATIONAL`.

    """

    service: str
    door: Door
    settings: ServerSettings
    clock: Clock
    version: str
    is_strict: bool = False
    operational: Operational = field(default_factory=dict)


class Edge(grpc.aio.ServerInterceptor):
    """The one interceptor of a server.

    Attributes:
        traffic: the calls that are open.

    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._service = terms.service
        self._settings = terms.settings
        self._operational = {**OPERATIONAL, **terms.operational}
        self._handlers: dict[str, Handler] = {}
        self.traffic: Final = Traffic(terms.service, terms.settings)

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        """Return our own handler around the one that is registered, made at the first call."""
        path = handler_call_details.method
        handler = self._handlers.get(path)
        if handler is None:
            inner = await continuation(handler_call_details)
            if inner is None:
                return None  # grpc answers UNIMPLEMENTED
            handler = self._handlers[path] = self._wrapped(path.removeprefix("/"), inner)
        return handler

    # Around the registered handlers.

    def _wrapped(self, name: str, inner: Handler) -> Handler:
        method = Method(name, inner.request_streaming or inner.response_streaming)
        # Reflection and health have messages of their own sizes and of others' schemas.
        is_strict = self._terms.is_strict and not method.is_infrastructure
        bytes_max = self._settings.request_bytes_max
        read = reader(inner.request_deserializer, bytes_max=bytes_max, is_strict=is_strict)
        write = cast("Serializer", inner.response_serializer or bytes)
        if inner.response_streaming:
            behaviour = inner.stream_stream or inner.unary_stream
            handle: Any = self._answers(method, inner, behaviour, read, write)
        else:
            behaviour = inner.stream_unary or inner.unary_unary
            handle = self._answer(method, inner, behaviour, read, write)
        assert inspect.iscoroutinefunction(behaviour) or inspect.isasyncgenfunction(behaviour)
        return _ARITIES[inner.response_streaming](handle)

    def _answer(
        self, method: Method, inner: Handler, behaviour: Any, read: Deserializer, write: Serializer
    ) -> Callable[[Any, Context], Awaitable[bytes]]:
        """Return the handler of an RPC with one response."""

        async def handle(_: object, context: Context) -> bytes:
            async def work(call: Call) -> bytes:
                if inner.request_streaming:
                    stream = StreamContext(context, call, read, write)
                    response = await behaviour(stream.requests(), stream)
                else:
                    request = await self._request(context, read)
                    with self.traffic.handling(method):
                        response = await self._in_time(behaviour(request, context), context)
                # A handler that has set another code has nothing to say.
                return write(response) if _code(context) is StatusCode.OK else b""

            return await self._handled(method, context, work)

        return handle

    def _answers(
        self, method: Method, inner: Handler, behaviour: Any, read: Deserializer, write: Serializer
    ) -> Callable[[Any, Context], Awaitable[None]]:
        """Return the handler of an RPC with a stream of responses, whichever way they are made."""

        async def handle(_: object, context: Context) -> None:
            async def work(call: Call) -> None:
                stream = StreamContext(context, call, read, write)
                if inner.request_streaming:
                    request: Any = stream.requests()
                else:
                    request = await self._request(context, read)
                if inspect.iscoroutinefunction(behaviour):
                    await behaviour(request, stream)
                    return
                async with aclosing(behaviour(request, stream)) as responses:
                    async for response in responses:
                        await self._write(stream, response)

            await self._handled(method, context, work)

        return handle

    async def _write(self, stream: StreamContext, response: Any) -> None:
        """Send what a handler has yielded; nothing piles up behind a client that does not read."""
        try:
            async with asyncio.timeout(self._settings.write_timeout_s):
                await stream.write(response)
        except TimeoutError:
            raise refused(Reason.SLOW_READER, limit=LimitName.WRITE) from None

    async def _request(self, context: Context, read: Deserializer) -> Any:
        """Read the one message of a request.

        Raises:
            RefusedError: INVALID_REQUEST, it is none, or does not come.

        """
        data: object = None
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.request_timeout_s):
                data = await context.read()
        if not isinstance(data, bytes):
            raise malformed("is missing")
        return read(data)

    async def _in_time(self, response: Awaitable[T], context: Context) -> T:
        limit_s = self._settings.unary_timeout_s
        left_s: float | None = context.time_remaining()
        if left_s is not None and left_s <= limit_s:
            return await response  # grpc cancels the handler when the caller's deadline is over
        timeout = asyncio.timeout(limit_s)
        try:
            async with timeout:
                return await response
        except TimeoutError:
            if timeout.expired():
                raise OverTimeError from None
            raise

    # What every RPC gets.

    async def _handled(
        self, method: Method, context: Context, work: Callable[[Call], Awaitable[T]]
    ) -> T:
        metadata = dict(context.invocation_metadata() or ())
        call = Call(method, metadata, self._terms.clock.now_ms())
        logs.bind(service=self._service, method=method.name, request_id=call.request_id)
        context.set_trailing_metadata(self._trailers(call))
        self.traffic.open(call)
        with traces.serving(method.name, cast("Mapping[str, str]", metadata)) as span:
            try:
                await self._admit(call, metadata, context)
                return await work(call)
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - all is answered
                await self._fail(call, context, error)
            finally:
                self._close(call, context, span)

    async def _admit(
        self, call: Call, metadata: Mapping[str, str | bytes], context: Context
    ) -> None:
        door, peer = self._terms.door, context.peer()
        self.traffic.admit(call.method)
        if call.method.is_infrastructure:
            if call.method.is_stream:
                call.counted = door.count_stream(NOBODY, peer)
            return
        made_by = await door.admit(call.method.name, metadata, peer)
        set_caller(made_by)
        logs.bind(caller=made_by.kind)
        if call.method.is_stream:
            call.counted = door.count_stream(made_by, peer)
            self._end_when_expired(call, made_by)

    def _end_when_expired(self, call: Call, made_by: Caller) -> None:
        """End a person's stream with their token; a service's token is made anew all the time."""
        if made_by.service is None and made_by.expires_at_ms is not None:
            left_s = (made_by.expires_at_ms - self._terms.clock.now_ms()) / 1000
            loop = asyncio.get_running_loop()
            expired = refused(Reason.TOKEN_EXPIRED)
            call.expiry = loop.call_later(max(left_s, 0), call.end, expired)

    async def _fail(self, call: Call, context: Context, error: BaseException) -> NoReturn:
        """Answer *error* with a status; raises what makes grpc stop."""
        if isinstance(error, asyncio.CancelledError):
            ended_by = call.take_end()
            if ended_by is None:
                is_late = context.time_remaining() == 0
                call.code = StatusCode.DEADLINE_EXCEEDED if is_late else StatusCode.CANCELLED
                raise error
            error = ended_by
        elif isinstance(error, grpc.aio.AbortError):
            call.code = _code(context)
            raise error
        elif isinstance(error, grpc.aio.BaseError):
            call.code = StatusCode.CANCELLED  # nobody is there any more to be written to
            raise error
        refusal = refusal_of(error, self._operational)
        call.close()
        if refusal is None:
            call.code = plain_code(error)
            if call.code is StatusCode.INTERNAL:
                _log.exception("rpc_failed", error=type(error).__name__)
            await _abort(context, call.code, PLAIN_TEXTS[call.code], self._trailers(call))
        call.code, call.reason = refusal.code, refusal.told.reason
        status = status_of(refusal)
        trailers = (*self._trailers(call), *(status.trailing_metadata or ()))
        await _abort(context, status.code, status.details, trailers)

    def _trailers(self, call: Call) -> tuple[tuple[str, str], ...]:
        return ((REQUEST_ID, call.request_id), (VERSION, self._terms.version))

    def _close(self, call: Call, context: Context, span: Span) -> None:
        took_s = call.close()
        if call.counted is not None:
            call.counted.close()
        if call.code is StatusCode.OK:
            call.code = _code(context)
        labels = (self._service, call.method.name, call.code.name)
        self.traffic.close(call)
        if call.method.is_stream:
            _STREAMS.labels(*labels).inc()
        else:
            _DURATION.labels(*labels).observe(took_s)
        if call.reason:
            _REFUSALS.labels(self._service, call.reason).inc()
        self._tell(call, took_s, span)

    def _tell(self, call: Call, took_s: float, span: Span) -> None:
        span.set_attribute(names.RPC_STATUS_CODE, call.code.value[0])
        if call.reason:
            span.set_attribute(names.REFUSAL_REASON, call.reason)
        if call.code is StatusCode.INTERNAL:
            span.set_status(Status(SpanStatus.ERROR))
        fields: LogFields = {"code": call.code.name, "duration_ms": round(took_s * 1000, 3)}
        if call.reason:
            fields["reason"] = call.reason
        if call.method.is_stream:
            fields["received"], fields["sent"] = call.received, call.sent
        say = _log.debug if call.method.is_infrastructure else _log.info
        say("rpc_handled", **fields)


async def _abort(
    context: Context, code: StatusCode, text: str, trailers: tuple[tuple[str, str | bytes], ...]
) -> NoReturn:
    """End a call with a status. Raises what makes grpc stop."""
    try:
        async with asyncio.timeout(ABORT_S):
            await context.abort(code, text, trailers)
    except TimeoutError:
        # The status stands behind what the client has not read yet, and nobody waits for that.
        raise asyncio.CancelledError from None


_ARITIES: Final[Mapping[bool, Callable[[Any], Handler]]] = {
    False: grpc.stream_unary_rpc_method_handler,
    True: grpc.stream_stream_rpc_method_handler,
}


def _code(context: Context) -> StatusCode:
    """Return the code that a handler has set, OK if none."""
    code: StatusCode | None = context.code()
    return StatusCode.OK if code is None else code
