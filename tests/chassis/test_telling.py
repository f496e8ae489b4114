import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from libs.telemetry import logs
from libs.telemetry.metrics import REGISTRY
from tests.chassis import echo
from tests.chassis.answers import answer, everything
from tests.chassis.conftest import Serve
from tests.support.waiting import until

SECRET = "s3cret"  # noqa: S105 - nobody's


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Collect the logs of a test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.configure(stream=stream)
    yield stream
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO, event: str) -> list[dict[str, Any]]:
    parsed = [json.loads(line) for line in stream.getvalue().splitlines()]
    return [line for line in parsed if line["event"] == event]


async def handled(stream: io.StringIO, count: int = 1) -> list[dict[str, Any]]:
    """Return the lines of so many calls, each of which may come a moment after the answer."""
    await until(lambda: len(lines(stream, "rpc_handled")) >= count)
    return lines(stream, "rpc_handled")


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"service": "echo", **labels}) or 0.0


async def test_a_call_has_one_line_that_tells_all_of_it(serve: Serve, written: io.StringIO) -> None:
    stub = (await serve()).stub

    await answer(stub.say("refuse", metadata=(("x-request-id", "r-1"),)))

    [line] = await handled(written)
    assert line.pop("duration_ms") > 0
    assert line.pop("timestamp")
    assert line == {
        "event": "rpc_handled",
        "level": "info",
        "service": "echo",
        "method": f"{echo.NAME}/Echo",
        "request_id": "r-1",
        "caller": "nobody",
        "code": "NOT_FOUND",
        "reason": "MATCH_NOT_FOUND",
    }


async def test_a_stream_has_one_line_at_its_end(serve: Serve, written: io.StringIO) -> None:
    stub = (await serve()).stub

    await everything(stub.Chat(iter([StringValue(value="a"), StringValue(value="b")])))

    [line] = await handled(written)
    assert (line["received"], line["sent"], line["code"]) == (2, 2, "OK")


async def test_a_bug_leaves_its_traceback_and_nothing_that_was_sent(
    serve: Serve, written: io.StringIO
) -> None:
    served = await serve()
    served.servicer.fails_with = ZeroDivisionError()

    await answer(served.stub.say("fail", metadata=(("cookie", SECRET),)))
    await answer(served.stub.say("hello", metadata=(("authorization", SECRET),)))
    codes = [line["code"] for line in await handled(written, 2)]

    [failed] = lines(written, "rpc_failed")
    assert failed["exception"][0]["exc_type"] == "ZeroDivisionError"
    assert failed["request_id"]
    assert SECRET not in written.getvalue()
    assert codes == ["INTERNAL", "UNAUTHENTICATED"]


async def test_calls_are_counted_by_method_and_code(serve: Serve) -> None:
    stub = (await serve()).stub
    unary = {"method": f"{echo.NAME}/Echo", "code": "NOT_FOUND"}
    stream = {"method": f"{echo.NAME}/Count", "code": "RESOURCE_EXHAUSTED"}

    def counted() -> list[float]:
        return [
            sample("opolyx_rpc_server_duration_seconds_count", **unary),
            sample("opolyx_rpc_server_streams_total", **stream),
            sample("opolyx_refusals_total", reason="SLOW_READER"),
        ]

    one_more = [count + 1 for count in counted()]

    await answer(stub.say("refuse"))
    await answer(everything(stub.Count(Int32Value(value=-1))))

    await until(lambda: counted() == one_more)
    assert sample("opolyx_rpc_server_streams_open", method=f"{echo.NAME}/Count") == 0


async def test_a_call_that_its_caller_gave_up_is_told_as_that(
    serve: Serve, written: io.StringIO
) -> None:
    served = await serve()
    call = served.stub.Echo(StringValue(value="wait"), timeout=0.2)

    await answer(call)
    await served.servicer.cancelled.wait()
    await served.stub.say("after it")

    assert {line["code"] for line in await handled(written, 2)} == {"DEADLINE_EXCEEDED", "OK"}
