"""A timer service to arm at: a real server that can be slow, silent or away."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from libs.chassis.foundation import Foundation
from libs.chassis.roles import AllowList, service
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.kernel.ids import MatchId
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.match import Match
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.match_engine.arming import Arming
from services.match_engine.live import LiveMatch
from tests.match_engine.rig import Rig, Table
from tests.support.waiting import until

LINGER_S = 0.005
"""Long enough that what is told in one breath comes in one batch."""

_Unimplemented: Any = pb_grpc.TimerServiceServicer


class Timer(_Unimplemented):  # type: ignore[misc] # its stubs know of generators alone
    """Takes what it is told.

    Attributes:
        batches: of each stream, the batches.
        holds: while it is set, nothing is answered.

    """

    def __init__(self) -> None:
        self.batches: list[list[pb.ArmRequest]] = []
        self.holds = False
        self._released = asyncio.Event()

    @property
    def told(self) -> list[pb.ArmRequest.ArmedMatch]:
        """All matches of all batches, in order."""
        return [m for stream in self.batches for batch in stream for m in batch.matches]

    def last(self, match_id: MatchId) -> pb.ArmRequest.ArmedMatch | None:
        """Return what was told of a match last."""
        return next((m for m in reversed(self.told) if m.match_id == match_id), None)

    def release(self) -> None:
        self.holds = False
        self._released.set()

    async def Arm(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.ArmRequest], context: Any
    ) -> None:
        stream: list[pb.ArmRequest] = []
        self.batches.append(stream)
        answering: list[asyncio.Task[None]] = []
        async for request in request_iterator:
            stream.append(request)
            if not self.holds:
                await context.write(pb.ArmResponse(batch=request.batch))
            elif not answering:
                answering.append(asyncio.create_task(self._answer_later(stream, context)))

    async def _answer_later(self, stream: list[pb.ArmRequest], context: Any) -> None:
        await self._released.wait()
        await context.write(pb.ArmResponse(batch=stream[-1].batch))


@asynccontextmanager
async def serving(foundation: Foundation, timer: Timer, port: int = 0) -> AsyncIterator[str]:
    allowed = AllowList({"opolyx.timer.v1.TimerService/Arm": [service("match_engine")]})
    settings = ServerSettings(port=port, stream_grace_s=0, request_bytes_max=1024 * 1024)
    server = GrpcServer(foundation.terms("timer", settings, allowed))
    descriptor = pb.DESCRIPTOR.services_by_name["TimerService"]
    server.add(pb_grpc.add_TimerServiceServicer_to_server, timer, descriptor)
    async with server:
        yield server.address


@asynccontextmanager
async def arming(
    foundation: Foundation,
    address: str,
    rig: Rig,
    *,
    others: Iterable[LiveMatch] = (),
    patience_s: float = 30,
) -> AsyncIterator[Arming]:
    """Run a listener of the rig that arms at *address*; *others* are loaded too."""
    async with foundation.channel("match_engine", address, retries=False) as channel:
        listener = Arming(
            channel,
            lambda: [*rig.matches.loaded(), *others],
            patience_s=patience_s,
            linger_s=LINGER_S,
        )
        rig.matches.listen(listener)
        task = asyncio.create_task(listener.run())
        try:
            yield listener
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def deadlines(told: pb.ArmRequest.ArmedMatch | None) -> list[tuple[str, int]]:
    assert told is not None
    return [(deadline.deadline_id, deadline.fire_ms) for deadline in told.deadlines]


def open_in(match: Match) -> list[tuple[str, int]]:
    return [(deadline.deadline_id, fires_at(deadline)) for deadline in open_deadlines(match)]


async def told_up_to(timer: Timer, table: Table) -> None:
    """Wait until the timer knows of the match what is so now."""
    match = await table.match()
    await until(
        lambda: (m := timer.last(table.match_id)) is not None and deadlines(m) == open_in(match)
    )
