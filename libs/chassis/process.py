"""Runs services until the operating system says stop, and ends them in order and in time.

Nothing here forks, and nothing may: a process that has imported grpc cannot be copied.
"""

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from libs.chassis.settings import SettingsError
from libs.store.embedded import EmbeddedServerError
from libs.store.migrate import MigrationError
from libs.store.ports import StoreUnavailableError, UnsafeStoreError
from libs.telemetry import logs, metrics, names

FORCED_S: Final = 1.0
"""What a service gets to end in when those before it have used up the grace."""

YOUNG_OBJECTS: Final = 10_000
"""How many objects are made, beyond those that are gone, before garbage is looked for (start)."""

_log: Final = logs.get()
_RESTARTS: Final = metrics.counter(names.RESTARTS)


class AddressError(Exception):
    """A process cannot listen where it should: the address is taken, or is not ours."""


_FROM_OUTSIDE: Final = (
    AddressError,
    EmbeddedServerError,
    MigrationError,
    SettingsError,
    StoreUnavailableError,
    UnsafeStoreError,
)
"""What no change of ours would mend. Their text says all; a traceback would only hide it."""


@dataclass(frozen=True, slots=True)
class Service:
    """Something that runs as long as it is open.

    Entering what *open* returns makes it ready; leaving drains it, and whatever it does in the
    background runs in a `TaskGroup` of its own, so that an error there ends the process.
    """

    name: str
    open: Callable[[], AbstractAsyncContextManager[object]]


def run(
    services: Sequence[Service], *, grace_s: float, ready: Callable[[], None] | None = None
) -> int:
    """Run *services* until SIGINT or SIGTERM; returns the exit code, 1 if one of them failed.

    A second signal ends the process without further ado. See `serve`.
    """
    memory = Service("memory", _settled_memory)
    try:
        asyncio.run(_until_signalled([*services, memory], grace_s, ready))
    except asyncio.CancelledError:
        return 1  # the second signal
    except Exception as error:  # noqa: BLE001 - the last place that can say what happened
        causes = list(_causes(error))
        if all(isinstance(cause, _FROM_OUTSIDE) for cause in causes):
            for cause in causes:
                _log.error("service_failed", error=type(cause).__name__, reason=str(cause))
        else:
            _log.exception("service_failed")
        return 1
    return 0


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Go through what *error* is or, where it is a group, what is in it."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _causes(part)
    else:
        yield error


async def serve(
    services: Sequence[Service],
    *,
    stop: asyncio.Event,
    grace_s: float,
    ready: Callable[[], None] | None = None,
) -> None:
    """Open *services* in order, wait for *stop*, and close them in the opposite order.

    A service is ready before the next one opens, and is there until the last one that came after
    it has closed; *ready* is called when all of them are, and everything about that is logged. All
    of them have *grace_s* seconds to close; then they are cut off.

    Raises:
        Exception: what a service failed with, the others having been closed.

    """
    grace = _Grace(grace_s)
    async with AsyncExitStack() as stack:
        for service in services:
            await stack.enter_async_context(_Supervised(service, grace))
        if ready is not None:
            ready()
        await stop.wait()


async def keep_running(
    name: str, work: Callable[[], Awaitable[None]], *, restarts: "Restarts | None" = None
) -> None:
    """Run *work* again and again, until it returns or has failed too often.

    For what reads the log or keeps up a stream: whatever it needs may be away for a while, and it
    begins anew where its own store says.

    Raises:
        Exception: what it failed with, at last.

    """
    restarts = restarts or Restarts()
    loop = asyncio.get_running_loop()
    attempt = 0
    while True:
        began_s = loop.time()
        try:
            return await work()
        except Exception as error:
            if loop.time() - began_s >= restarts.settled_after_s:
                attempt = 0
            attempt += 1
            if attempt > restarts.attempts:
                raise
            delay_s = restarts.delay_s(attempt)
            _RESTARTS.labels(name).inc()
            _log.exception(
                "background_work_failed",
                name=name,
                attempt=attempt,
                delay_s=delay_s,
                error=type(error).__name__,
            )
            await asyncio.sleep(delay_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """How often work is begun again: *attempts* times in a row, ever later (start).

    Work that has run for *settled_after_s* seconds has recovered, and counts from the beginning.
    """

    attempts: int = 60
    first_delay_s: float = 0.1
    delay_max_s: float = 5.0
    settled_after_s: float = 60.0

    def delay_s(self, attempt: int) -> float:
        """Return how long to wait after the failure of that number, from 1."""
        # The exponent is bounded too, or it would overflow long before it matters.
        return min(self.delay_max_s, self.first_delay_s * 2.0 ** min(attempt - 1, 16))


async def _until_signalled(
    services: Sequence[Service], grace_s: float, ready: Callable[[], None] | None
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            main.cancel()
        _log.info("stop_requested", signal=number.name)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    await serve(services, stop=stop, grace_s=grace_s, ready=ready)


@asynccontextmanager
async def _settled_memory() -> AsyncIterator[None]:
    """Look for garbage more rarely, and never again among what is there when all has opened.

    Nearly all that a call makes is gone with its last reference, so there is little to find; and
    going over half a million lasting objects holds up every call for as long as that takes.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
    yield


class _Supervised:
    """One service while it is open: says so in the log, and closes it within the grace."""

    def __init__(self, service: Service, grace: "_Grace") -> None:
        self._name = service.name
        self._open = service.open()
        self._grace = grace

    async def __aenter__(self) -> None:
        with logs.bound(service=self._name):
            await self._open.__aenter__()
            _log.info("service_started")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with logs.bound(service=self._name):
            grace = asyncio.timeout_at(self._grace.end_s())
            try:
                async with grace:
                    await self._open.__aexit__(kind, error, traceback)
            except TimeoutError:
                if not grace.expired():
                    raise
                _log.warning("service_drain_overran")
            _log.info("service_stopped")


class _Grace:
    """The time that all services have to close in, from the moment when the first one must."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._end_s: float | None = None

    def end_s(self) -> float:
        """Return when it is over, by the loop's clock, but never at once. The first call begins."""
        now_s = asyncio.get_running_loop().time()
        if self._end_s is None:
            self._end_s = now_s + self._grace_s
        return max(self._end_s, now_s + FORCED_S)
