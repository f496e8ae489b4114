"""`opolyx.engine.v1.EngineService`: the two streams between a gateway and an engine."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final, NoReturn

from libs.chassis.calls import StreamContext
from libs.chassis.together import first_of
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from libs.store.directory import EngineStore
from opolyx.engine.v1 import engine_service_pb2 as pb
from services.match_engine.catching_up import CatchUp
from services.match_engine.decide_stream import DecideStream, Deciding
from services.match_engine.deciding import Decider
from services.match_engine.follow_stream import Following, FollowStream
from services.match_engine.pushes import Pushes
from services.match_engine.submitting import Submitting

PULSE_S: Final = 1.0
"""How often either side of a stream gives a sign of life."""


class EngineServicer:
    """Serves the streams of all gateways.

    Not of the generated class, whose methods are iterators: it reads and writes as it pleases.
    """

    def __init__(  # noqa: PLR0913 - what the two kinds of streams rest on
        self,
        *,
        decider: Decider,
        store: EngineStore,
        pushes: Pushes,
        owns: Callable[[int], bool],
        clock: Clock,
        draining: asyncio.Event,
        pulse_s: float = PULSE_S,
    ) -> None:
        """Decide by *decider*, and push what *pushes* hears; leave when *draining* is set.

        *owns* tells whether a shard is ours and our lease fresh; *clock* is the decider's.
        """
        self._deciding = Deciding(Submitting(decider, store, clock), clock, pulse_s)
        self._following = Following(pushes, CatchUp(decider, store), owns, clock, pulse_s)
        self._draining = draining
        self._open: set[DecideStream | FollowStream] = set()

    def leave(self, reason: Reason) -> None:
        """Say on every stream that this engine stops, and end it; gateways may come again at once.

        With NOT_OWNER_OF_SHARD when the engine has lost its lease.
        """
        for stream in tuple(self._open):
            stream.leave(reason)

    async def Decide(  # noqa: N802 - grpc calls it so
        self, request_iterator: AsyncIterator[pb.DecideRequest], context: StreamContext
    ) -> None:
        """See the proto."""
        stream = DecideStream(self._deciding)
        self._open.add(stream)
        try:
            work = stream.run(request_iterator, context.write)
            await first_of(work, self._leave_when_draining(stream))
        finally:
            self._open.discard(stream)

    async def Follow(  # noqa: N802 - grpc calls it so
        self, request_iterator: AsyncIterator[pb.FollowRequest], context: StreamContext
    ) -> None:
        """See the proto."""
        stream = FollowStream(self._following)
        self._open.add(stream)
        try:
            work = stream.run(request_iterator, context.send)
            await first_of(work, self._leave_when_draining(stream))
        finally:
            self._open.discard(stream)

    async def _leave_when_draining(self, stream: DecideStream | FollowStream) -> NoReturn:
        await self._draining.wait()
        stream.leave(Reason.GOING_AWAY)
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")
