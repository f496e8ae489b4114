import subprocess
import sys
import threading
import time

import pytest

from libs.telemetry import traces
from tests.support.repository import ROOT

REMOTE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


def test_without_a_collector_a_trace_is_passed_on_all_the_same() -> None:
    with traces.serving("opolyx.match.v1.MatchService/GetMatch", REMOTE):
        passed_on = traces.carrier()

    assert passed_on == REMOTE


def test_without_a_trace_there_is_nothing_to_pass_on() -> None:
    with traces.serving("opolyx.match.v1.MatchService/GetMatch", {}):
        assert traces.carrier() == {}


@pytest.mark.slow
def test_a_dead_collector_holds_nobody_up() -> None:
    released = threading.Event()
    began_s = time.monotonic()
    traces.shut_down(released.wait)
    took_s = time.monotonic() - began_s
    released.set()

    assert traces.SHUTDOWN_S <= took_s < traces.SHUTDOWN_S + 5


RECORDING = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from libs.telemetry import traces

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
traces.use(provider)
remote = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
with traces.serving("opolyx.match.v1.MatchService/GetMatch", remote), traces.appending(["records"]):
    headers = traces.carrier()
with traces.handling("records", headers, group="progression"):
    pass
append, serve, process = exporter.get_finished_spans()

assert serve.name == "opolyx.match.v1.MatchService/GetMatch"
assert serve.parent.span_id == 0xB7AD6B7169203331
assert serve.attributes["rpc.method"] == "GetMatch"
assert append.name == "append records"
assert append.context.trace_id == serve.context.trace_id == 0x0AF7651916CD43DD8448EB211C80319C
assert process.name == "process records"
assert process.context.trace_id != append.context.trace_id
assert process.parent is None
assert process.links[0].context.span_id == append.context.span_id
"""


def test_spans_of_calls_are_children_and_spans_of_deliveries_are_linked() -> None:
    # In a process of its own: OpenTelemetry's provider is set once and for all.
    subprocess.run([sys.executable, "-c", RECORDING], check=True, cwd=ROOT)


UNUSED = """
import sys

from libs.telemetry import traces

traces.configure(service="s", version="v", endpoint=None)()

assert "opentelemetry.sdk" not in sys.modules
"""


def test_the_sdk_is_not_even_imported_without_a_collector() -> None:
    subprocess.run([sys.executable, "-c", UNUSED], check=True, cwd=ROOT)


EXPORTING = """
import logging
import time

from libs.telemetry import traces

logging.disable()
shutdown = traces.configure(service="s", version="v", endpoint="127.0.0.1:1")
with traces.serving("a.B/C", {}):
    pass
began = time.monotonic()
shutdown()

assert time.monotonic() - began < 10
"""


@pytest.mark.slow
def test_a_process_ends_in_time_though_nobody_takes_its_spans() -> None:
    subprocess.run([sys.executable, "-c", EXPORTING], check=True, cwd=ROOT, timeout=60)
