"""Engines to fire at: real servers that answer as they are told, and who serves which shard."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from libs.chassis.foundation import Foundation
from libs.chassis.roles import AllowList, service
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS
from opolyx.engine.v1 import shard_service_pb2 as shard_pb
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from opolyx.match.v1.refused_pb2 import Refused
from opolyx.record.v1.stored_record_pb2 import StoredRecord as StoredMessage

NOW_MS = 1_800_000_000_000
MATCH = MatchId("0190a000-0000-7000-8000-000000000001")
OTHER = MatchId("0190a000-0000-7000-8000-000000000002")

Answer = pb.FireDeadlineResponse | Reason | None
"""An outcome, a refusal, or no answer at all."""

DONE = pb.FireDeadlineResponse(outcome=pb.FireDeadlineResponse.OUTCOME_DONE)
STALE = pb.FireDeadlineResponse(outcome=pb.FireDeadlineResponse.OUTCOME_STALE)


def not_due(due_ms: int) -> pb.FireDeadlineResponse:
    return pb.FireDeadlineResponse(outcome=pb.FireDeadlineResponse.OUTCOME_NOT_DUE, due_ms=due_ms)


class Assignment(shard_grpc.ShardServiceServicer):
    """Who serves which shard, as all engines tell it."""

    def __init__(self) -> None:
        self._response = shard_pb.WatchShardsResponse()
        self._changed = asyncio.Event()

    def give(self, shards: dict[str, Iterable[int]]) -> None:
        """Give the engines at these addresses these shards."""
        engines = [
            shard_pb.WatchShardsResponse.Engine(instance=address, address=address, shards=given)
            for address, given in shards.items()
        ]
        epoch = self._response.epoch + 1
        self._response = shard_pb.WatchShardsResponse(epoch=epoch, engines=engines)
        self._changed.set()
        self._changed = asyncio.Event()

    async def WatchShards(  # noqa: N802
        self, _: Any, __: Any
    ) -> AsyncIterator[shard_pb.WatchShardsResponse]:
        while True:
            changed = self._changed
            yield self._response
            # Each second, as engines do.
            try:
                async with asyncio.timeout(1):
                    await changed.wait()
            except TimeoutError:
                pass


_Unimplemented: Any = match_grpc.MatchServiceServicer


class FakeEngine(_Unimplemented):  # type: ignore[misc] # its stubs say abstract, and it is not
    """Answers what is fired by what it was told to, and with done if by nothing.

    Attributes:
        fired: all that was fired, in order.
        unanswered: how many were so at the same time, at most.
        holds: whether answers wait until it is false again.

    """

    def __init__(self) -> None:
        self.fired: list[pb.FireDeadlineRequest] = []
        self.records: dict[str, Sequence[bytes]] = {}
        self.holds = False
        self.unanswered = 0
        self.streams = 0
        self._answers: defaultdict[str, list[Answer]] = defaultdict(list)
        self._waiting: list[tuple[Callable[[pb.FireResponse], None], pb.FireDeadlineRequest]] = []

    def will_answer(self, deadline_id: str, *answers: Answer) -> None:
        """Answer the next shots at a deadline so."""
        self._answers[deadline_id] += answers

    def names(self) -> list[str]:
        """Return the names of what was fired."""
        return [request.deadline_id for request in self.fired]

    def release(self) -> None:
        """Give the answers that wait, the last one first."""
        self.holds = False
        while self._waiting:
            self._reply(*self._waiting.pop())

    async def Fire(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.FireRequest], context: Any
    ) -> None:
        self.streams += 1
        replies = asyncio.Queue[pb.FireResponse]()
        writing = asyncio.create_task(self._write(replies, context))
        try:
            async for request in request_iterator:
                self.fired.append(request.deadline)
                self._waiting.append((replies.put_nowait, request.deadline))
                self.unanswered = max(self.unanswered, len(self._waiting))
                if not self.holds:
                    self.release()
        finally:
            self._waiting = [each for each in self._waiting if each[0] != replies.put_nowait]
            writing.cancel()

    async def _write(self, replies: asyncio.Queue[pb.FireResponse], context: Any) -> None:
        while True:
            await context.write(await replies.get())

    def _reply(
        self, reply: Callable[[pb.FireResponse], None], request: pb.FireDeadlineRequest
    ) -> None:
        answers = self._answers[request.deadline_id]
        answer = answers.pop(0) if answers else DONE
        response = pb.FireResponse(match_id=request.match_id, deadline_id=request.deadline_id)
        if isinstance(answer, Reason):
            response.refused.CopyFrom(Refused(reason=answer))
        elif answer is not None:
            response.fired.CopyFrom(answer)
        else:
            return
        reply(response)

    async def ReadEvents(  # noqa: N802
        self, request: pb.ReadEventsRequest, _: Any
    ) -> pb.ReadEventsResponse:
        found = self.records.get(request.match_id, ())
        return pb.ReadEventsResponse(records=[StoredMessage(data=data) for data in found])


@asynccontextmanager
async def serving(
    foundation: Foundation, engine: FakeEngine, assignment: Assignment, port: int = 0
) -> AsyncIterator[str]:
    """Serve an engine, and yield where."""
    described = (
        pb.DESCRIPTOR.services_by_name["MatchService"],
        shard_pb.DESCRIPTOR.services_by_name["ShardService"],
    )
    allowed = AllowList(
        {f"{s.full_name}/{m.name}": [service("timer")] for s in described for m in s.methods}
    )
    settings = ServerSettings(port=port, stream_grace_s=0)
    server = GrpcServer(foundation.terms("match_engine", settings, allowed))
    server.add(match_grpc.add_MatchServiceServicer_to_server, engine, described[0])
    server.add(shard_grpc.add_ShardServiceServicer_to_server, assignment, described[1])
    async with server:
        yield server.address


def all_shards(address: str) -> dict[str, Iterable[int]]:
    return {address: range(SHARDS)}
