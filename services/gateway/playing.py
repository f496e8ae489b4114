"""`PlayMatch`: what `WatchMatch` tells, and on the same stream commands and their results."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import grpc

from libs.chassis import identity
from libs.chassis.calls import StreamContext
from libs.chassis.limiting import Limiter
from libs.chassis.status import RefusedError, refused
from libs.chassis.together import cancel_all
from libs.kernel.reasons import Reason
from libs.wire.limits import LimitName
from libs.wire.refusals import refused_message, tell_malformed
from libs.wire.requests import MalformedError, Violation
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_service_pb2 as pb
from services.gateway.deciding import Deciding, ResultFrame, frame_of
from services.gateway.subscribing import Subscriber

UNANSWERED_MAX: Final = 16
"""How many commands of a stream may be unanswered."""

SETTLING_S: Final = 2.0
"""How long the last commands of a match may take to be answered, once it is over."""

SUBMIT: Final = "opolyx.match.v1.MatchService/SubmitCommand"
"""The method by whose rate commands are limited, on a stream or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """What streams need to give commands.

    Attributes:
        deciding: the way to the engines.
        limiter: how often people may give some.
        timeout_s: how long one may look for its answer.

    """

    deciding: Deciding
    limiter: Limiter
    timeout_s: float


class Playing:
    """The commands of one stream: answered one after the other, in their order."""

    def __init__(
        self, commands: Commands, match_id: str, caller: Caller, subscriber: Subscriber
    ) -> None:
        """Give the commands of *caller*, and tell their results to *subscriber*."""
        self._commands = commands
        self._match_id = match_id
        self._caller = caller
        self._subscriber = subscriber
        # Those over the limit stand in it too, since they are answered in their order; then nothing
        # more is read until there is room.
        self._queue: asyncio.Queue[_Queued] = asyncio.Queue(2 * UNANSWERED_MAX)
        self._unanswered = 0
        self._settled = asyncio.Event()
        self._settled.set()

    @asynccontextmanager
    async def under_way(self, context: StreamContext) -> AsyncIterator[None]:
        """Take commands from *context* and answer them, in the block."""
        works = partial(self._take, context), self._answer
        tasks = [asyncio.create_task(self._guarded(work)) for work in works]
        try:
            yield
        finally:
            await cancel_all(tasks)

    async def settle(self) -> None:
        """Wait until what has come in is answered, but not for long."""
        try:
            async with asyncio.timeout(SETTLING_S):
                await self._settled.wait()
        except TimeoutError:
            return

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except grpc.aio.BaseError:
            return  # the client is gone, and the stream ends by that
        except Exception as error:  # noqa: BLE001 - told by the edge, at the end of the stream
            self._subscriber.fail(error)

    async def _take(self, context: StreamContext) -> None:
        """Take commands until there are no more, or something comes that ends the stream."""
        try:
            await self._read(context)
        except RefusedError as error:
            await self.settle()
            self._subscriber.close(error)

    async def _read(self, context: StreamContext) -> None:
        while (request := await context.read()) is not grpc.aio.EOF:
            if request.HasField("open"):
                raise _malformed("open", "is given already")
            if not request.HasField("command"):
                raise _malformed("command", "is missing")
            is_over_limit = self._unanswered >= UNANSWERED_MAX
            self._unanswered += 1
            self._settled.clear()
            await self._queue.put(_Queued(request.command, is_over_limit))

    async def _answer(self) -> None:
        while True:
            queued = await self._queue.get()
            result = await self._result(queued)
            self._subscriber.answer(pb.PlayMatchResponse(result=result).SerializeToString())
            self._unanswered -= 1
            if not self._unanswered:
                self._settled.set()

    async def _result(self, queued: "_Queued") -> pb.CommandResult:
        result = pb.CommandResult(command_id=queued.command.command_id)
        try:
            if queued.is_over_limit:
                raise refused(Reason.OVERLOADED, limit=LimitName.UNANSWERED)
            frame = await self._submit(queued.command)
        except MalformedError as error:
            result.refused.CopyFrom(refused_message(tell_malformed(error)))
        except RefusedError as error:
            result.refused.CopyFrom(refused_message(error.told, error.retry_after_ms))
        else:
            if frame.HasField("refused"):
                result.refused.CopyFrom(frame.refused)
            else:
                result.accepted.CopyFrom(frame.accepted)
        return result

    async def _submit(self, command: pb.PlayMatchRequest.PlayedCommand) -> ResultFrame:
        made_by = identity.caller()
        if made_by.service is None:
            self._commands.limiter.admit(made_by.subject, SUBMIT)
        frame = frame_of(self._match_id, self._caller, command)
        return await self._commands.deciding.submit(frame, timeout_s=self._commands.timeout_s)


@dataclass(frozen=True, slots=True)
class _Queued:
    """A command whose turn will come; one too many is refused when it has."""

    command: pb.PlayMatchRequest.PlayedCommand
    is_over_limit: bool


def _malformed(field: str, what: str) -> RefusedError:
    return RefusedError(tell_malformed(MalformedError([Violation(field, what)])))


async def opening(context: StreamContext, *, within_s: float) -> pb.PlayMatchRequest.Open:
    """Read the first message of a stream.

    Raises:
        RefusedError: INVALID_REQUEST, it does not open it, or does not come.

    """
    try:
        async with asyncio.timeout(within_s):
            request = await context.read()
    except TimeoutError:
        request = grpc.aio.EOF
    if request is grpc.aio.EOF or not request.HasField("open"):
        raise _malformed("open", "is missing")
    opened: pb.PlayMatchRequest.Open = request.open
    return opened
