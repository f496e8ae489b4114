"""The calls of a server that are open: how many there may be, and their end when it stops."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from libs.chassis.calls import Call, Method
from libs.chassis.sections import ServerSettings
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.telemetry import metrics, names
from libs.wire.limits import LimitName

WATCHERS_S: Final = 0.1
"""How long those who watch the health have to hear that it ends."""

_STREAMS_OPEN: Final = metrics.gauge(names.RPC_SERVER_STREAMS_OPEN)


class Traffic:
    """All calls from their opening to their end.

    Attributes:
        streams: those of them that are streams.
        opened: how many of the others are open.
        handled: how many of these have sent their request, and are being handled.

    """

    def __init__(self, service: str, settings: ServerSettings) -> None:
        """Count the calls of *service*, within its limits."""
        self._service = service
        self._settings = settings
        self._is_draining = False
        self._no_streams = asyncio.Event()
        self._no_streams.set()
        self.streams: set[Call] = set()
        self.opened = 0
        self.handled = 0

    def open(self, call: Call) -> None:
        """Count a call, until it is closed. Whether it may go on says `admit`."""
        if call.method.is_stream:
            self.streams.add(call)
            self._no_streams.clear()
            _STREAMS_OPEN.labels(self._service, call.method.name).inc()
        else:
            self.opened += 1

    def close(self, call: Call) -> None:
        """Count a call no more."""
        if call.method.is_stream:
            self.streams.discard(call)
            if not self.streams:
                self._no_streams.set()
            _STREAMS_OPEN.labels(self._service, call.method.name).dec()
        else:
            self.opened -= 1

    def admit(self, method: Method) -> None:
        """Go on if there is room for a call, which is counted already.

        What is open and asks for nothing takes nobody's place among the calls that are handled.

        Raises:
            RefusedError: OVERLOADED, or GOING_AWAY: the server is about to stop.

        """
        opened = len(self.streams) if method.is_stream else self.opened
        if opened > self._settings.streams_max:
            raise refused(Reason.OVERLOADED, limit=LimitName.STREAMS_OF_SERVER)
        if self._is_draining and method.is_stream and not method.is_infrastructure:
            raise refused(Reason.GOING_AWAY)

    @contextmanager
    def handling(self, method: Method) -> Iterator[None]:
        """Count a call that is no stream while it is handled.

        Raises:
            RefusedError: OVERLOADED, too many are.

        """
        if self.handled >= self._settings.unary_calls_max and not method.is_infrastructure:
            raise refused(Reason.OVERLOADED, limit=LimitName.CALLS_OF_SERVER)
        self.handled += 1
        try:
            yield
        finally:
            self.handled -= 1

    async def drain_streams(self, grace_s: float) -> None:
        """Take no more streams, and end those that are open if they don't end within *grace_s*.

        Their clients are told GOING_AWAY, and begin anew elsewhere at their last sequence.
        """
        self._is_draining = True
        if any(call.method.is_infrastructure for call in self.streams):
            await asyncio.sleep(WATCHERS_S)
            self._end_streams(lambda call: call.method.is_infrastructure)
        try:
            async with asyncio.timeout(grace_s):
                await self._no_streams.wait()
        except TimeoutError:
            self._end_streams(lambda _: True)

    def _end_streams(self, which: Callable[[Call], bool]) -> None:
        for call in filter(which, tuple(self.streams)):
            call.end(refused(Reason.GOING_AWAY))
