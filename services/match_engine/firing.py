"""Deadlines fired by the timer: one by one, or on a stream (write protocol, T3)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from libs.chassis.status import refused
from libs.chassis.together import cancel_all, first_of
from libs.kernel.command_ids import fire_id
from libs.kernel.ids import MatchId, is_uuid
from libs.kernel.reasons import Reason
from libs.wire.requests import Checks
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.deciding import Decider, Fired, Outcome
from services.match_engine.telling import error_message

UNANSWERED_MAX: Final = 256
"""How many fires of a stream are under way at most; the next is read when there is room."""

_OUTCOMES: Final = {
    Outcome.DONE: pb.FireDeadlineResponse.OUTCOME_DONE,
    Outcome.STALE: pb.FireDeadlineResponse.OUTCOME_STALE,
    Outcome.NOT_DUE: pb.FireDeadlineResponse.OUTCOME_NOT_DUE,
}


class Firing:
    """Takes fires, by whichever way they come."""

    def __init__(self, decider: Decider) -> None:
        self._decider = decider

    async def fire(self, request: pb.FireDeadlineRequest) -> pb.FireDeadlineResponse:
        """Let a deadline act. Raises what `Decider.fire` does."""
        checks = Checks()
        checks.uuid("match_id", request.match_id)
        checks.text("deadline_id", request.deadline_id)
        match_id = MatchId(request.match_id)
        if is_uuid(match_id) and request.command_id != fire_id(match_id, request.deadline_id):
            checks.add("command_id", "is not the deadline's")
        checks.finish()
        return _response(await self._decider.fire(match_id, request.deadline_id))


class FireStream:
    """One stream of fires, each answered as soon as it can be."""

    def __init__(self, firing: Firing, draining: asyncio.Event) -> None:
        """Answer until *draining* is set, and what is under way by then."""
        self._firing = firing
        self._draining = draining
        self._room = asyncio.Semaphore(UNANSWERED_MAX)
        self._tasks: set[asyncio.Task[None]] = set()
        # Never over `UNANSWERED_MAX`: a fire gives its room back when its answer is taken.
        self._answers: asyncio.Queue[pb.FireResponse | None] = asyncio.Queue()

    async def run(
        self, requests: AsyncIterator[pb.FireRequest]
    ) -> AsyncGenerator[pb.FireResponse, None]:
        """Yield the answers.

        Raises:
            RefusedError: GOING_AWAY, the engine stops, or what a request could not be read for.

        """
        reading = asyncio.create_task(self._read(requests))
        try:
            while (answer := await self._answers.get()) is not None:
                self._room.release()
                yield answer
            await reading
        finally:
            await cancel_all([reading, *self._tasks])
        if self._draining.is_set():
            raise refused(Reason.GOING_AWAY)

    async def _read(self, requests: AsyncIterator[pb.FireRequest]) -> None:
        try:
            await first_of(self._begin_all(requests), self._until_draining())
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            self._answers.put_nowait(None)

    async def _begin_all(self, requests: AsyncIterator[pb.FireRequest]) -> None:
        async for request in requests:
            await self._room.acquire()
            task = asyncio.create_task(self._answer(request.deadline))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _until_draining(self) -> None:
        await self._draining.wait()

    async def _answer(self, request: pb.FireDeadlineRequest) -> None:
        response = pb.FireResponse(match_id=request.match_id, deadline_id=request.deadline_id)
        try:
            response.fired.CopyFrom(await self._firing.fire(request))
        except Exception as error:  # noqa: BLE001 - one fire's bug must not end all others
            response.refused.CopyFrom(error_message(error))
        self._answers.put_nowait(response)


def _response(fired: Fired) -> pb.FireDeadlineResponse:
    accepted = fired.accepted
    return pb.FireDeadlineResponse(
        outcome=_OUTCOMES[fired.outcome],
        due_ms=fired.due_ms,
        sequence=accepted.sequence if accepted else 0,
        chain_hash=accepted.chain_hash if accepted else b"",
    )
