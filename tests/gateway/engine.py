"""Engines to try the gateway with: real matches and records, and trouble when asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc

from libs.chassis.status import refused
from libs.kernel.ids import CommandId
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS
from libs.rules import events as e
from libs.rules.views import View
from libs.wire.commands import command_of
from libs.wire.record import StoredRecord
from libs.wire.refusals import refused_message
from libs.wire.views import match_message
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import engine_service_pb2_grpc as pb_grpc
from opolyx.engine.v1 import shard_service_pb2 as shard_pb
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.match.v1 import match_pb2, rule_set_pb2
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from tests.gateway.administered import Administered
from tests.gateway.world import World, beat, cancel, refuse, refused_frame, seat_of, stored_message
from tests.support.gateway import LiveMatch

# ruff: noqa: ARG002, N802 - the signatures are gRPC's

Context = grpc.aio.ServicerContext[Any, Any]


class FakeEngine(
    Administered,
    match_grpc.MatchServiceServicer,
    pb_grpc.EngineServiceServicer,
    shard_grpc.ShardServiceServicer,
):
    """Does what an engine does, and what a test makes it do wrong.

    Attributes:
        commands: every command frame that has come.
        attendance: what the gateway last said of each match.
        follows: every `Start`, in order.
        credit: how many commands it grants.
        breaks_before, breaks_after: of so many commands the stream breaks off, before or after the
            command was carried out.
        is_mute: whether it says nothing on its streams, pulses neither.
        withheld: records that begin at these sequences are not pushed, once each.
        gate: results are told when it is set.

    """

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.address = ""
        self.commands: list[pb.DecideRequest.CommandFrame] = []
        self.attendance: dict[str, pb.Attendance] = {}
        self.follows: list[pb.FollowRequest.Start] = []
        self.stops: list[str] = []
        self.credit = 64
        self.breaks_before = 0
        self.breaks_after = 0
        self.is_mute = False
        self.withheld: set[int] = set()
        self.forged: set[int] = set()
        self.unread: set[int] = set()
        self.stopped: dict[str, Reason] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.leaving = asyncio.Event()
        self.streams: set[asyncio.Task[Any]] = set()

    @property
    def is_owner(self) -> bool:
        return self.world.owner == self.address

    def cut(self) -> None:
        """Break off all streams."""
        for task in tuple(self.streams):
            task.cancel()

    # Which engine.

    async def WatchShards(
        self, request: shard_pb.WatchShardsRequest, context: Context
    ) -> AsyncIterator[shard_pb.WatchShardsResponse]:
        while True:
            moved = self.world.moved
            engine = shard_pb.WatchShardsResponse.Engine(
                instance=self.world.owner, address=self.world.owner, shards=range(SHARDS)
            )
            yield shard_pb.WatchShardsResponse(epoch=self.world.epoch, engines=[engine])
            try:
                async with asyncio.timeout(0.5):
                    await moved.wait()
            except TimeoutError:
                continue

    # Unary.

    async def _find(self, match_id: str, context: Context, method: str) -> LiveMatch:
        self._note(context, method)
        if not self.is_owner:
            await refuse(context, refused(Reason.NOT_OWNER_OF_SHARD))
        if not self.world.shows(match_id, self.callers[-1][1]):
            await refuse(context, refused(Reason.MATCH_NOT_FOUND))
        return self.world.matches[match_id]

    async def GetMatch(
        self, request: match_pb.GetMatchRequest, context: Context
    ) -> match_pb2.Match:
        live = await self._find(request.match_id, context, "GetMatch")
        if request.min_sequence > live.match.sequence:
            await refuse(context, refused(Reason.STALE_SEQUENCE, head=live.match.sequence))
        seat = seat_of(live, self.callers[-1][1])
        view = View(live.match, seat)
        return match_message(view, live.now_ms, chain_hash=live.records[-1].hash)

    async def ReadEvents(
        self, request: match_pb.ReadEventsRequest, context: Context
    ) -> match_pb.ReadEventsResponse:
        live = await self._find(request.match_id, context, "ReadEvents")
        wanted = [each for each in live.records if each.last_seq > request.after_sequence]
        page = wanted[: min(request.page_size or 50, 20)]
        return match_pb.ReadEventsResponse(
            records=[
                stored_message(r, self.forged) for r in page if r.first_seq not in self.unread
            ],
            head_sequence=live.match.sequence,
        )

    async def ListLegalCommands(
        self, request: match_pb.ListLegalCommandsRequest, context: Context
    ) -> match_pb.ListLegalCommandsResponse:
        live = await self._find(request.match_id, context, "ListLegalCommands")
        return match_pb.ListLegalCommandsResponse(sequence=live.match.sequence)

    async def GetRuleSet(
        self, request: match_pb.GetRuleSetRequest, context: Context
    ) -> rule_set_pb2.RuleSet:
        self._note(context, "GetRuleSet")
        return rule_set_pb2.RuleSet(rule_set_id=request.rule_set_id)

    async def ListMatches(
        self, request: match_pb.ListMatchesRequest, context: Context
    ) -> match_pb.ListMatchesResponse:
        self._note(context, "ListMatches")
        return match_pb.ListMatchesResponse(next_page_token="more")  # noqa: S106 - of pages

    # Commands.

    async def Decide(  # type: ignore[override] # it reads and writes as it pleases
        self, request_iterator: object, context: Context
    ) -> None:
        async with self._streaming(context) as say:
            await say(pb.DecideResponse(credit=pb.Credit(more=self.credit)))
            answering: set[asyncio.Task[None]] = set()
            beating = asyncio.create_task(beat(say, pb.DecideResponse(pulse=pb.Pulse())))
            leaving = asyncio.create_task(self._leave(say))
            try:
                while (request := await context.read()) is not grpc.aio.EOF:
                    if request.HasField("command"):
                        self.commands.append(request.command)
                        if self.breaks_before:
                            self.breaks_before -= 1
                            return
                        answer = asyncio.create_task(self._answer(request.command, say))
                        answering.add(answer)
                        if self.breaks_after:
                            self.breaks_after -= 1
                            await refuse(context, refused(Reason.GOING_AWAY))
            finally:
                await cancel(beating, leaving, *answering)

    async def _leave(self, say: Callable[[Any], Any]) -> None:
        await self.leaving.wait()
        await say(pb.DecideResponse(leave=pb.Leave(reason=Reason.GOING_AWAY)))

    async def _answer(
        self, frame: pb.DecideRequest.CommandFrame, say: Callable[[Any], Any]
    ) -> None:
        result = self._decide(frame)
        await self.gate.wait()
        result.tag = frame.tag
        await say(pb.DecideResponse(result=result))

    def _decide(self, frame: pb.DecideRequest.CommandFrame) -> pb.DecideResponse.ResultFrame:
        if not self.is_owner:
            return refused_frame(refused(Reason.NOT_OWNER_OF_SHARD))
        if not self.world.shows(frame.match_id, frame.caller):
            return refused_frame(refused(Reason.MATCH_NOT_FOUND))
        live = self.world.matches[frame.match_id]
        seat = seat_of(live, frame.caller)
        if seat == e.NOBODY:
            return refused_frame(refused(Reason.NOT_SEATED))
        command = command_of(frame.command, seat)
        expected = frame.expected_sequence if frame.HasField("expected_sequence") else None
        result = live.submit((seat, command, CommandId(frame.command_id), expected))
        if result.HasField("refused"):
            return pb.DecideResponse.ResultFrame(refused=result.refused)
        return pb.DecideResponse.ResultFrame(accepted=result.accepted)

    # Records.

    async def Follow(  # type: ignore[override] # likewise
        self, request_iterator: object, context: Context
    ) -> None:
        async with self._streaming(context) as say:
            pushing: dict[str, asyncio.Task[None]] = {}
            beating = asyncio.create_task(self._heads(say, pushing))
            try:
                while (request := await context.read()) is not grpc.aio.EOF:
                    match request.WhichOneof("frame"):
                        case "start":
                            self.follows.append(request.start)
                            if (old := pushing.pop(request.start.match_id, None)) is not None:
                                await cancel(old)
                            push = self._push(request.start, say)
                            pushing[request.start.match_id] = asyncio.create_task(push)
                        case "stop":
                            self.stops.append(request.stop.match_id)
                            if (old := pushing.pop(request.stop.match_id, None)) is not None:
                                await cancel(old)
                        case "attendance":
                            self.attendance[request.attendance.match_id] = request.attendance
                            await say(pb.FollowResponse(attendance=request.attendance))
                        case _:
                            pass
            finally:
                await cancel(beating, *pushing.values())

    async def _push(self, start: pb.FollowRequest.Start, say: Callable[[Any], Any]) -> None:
        match_id = start.match_id
        reason = self._why_not(match_id)
        if reason is None:
            live = self.world.matches[match_id]
            records = [each for each in live.records if each.last_seq > start.after_sequence]
            before = live.records[: len(live.records) - len(records)]
            started = pb.FollowResponse.Started(
                match_id=match_id,
                sequence=before[-1].last_seq,
                chain_hash=before[-1].hash,
                head_sequence=live.match.sequence,
                ended=live.has_ended,
                watching=self.world.watching(match_id),
            )
            await say(pb.FollowResponse(started=started))
            position = len(before)
            while reason is None:
                changed = live.changed
                for record in live.records[position:]:
                    await self._push_record(live, record, say)
                position = len(live.records)
                reason = Reason.MATCH_ENDED if live.has_ended else self._why_not(match_id)
                if reason is None:
                    await changed.wait()
                    reason = self._why_not(match_id)
        stopped = pb.FollowResponse.Stopped(
            match_id=match_id, refused=refused_message(refused(reason).told)
        )
        await say(pb.FollowResponse(stopped=stopped))

    async def _push_record(
        self, live: LiveMatch, record: StoredRecord, say: Callable[[Any], Any]
    ) -> None:
        if record.first_seq in self.withheld:
            self.withheld.discard(record.first_seq)
            return
        message = stored_message(record, self.forged)
        is_last = live.has_ended and record is live.records[-1]
        frame = pb.FollowResponse.RecordFrame(match_id=live.match_id, record=message, last=is_last)
        await say(pb.FollowResponse(record=frame))

    def _why_not(self, match_id: str) -> Reason | None:
        if match_id in self.stopped:
            return self.stopped[match_id]
        if not self.is_owner:
            return Reason.NOT_OWNER_OF_SHARD
        return None if match_id in self.world.matches else Reason.MATCH_NOT_FOUND

    async def _heads(self, say: Callable[[Any], Any], followed: dict[str, Any]) -> None:
        while True:
            await asyncio.sleep(0.2)
            heads = [
                pb.FollowResponse.Head(match_id=each, sequence=live.match.sequence)
                for each in followed
                if (live := self.world.matches.get(each)) is not None
            ]
            now_ms = max((self.world.matches[h.match_id].now_ms for h in heads), default=0)
            beat = pb.FollowResponse.Heads(server_time_ms=now_ms, heads=heads)
            await say(pb.FollowResponse(heads=beat))

    @asynccontextmanager
    async def _streaming(self, context: Context) -> AsyncIterator[Callable[[Any], Any]]:
        """Have the stream among those that can be cut, and give what sends on it."""
        task = asyncio.current_task()
        assert task is not None
        self.streams.add(task)
        outbox: asyncio.Queue[Any] = asyncio.Queue()

        async def write() -> None:
            while True:
                message = await outbox.get()
                if not self.is_mute:
                    await context.write(message)

        # One task writes all, since gRPC takes no second message beside one that is cut short.
        writing = asyncio.create_task(write())
        try:
            yield outbox.put
        finally:
            self.streams.discard(task)
            await cancel(writing)


@asynccontextmanager
async def serving(engine: FakeEngine) -> AsyncIterator[str]:
    """Serve an engine on a free port."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((engine.administration(),))
    match_grpc.add_MatchServiceServicer_to_server(engine, server)
    pb_grpc.add_EngineServiceServicer_to_server(engine, server)
    shard_grpc.add_ShardServiceServicer_to_server(engine, server)
    engine.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield engine.address
    finally:
        await server.stop(None)
