"""One long-lived stream to an engine: frames out, frames in, and silence that ends it."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import grpc

from libs.chassis.together import cancel_all
from libs.chassis.watchdog import Watchdog

PULSE_S: Final = 1.0
"""How often each side gives a sign of life."""

SILENCE_S: Final = 3.0
"""So long the other side may say nothing before it is taken for lost (start)."""

OUTBOX_MAX: Final = 10_000
"""How many frames may wait to be sent; an engine that leaves more waiting is lost too (start)."""

Out = TypeVar("Out")
In = TypeVar("In")


class Upstream(Generic[Out, In]):
    """A stream that the gateway has opened, while `run` runs. It is never opened again.

    Attributes:
        is_lost: whether it has ended: what is sent now goes nowhere.

    """

    def __init__(
        self, dial: Callable[[], Any], pulse: Callable[[], Out], take: Callable[[In], None]
    ) -> None:
        """Open the call by *dial*, send what *pulse* returns each second, and hand over to *take*.

        *take* gets every frame of the engine, in order, and never waits for anything.
        """
        self._dial = dial
        self._pulse = pulse
        self._take = take
        self._outbox: asyncio.Queue[Out] = asyncio.Queue(OUTBOX_MAX)
        self._given_up = asyncio.Event()
        self.is_lost = False

    def send(self, frame: Out) -> None:
        """Have a frame sent after those before it."""
        try:
            self._outbox.put_nowait(frame)
        except asyncio.QueueFull:
            self._given_up.set()

    async def run(self) -> None:
        """Keep the stream until it ends, whoever ends it, or falls silent."""
        call = self._dial()
        silence = Watchdog(SILENCE_S, self._given_up.set)
        works = [
            asyncio.create_task(work)
            for work in (self._hear(call, silence), self._write(call), self._beat(), self._lose())
        ]
        try:
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.is_lost = True
            silence.close()
            call.cancel()
            await cancel_all(works)
        for task in done:
            # gRPC cancels whoever reads a call that was cancelled. All else is a bug, and told.
            if not task.cancelled():
                task.result()

    async def _hear(self, call: Any, silence: Watchdog) -> None:
        silence.watch()
        try:
            while (frame := await call.read()) is not grpc.aio.EOF:
                silence.watch()
                self._take(frame)
        except grpc.aio.AioRpcError:
            return

    async def _write(self, call: Any) -> None:
        try:
            while True:
                await call.write(await self._outbox.get())
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await asyncio.Event().wait()  # whoever reads hears how it ended

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(PULSE_S)
            self.send(self._pulse())

    async def _lose(self) -> None:
        """Return when the other side has left too much waiting, or has said nothing for long."""
        await self._given_up.wait()
