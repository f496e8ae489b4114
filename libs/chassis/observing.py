"""The telemetry of a process: set up before anything else, and the last to go."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from libs.chassis.process import AddressError, Service
from libs.chassis.sections import TelemetrySettings
from libs.telemetry import logs, metrics, names, traces

_log: Final = logs.get()
_BUILD_INFO: Final = metrics.gauge(names.BUILD_INFO)


def telemetry_of(settings: TelemetrySettings, *, service: str, version: str) -> Service:
    """Return the telemetry of a process, to be there before its services and after them."""
    return Service("telemetry", lambda: observed(settings, service=service, version=version))


@asynccontextmanager
async def observed(
    settings: TelemetrySettings, *, service: str, version: str
) -> AsyncIterator[int]:
    """Export spans if there is a collector, and serve the metrics; yields the port of those.

    *service* is what the process is called: the service that runs in it, or `all`. Logs are set up
    by `logs.configure` before there is a loop, so that whatever fails then is told.

    Raises:
        AddressError: the address for the metrics is taken, or is not ours.

    """
    shutdown = traces.configure(service=service, version=version, endpoint=settings.otlp_endpoint)
    _BUILD_INFO.labels(version, service).set(1)
    try:
        async with AsyncExitStack() as stack:
            port = await _expose(settings, stack)
            _log.info("metrics_exposed", address=f"{settings.metrics_host}:{port}")
            yield port
    finally:
        await asyncio.to_thread(shutdown)


async def _expose(settings: TelemetrySettings, stack: AsyncExitStack) -> int:
    """Serve the metrics for as long as *stack* is open; returns the port."""
    host, port = settings.metrics_host, settings.metrics_port
    try:
        return await stack.enter_async_context(metrics.exposed(host, port))
    except OSError as error:
        # Every process has metrics, so the second one of a machine is who meets this.
        text = f"cannot show metrics on {host}:{port} (OPOLYX_TELEMETRY__METRICS_PORT): "
        raise AddressError(text + (error.strerror or str(error))) from error
