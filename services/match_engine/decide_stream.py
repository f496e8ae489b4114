"""One Decide stream: a gateway's commands in, their results out, those of a match in order."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from libs.chassis.status import refused
from libs.chassis.together import cancel_all, first_of
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from libs.telemetry import logs, traces
from libs.wire.requests import MalformedError, Violation
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2 as match_pb
from services.match_engine.callers import caller_of
from services.match_engine.pulses import Pulses
from services.match_engine.submitting import Submitting
from services.match_engine.telling import error_message, refusal_message

COMMANDS_MAX: Final = 256
"""How many commands a gateway may have unanswered (start)."""

METHOD: Final = "opolyx.engine.v1.EngineService/Decide"

CommandFrame = pb.DecideRequest.CommandFrame
ResultFrame = pb.DecideResponse.ResultFrame
Write = Callable[[pb.DecideResponse], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Deciding:
    """What all Decide streams of an engine share."""

    submitting: Submitting
    clock: Clock
    pulse_s: float
    commands_max: int = COMMANDS_MAX


@dataclass(slots=True, eq=False)
class _Place:
    """A command's place among those of its match, and its result once it has one."""

    match_id: str
    result: ResultFrame | None = None


class DecideStream:
    """The commands of one gateway. Everything that it is told goes through one task, `_write`."""

    def __init__(self, shared: Deciding) -> None:
        self._shared = shared
        self._unanswered: set[int] = set()
        self._places: dict[str, deque[_Place]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._results: deque[ResultFrame] = deque()
        self._grant = shared.commands_max
        self._pulses = Pulses(shared.pulse_s, self._wake)
        self._something = asyncio.Event()
        self._leaving: Reason | None = None
        self._has_left = False

    def leave(self, reason: Reason) -> None:
        """Say that the engine stops; end when all that is unanswered has its result."""
        self._leaving = self._leaving or reason
        self._wake()

    async def run(self, frames: AsyncIterator[pb.DecideRequest], write: Write) -> None:
        """Serve the stream until the gateway ends it, or is lost.

        Raises:
            RefusedError: GOING_AWAY, the engine stops, or has not heard from the gateway.
            MalformedError: a frame makes no sense, or there are more commands than were granted.

        """
        try:
            await first_of(self._read(frames), self._pulses.run(), self._write(write))
        finally:
            # An append that is on its way is shielded (W5); the gateway asks anew for its outcome.
            await cancel_all(self._tasks)

    # In.

    async def _read(self, frames: AsyncIterator[pb.DecideRequest]) -> None:
        async for frame in frames:
            self._pulses.heard()
            if frame.HasField("command"):
                self._take(frame.command)

    def _take(self, frame: CommandFrame) -> None:
        """Begin with a command, behind those of its match that came before it."""
        if frame.tag in self._unanswered:
            raise MalformedError([Violation("command.tag", "is that of an unanswered command")])
        if len(self._unanswered) >= self._shared.commands_max:
            raise MalformedError([Violation("command", "is one more than were granted")])
        self._unanswered.add(frame.tag)
        place = _Place(frame.match_id)
        self._places.setdefault(frame.match_id, deque()).append(place)
        if self._has_left:
            assert self._leaving is not None
            told = refusal_message(refused(self._leaving))
            self._answer(place, ResultFrame(tag=frame.tag, refused=told))
            return
        task = asyncio.create_task(self._decide(frame, place))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _decide(self, frame: CommandFrame, place: _Place) -> None:
        logs.bind(match_id=frame.match_id, command_id=frame.command_id)
        with traces.serving(
            METHOD, {traces.TRACEPARENT: frame.traceparent} if frame.traceparent else {}
        ):
            try:
                accepted = await self._submit(frame)
            except Exception as error:  # noqa: BLE001 - one command's bug must not end all others
                self._answer(place, ResultFrame(tag=frame.tag, refused=error_message(error)))
            else:
                self._answer(place, ResultFrame(tag=frame.tag, accepted=accepted))

    async def _submit(self, frame: CommandFrame) -> match_pb.SubmitCommandResponse:
        has_expectation = frame.HasField("expected_sequence")
        request = match_pb.SubmitCommandRequest(
            match_id=frame.match_id,
            command_id=frame.command_id,
            expected_sequence=frame.expected_sequence if has_expectation else None,
            command=frame.command if frame.HasField("command") else None,
        )
        return await self._shared.submitting.submit(
            caller_of(frame.caller), request, timeout_ms=frame.timeout_ms
        )

    # Out.

    def _wake(self) -> None:
        self._something.set()

    def _answer(self, place: _Place, result: ResultFrame) -> None:
        """Let a result out when those of its match before it are out."""
        place.result = result
        places = self._places[place.match_id]
        while places and (ready := places[0].result) is not None:
            places.popleft()
            self._results.append(ready)
        if not places:
            del self._places[place.match_id]
        self._wake()

    async def _write(self, write: Write) -> None:
        while True:
            response = self._next()
            if response is not None:
                await write(response)
                continue
            self._something.clear()
            await self._something.wait()

    def _next(self) -> pb.DecideResponse | None:
        """Return what is to be told next, None if there is nothing.

        Raises:
            RefusedError: GOING_AWAY, after the last word.

        """
        if self._grant:
            more, self._grant = self._grant, 0
            return pb.DecideResponse(credit=pb.Credit(more=more))
        if self._leaving is not None and not self._has_left:
            self._has_left = True
            return pb.DecideResponse(leave=pb.Leave(reason=self._leaving))
        if self._pulses.take_due():
            pulse = pb.Pulse(server_time_ms=self._shared.clock.now_ms())
            return pb.DecideResponse(pulse=pulse)
        if self._results:
            result = self._results.popleft()
            self._unanswered.discard(result.tag)
            return pb.DecideResponse(result=result)
        if self._has_left and not self._unanswered:
            raise refused(Reason.GOING_AWAY)
        return None
