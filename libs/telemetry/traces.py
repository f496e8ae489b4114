"""OpenTelemetry traces: spans of calls and deliveries, and how their context travels.

Without a collector there is no SDK in the process, spans are nothing, and what another process says
about its trace is passed on all the same.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from opentelemetry import context as otel
from opentelemetry import propagate, trace
from opentelemetry.trace import Link, Span, SpanKind

from libs.telemetry import logs, names

SHUTDOWN_S: Final = 2.0
"""How long the last spans may take to get out."""

TRACEPARENT: Final = "traceparent"
"""The header of W3C's Trace Context that tells whether there is a trace at all."""

_tracer: Final = trace.get_tracer("opolyx")
_log: Final = logs.get()


def configure(*, service: str, version: str, endpoint: str | None) -> Callable[[], None]:
    """Export spans to the collector at *endpoint*, if there is one.

    Call it once in a process. The standard `OTEL_EXPORTER_OTLP_*` variables hold for the exporter.

    Returns what to call at the end: it sends the last spans, and gives up after `SHUTDOWN_S`.
    """
    if endpoint is None:
        return _nothing
    # The SDK takes a while to import, and most processes have no collector.
    from libs.telemetry import exporting  # noqa: PLC0415

    provider = exporting.provider(service, version, endpoint)
    use(provider)
    _log.info("traces_exported", endpoint=endpoint)
    return lambda: shut_down(provider.shutdown)


def use(provider: trace.TracerProvider) -> None:
    """Make spans by *provider* from now on. Once in a process: OpenTelemetry takes no second."""
    trace.set_tracer_provider(provider)
    _state.recording = True


def shut_down(shutdown: Callable[[], object]) -> None:
    """Run *shutdown*, and go on after `SHUTDOWN_S` if a dead collector holds it up."""
    # A daemon, or the interpreter would wait for it at the end after all.
    thread = threading.Thread(target=shutdown, name="traces-shutdown", daemon=True)
    thread.start()
    thread.join(SHUTDOWN_S)
    if thread.is_alive():
        _log.warning("traces_shutdown_overran")


def carrier() -> dict[str, str]:
    """Return the current trace context as headers or metadata; empty outside any trace."""
    headers: dict[str, str] = {}
    if trace.get_current_span() is not trace.INVALID_SPAN:
        propagate.inject(headers)
    return headers


@contextmanager
def serving(method: str, metadata: Mapping[str, str]) -> Iterator[Span]:
    """Open the span of an RPC that arrived, a child of the caller's. *method*: package.Service/M.

    It does not take exceptions for errors: whoever maps them to a status knows which are.
    """
    if not _state.recording and TRACEPARENT not in metadata:
        yield trace.INVALID_SPAN
        return
    service, _, name = method.partition("/")
    with _tracer.start_as_current_span(
        method,
        context=propagate.extract(metadata),
        kind=SpanKind.SERVER,
        attributes={names.RPC_SYSTEM: "grpc", names.RPC_SERVICE: service, names.RPC_METHOD: name},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


@contextmanager
def deciding(command: str, match_id: str) -> Iterator[Span]:
    """Open the span of a command's decision, its commit included; *command* is its kind.

    Like `serving` it takes no exception for an error.
    """
    if not _state.recording:
        yield trace.INVALID_SPAN
        return
    with _tracer.start_as_current_span(
        f"decide {command}",
        attributes={names.MATCH_ID: match_id, names.COMMAND_KIND: command},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


@contextmanager
def appending(topics: Iterable[str]) -> Iterator[Span]:
    """Open the span of a write to the event log."""
    name = "append " + ", ".join(sorted(set(topics)))
    with _tracer.start_as_current_span(name, kind=SpanKind.PRODUCER) as span:
        yield span


@contextmanager
def handling(topic: str, headers: Mapping[str, str], *, group: str) -> Iterator[Span]:
    """Open the span of handling a log entry, linked to the span that wrote it.

    Linked, not a child: an entry may be read again a week later.
    """
    if not _state.recording and TRACEPARENT not in headers:
        yield trace.INVALID_SPAN
        return
    origin = trace.get_current_span(propagate.extract(headers, otel.Context())).get_span_context()
    attributes = {names.MESSAGING_DESTINATION: topic, names.MESSAGING_GROUP: group}
    with _tracer.start_as_current_span(
        f"process {topic}",
        kind=SpanKind.CONSUMER,
        links=[Link(origin)] if origin.is_valid else [],
        attributes=attributes,
    ) as span:
        yield span


@dataclass(slots=True)
class _State:
    """Whether spans are recorded. Where they are not, making one costs more than all it tells."""

    recording: bool = False


_state: Final = _State()


def _nothing() -> None:
    """End what was never begun."""
