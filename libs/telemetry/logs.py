"""Structured logs: one JSON object a line, or coloured text on a terminal. Data goes to stdout.

What libraries log by the standard library goes the same way, as the event `library_said`, so that a
line of grpc or of the Kafka client is as readable for a machine as one of ours.
"""

import logging
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final, Literal, Protocol, TextIO, Unpack, cast

import structlog
from opentelemetry import trace
from structlog.contextvars import bind_contextvars, bound_contextvars
from structlog.typing import EventDict, Processor, WrappedLogger

from libs.telemetry.names import ROUTINE, LogEvent, LogFields

Level = Literal["debug", "info", "warning", "error"]

Style = Literal["auto", "json", "text"]
"""How a line looks; `auto` is text on a terminal and JSON elsewhere."""

_LIBRARY_SAID: Final[LogEvent] = "library_said"


class Log(Protocol):
    """A logger that knows which events and fields there are."""

    def debug(self, event: LogEvent, /, **fields: Unpack[LogFields]) -> None:
        """Say what only somebody who looks for a fault wants to know."""
        ...

    def info(self, event: LogEvent, /, **fields: Unpack[LogFields]) -> None:
        """Say what happened."""
        ...

    def warning(self, event: LogEvent, /, **fields: Unpack[LogFields]) -> None:
        """Say what somebody should look at today."""
        ...

    def error(self, event: LogEvent, /, **fields: Unpack[LogFields]) -> None:
        """Report lost work."""
        ...

    def exception(self, event: LogEvent, /, **fields: Unpack[LogFields]) -> None:
        """Report a bug, with the traceback of the exception that is being handled."""
        ...


def get() -> Log:
    """Return the logger. It may be kept from before `configure`."""
    return cast("Log", structlog.get_logger())


def bound(**fields: Unpack[LogFields]) -> AbstractContextManager[None]:
    """Put *fields* on every line of this task, and of those that it starts, within the block."""
    return cast("AbstractContextManager[None]", bound_contextvars(**fields))


def bind(**fields: Unpack[LogFields]) -> None:
    """Put *fields* on every further line of this task. Cheaper than `bound`, which ends."""
    bind_contextvars(**fields)


def is_debugging() -> bool:
    """Tell whether lines of the level debug are written: for lines that cost something to make."""
    return logging.getLogger().isEnabledFor(logging.DEBUG)


def configure(
    *, level: Level = "info", style: Style = "auto", stream: TextIO | None = None
) -> None:
    """Set up the logs of this process, on standard error unless *stream* is given.

    As text, lines of `names.ROUTINE` are left out unless the level is debug. May be called again,
    to change the level.
    """
    stream = stream or sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    is_text = stream.isatty() if style == "auto" else style == "text"
    renderer = _renderer(text=is_text)
    leaving_out = [_leave_out_routine] if is_text and number > logging.DEBUG else []
    structlog.configure(
        processors=[*leaving_out, *_shared(), *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )
    _bridge(stream, number, renderer)


def _bridge(stream: TextIO, level: int, renderer: Sequence[Processor]) -> None:
    handler = logging.StreamHandler(stream)
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_said_by_a_library, *_shared()],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    )
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for before in root.handlers[:]:
        if isinstance(before.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(before)
    root.addHandler(handler)
    root.setLevel(level)


def _leave_out_routine(_: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Drop a line that people want to read only when they look for a fault. A processor too."""
    if method == "info" and event["event"] in ROUTINE:
        raise structlog.DropEvent
    return event


def _said_by_a_library(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Name a line that is none of ours, of which there is no list. A structlog processor."""
    event["logger"], event["text"] = event["_record"].name, event["event"]
    event["event"] = _LIBRARY_SAID
    return event


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        add_trace_ids,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _renderer(*, text: bool) -> list[Processor]:
    # Tracebacks without the values of variables: tokens and hands of cards would be among them.
    if text:
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    return [structlog.processors.ExceptionRenderer(tracebacks), structlog.processors.JSONRenderer()]


def add_trace_ids(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Join a log line to the trace that it belongs to. A structlog processor."""
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        event["trace_id"] = trace.format_trace_id(span.trace_id)
        event["span_id"] = trace.format_span_id(span.span_id)
    return event
