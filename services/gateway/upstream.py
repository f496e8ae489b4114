"""One long-lived stream to an engine: frames out, frames in, and silence that ends it."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import grpc

from libs.chassis.together import cancel_all

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
        self._overflowed = asyncio.Event()
        self.is_lost = False

    def send(self, frame: Out) -> None:
        """Have a frame sent after those before it."""
        try:
            self._outbox.put_nowait(frame)
        except asyncio.QueueFull:
            self._overflowed.set()

    async def run(self) -> None:
        """Keep the stream until it ends, whoever ends it, or falls silent."""
        call = self._dial()
        works = [
            asyncio.create_task(work)
            for work in (self._hear(call), self._write(call), self._beat(), self._overflow())
        ]
        try:
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.is_lost = True
            call.cancel()
            await cancel_all(works)
        for task in done:
            # gRPC cancels whoever reads a call that was cancelled. All else is a bug, and told.
            if not task.cancelled():
                task.result()

    async def _hear(self, call: Any) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(SILENCE_S) as silence:
                while (frame := await call.read()) is not grpc.aio.EOF:
                    silence.reschedule(loop.time() + SILENCE_S)
                    self._take(frame)
        except (grpc.aio.AioRpcError, TimeoutError):
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

    async def _overflow(self) -> None:
        await self._overflowed.wait()
