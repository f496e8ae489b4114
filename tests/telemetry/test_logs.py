import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from libs.telemetry import logs
from libs.telemetry.names import ROUTINE, LogEvent


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave the process as it was: its logs are set up once, and by somebody else."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_off_a_terminal() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)

    logs.get().info("command_refused", command="roll", reason="NOT_YOUR_TURN")

    [line] = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "command_refused",
        "level": "info",
        "command": "roll",
        "reason": "NOT_YOUR_TURN",
    }


def test_a_terminal_gets_colours() -> None:
    stream = Terminal()
    logs.configure(stream=stream)

    logs.get().info("service_started", service="lobby")

    assert "\x1b[" in stream.getvalue()
    assert "service_started" in stream.getvalue()


@pytest.mark.parametrize("event", sorted(ROUTINE))
def test_what_happens_all_the_time_is_for_programs_and_for_those_who_look_for_a_fault(
    event: LogEvent,
) -> None:
    log, on_terminal, debugging, off_terminal = logs.get(), Terminal(), Terminal(), io.StringIO()
    for stream in (on_terminal, off_terminal):
        logs.configure(stream=stream)
        log.info(event)
        log.info("service_started")
    logs.configure(level="debug", stream=debugging)
    log.info(event)

    assert [line["event"] for line in lines(off_terminal)] == [event, "service_started"]
    assert event in debugging.getvalue()
    [line] = on_terminal.getvalue().splitlines()
    assert "service_started" in line


def test_what_somebody_should_look_at_is_told_however_often_it_happens() -> None:
    stream = Terminal()
    logs.configure(stream=stream)

    logs.get().warning("delivery_handled")

    assert "delivery_handled" in stream.getvalue()


def test_what_is_bound_is_on_every_line_until_it_is_not() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)
    with logs.bound(service="lobby"):
        logs.get().info("service_started")
    logs.get().info("service_stopped")
    logs.bind(service="timer")
    logs.get().info("service_started")

    assert [line.get("service") for line in lines(stream)] == ["lobby", None, "timer"]


def test_the_level_can_be_changed_while_loggers_are_in_use() -> None:
    stream = io.StringIO()
    log = logs.get()
    logs.configure(level="warning", stream=stream)
    log.info("service_started")
    logging.getLogger("grpc").info("connected")
    before = stream.getvalue()
    logs.configure(level="debug", stream=stream)

    log.debug("service_started")
    logging.getLogger("grpc").debug("connected")

    assert before == ""
    assert [line["level"] for line in lines(stream)] == ["debug", "debug"]


def test_lines_of_libraries_look_like_ours() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)

    with logs.bound(service="lobby"):
        logging.getLogger("aiokafka").warning("heartbeat failed after %d s", 3)

    [line] = lines(stream)
    assert line["event"] == "library_said"
    assert line["text"] == "heartbeat failed after 3 s"
    assert line["logger"] == "aiokafka"
    assert line["service"] == "lobby"
    assert line["level"] == "warning"


def test_a_bug_of_a_library_brings_its_traceback_under_the_same_name() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)
    try:
        raise ConnectionError  # noqa: TRY301 - by whom it is said is what matters
    except ConnectionError:
        logging.getLogger("asyncpg.pool").exception("the floor of connections is %s", "low")

    [line] = lines(stream)
    assert (line["event"], line["level"]) == ("library_said", "error")
    assert line["text"] == "the floor of connections is low"
    assert line["exception"][0]["exc_type"] == "ConnectionError"


def test_a_bug_brings_its_traceback_in_the_same_line() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)
    cash: dict[str, int] = {}
    try:
        cash["ann"] += 1
    except KeyError:
        logs.get().exception("rpc_failed")

    [line] = lines(stream)
    assert line["exception"][0]["exc_type"] == "KeyError"
    assert line["level"] == "error"


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()], ids=["json", "text"])
def test_a_traceback_tells_no_values(stream: io.StringIO) -> None:
    logs.configure(stream=stream)
    tokens = {"ann": "s3cret"}
    try:
        tokens["bob"] += "x"
    except KeyError:
        logs.get().exception("rpc_failed")

    assert "KeyError" in stream.getvalue()
    assert "s3cret" not in stream.getvalue()


def test_a_line_within_a_span_names_its_trace() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)
    tracer = TracerProvider().get_tracer("test")
    with tracer.start_as_current_span("work") as span:
        logs.get().info("service_started")

    [line] = lines(stream)
    assert line["trace_id"] == trace.format_trace_id(span.get_span_context().trace_id)
    assert line["span_id"] == trace.format_span_id(span.get_span_context().span_id)
