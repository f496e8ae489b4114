"""Prometheus metrics: had by their declared names, served on one port of the process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    start_http_server,
)

from libs.telemetry.names import CounterName, GaugeName, HistogramName, MetricName

REGISTRY: Final = CollectorRegistry()
"""What is served. Our own, so that nothing gets in that libs.telemetry.names does not declare."""

for _collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
    REGISTRY.register(_collector)

Metric = TypeVar("Metric", Counter, Gauge, Histogram)

_made: dict[MetricName, Counter | Gauge | Histogram] = {}


def counter(name: CounterName) -> Counter:
    """Return the counter of that name, the same one each time."""
    return _get(name, Counter)


def gauge(name: GaugeName) -> Gauge:
    """Return the gauge of that name, the same one each time."""
    return _get(name, Gauge)


def histogram(name: HistogramName) -> Histogram:
    """Return the histogram of that name, the same one each time."""
    known = _made.get(name)
    if known is None:
        known = _made[name] = Histogram(
            name.name, name.meaning, name.labels, registry=REGISTRY, buckets=name.buckets
        )
    assert isinstance(known, Histogram)
    return known


@asynccontextmanager
async def exposed(host: str, port: int) -> AsyncIterator[int]:
    """Serve the metrics at `/metrics`; yields the port, which port 0 leaves to the system.

    A thread of its own answers, so that a busy event loop can still be seen to be busy.

    Raises:
        OSError: the address is taken, or is not ours.

    """
    server, thread = start_http_server(port, host, registry=REGISTRY)
    try:
        yield server.server_port
    finally:
        # Both wait for the thread, which may be in the middle of an answer.
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)


def _get(name: CounterName | GaugeName, kind: type[Metric]) -> Metric:
    known = _made.get(name)
    if known is None:
        known = _made[name] = kind(name.name, name.meaning, name.labels, registry=REGISTRY)
    assert isinstance(known, kind)
    return known
