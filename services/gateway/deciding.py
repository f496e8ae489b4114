"""Commands on their way to the engines: one `Decide` stream for each, and its results."""

import asyncio
from collections import deque
from itertools import count

from libs.chassis.background import Background
from libs.chassis.channels import Channel
from libs.chassis.engines import ELSEWHERE, Engines
from libs.chassis.status import refused
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.telemetry import traces
from libs.wire.requests import Checks
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import engine_service_pb2_grpc as pb_grpc
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_service_pb2 as match_pb
from services.gateway.upstream import Upstream

CommandFrame = pb.DecideRequest.CommandFrame
ResultFrame = pb.DecideResponse.ResultFrame

Given = match_pb.SubmitCommandRequest | match_pb.PlayMatchRequest.PlayedCommand
"""A command as a client gives it."""


def frame_of(match_id: str, caller: Caller, given: Given) -> CommandFrame:
    """Return a command on its way. What is wrong with it otherwise, the engine says.

    Raises:
        MalformedError: an id is none.

    """
    checks = Checks()
    checks.uuid("match_id", match_id)
    checks.uuid("command_id", given.command_id)
    checks.finish()
    return CommandFrame(
        match_id=match_id,
        command_id=given.command_id,
        expected_sequence=given.expected_sequence if given.HasField("expected_sequence") else None,
        caller=caller,
        command=given.command,
    )


class Deciding:
    """Brings commands to whoever owns their match, again where a stream breaks or a match moves.

    Safe, since a command happens once under its id however often it is sent (W3).
    """

    def __init__(self, engines: Engines, tasks: Background, clock: Clock) -> None:
        """Run the streams as *tasks*, for as long as the engines are there."""
        self._engines = engines
        self._tasks = tasks
        self._clock = clock
        self._streams: dict[Channel, _DecideStream] = {}

    async def submit(self, frame: CommandFrame, *, timeout_s: float) -> ResultFrame:
        """Return what became of a command; *frame* lacks the tag, and what is about time.

        Raises:
            RefusedError: NOT_OWNER_OF_SHARD or STORE_UNAVAILABLE, nobody has answered in time: it
                may have been accepted, or not. OVERLOADED, no engine had room for it.

        """
        loop = asyncio.get_running_loop()
        end_s = loop.time() + timeout_s
        frame.traceparent = traces.carrier().get(traces.TRACEPARENT, "")

        async def ask(channel: Channel) -> ResultFrame:
            frame.timeout_ms = max(int((end_s - loop.time()) * 1000), 1)
            result = await self._stream(channel).ask(frame)
            if result.refused.reason in ELSEWHERE:
                raise refused(Reason(result.refused.reason))
            return result

        try:
            async with asyncio.timeout_at(end_s):
                return await self._engines.call(
                    MatchId(frame.match_id), ask, timeout_s=end_s - loop.time()
                )
        except TimeoutError:
            was_sent = frame.tag != 0
            raise refused(Reason.STORE_UNAVAILABLE if was_sent else Reason.OVERLOADED) from None

    def _stream(self, channel: Channel) -> "_DecideStream":
        stream = self._streams.get(channel)
        if stream is None or stream.is_over:
            stream = self._streams[channel] = _DecideStream(channel, self._clock)
            self._tasks.start(stream.run())
        return stream


class _DecideStream:
    """One `Decide` stream.

    Attributes:
        is_over: whether it takes no more commands.

    """

    def __init__(self, channel: Channel, clock: Clock) -> None:
        stub = pb_grpc.EngineServiceStub(channel)
        self._upstream = Upstream[pb.DecideRequest, pb.DecideResponse](
            stub.Decide, lambda: _pulse(clock), self._take
        )
        self._tags = count(1)
        self._unanswered: dict[int, asyncio.Future[ResultFrame]] = {}
        self._room = Credits()
        self.is_over = False

    async def run(self) -> None:
        """Keep the stream; at its end whoever still waits is sent elsewhere."""
        try:
            await self._upstream.run()
        finally:
            self.is_over = True
            self._room.close()
            for answer in self._unanswered.values():
                if not answer.done():
                    answer.set_exception(refused(Reason.GOING_AWAY))

    async def ask(self, frame: CommandFrame) -> ResultFrame:
        """Send a command as soon as the engine has room for it, and return its result.

        Raises:
            RefusedError: GOING_AWAY, the stream has ended without one.

        """
        await self._room.take()
        if self._upstream.is_lost:
            raise refused(Reason.GOING_AWAY)
        frame.tag = next(self._tags)
        answer: asyncio.Future[ResultFrame] = asyncio.get_running_loop().create_future()
        self._unanswered[frame.tag] = answer
        self._upstream.send(pb.DecideRequest(command=frame))
        # Where the caller is gone, the result is waited for all the same: it gives the room back.
        return await answer

    def _take(self, response: pb.DecideResponse) -> None:
        match response.WhichOneof("frame"):
            case "result":
                self._room.add(1)
                answer = self._unanswered.pop(response.result.tag, None)
                if answer is not None and not answer.done():
                    answer.set_result(response.result)
            case "credit":
                self._room.add(response.credit.more)
            case "leave":
                self.is_over = True
                self._room.close()
            case _:
                pass  # a pulse, which has been noticed by coming


class Credits:
    """How much the other side has room for; who takes some waits in a queue until there is."""

    def __init__(self) -> None:
        self._free = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_closed = False

    def add(self, more: int) -> None:
        """Make room, for those first who have waited longest."""
        self._free += more
        while self._free > 0 and self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._free -= 1
                waiter.set_result(None)

    async def take(self) -> None:
        """Return when there is room, which is then taken.

        Raises:
            RefusedError: GOING_AWAY, there will be none any more.

        """
        if self._is_closed:
            raise refused(Reason.GOING_AWAY)
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.add(1)  # it was given what it cannot use any more
            raise

    def close(self) -> None:
        """Send those who wait away, and all who will come."""
        self._is_closed = True
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(refused(Reason.GOING_AWAY))


def _pulse(clock: Clock) -> pb.DecideRequest:
    return pb.DecideRequest(pulse=pb.Pulse(server_time_ms=clock.now_ms()))
