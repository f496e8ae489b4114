"""The public `MatchService`: every call goes to the engine that owns the match, or to any."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc

from libs.chassis.calls import StreamContext
from libs.chassis.status import error_of, refused
from libs.kernel.reasons import Reason
from opolyx.match.v1 import match_pb2, rule_set_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from services.gateway.asking import Asking, left_s
from services.gateway.callers import Callers
from services.gateway.deciding import frame_of
from services.gateway.playing import Commands, Playing, opening
from services.gateway.watching import Streams, Watching

# ruff: noqa: N802, D102, ARG002 - grpc names the methods, and the proto tells what they do


class MatchServicer(pb_grpc.MatchServiceServicer):
    """`opolyx.match.v1.MatchService` for clients; what is for services alone is not here."""

    def __init__(
        self, *, asking: Asking, callers: Callers, commands: Commands, streams: Streams
    ) -> None:
        self._asking = asking
        self._callers = callers
        self._commands = commands
        self._streams = streams

    # Playing and watching.

    async def SubmitCommand(
        self,
        request: pb.SubmitCommandRequest,
        context: grpc.aio.ServicerContext[pb.SubmitCommandRequest, pb.SubmitCommandResponse],
    ) -> pb.SubmitCommandResponse:
        frame = frame_of(request.match_id, await self._callers.present(), request)
        timeout_s = left_s(context, self._commands.timeout_s)
        result = await self._commands.deciding.submit(frame, timeout_s=timeout_s)
        if result.HasField("refused"):
            raise error_of(result.refused)
        return result.accepted

    async def WatchMatch(  # type: ignore[override] # it writes as it pleases, and yields nothing
        self, request: pb.WatchMatchRequest, context: StreamContext
    ) -> None:
        after_seq = request.after_sequence if request.HasField("after_sequence") else None
        caller = await self._callers.present()
        watching = Watching(self._streams, context, caller, request.match_id, after_seq)
        async with watching.entered() as followed:
            await watching.tell(followed)

    async def PlayMatch(  # type: ignore[override] # likewise
        self, request_iterator: object, context: StreamContext
    ) -> None:
        caller = await self._callers.present()
        opened = await opening(context, within_s=self._streams.settings.request_timeout_s)
        after_seq = opened.after_sequence if opened.HasField("after_sequence") else None
        watching = Watching(self._streams, context, caller, opened.match_id, after_seq)
        async with watching.entered() as followed:
            if followed.seats.of(caller) is None:
                raise refused(Reason.NOT_SEATED, seats=followed.seats.count)
            playing = Playing(self._commands, opened.match_id, caller, watching.subscriber)
            async with playing.under_way(context):
                await watching.tell(followed, before_end=playing.settle)

    # Looking at a match.

    async def GetMatch(
        self,
        request: pb.GetMatchRequest,
        context: grpc.aio.ServicerContext[pb.GetMatchRequest, match_pb2.Match],
    ) -> match_pb2.Match:
        return await self._asking.owner(
            lambda stub: stub.GetMatch, request, request.match_id, left_s(context)
        )

    async def ListLegalCommands(
        self,
        request: pb.ListLegalCommandsRequest,
        context: grpc.aio.ServicerContext[
            pb.ListLegalCommandsRequest, pb.ListLegalCommandsResponse
        ],
    ) -> pb.ListLegalCommandsResponse:
        return await self._asking.owner(
            lambda stub: stub.ListLegalCommands, request, request.match_id, left_s(context)
        )

    async def ReadEvents(
        self,
        request: pb.ReadEventsRequest,
        context: grpc.aio.ServicerContext[pb.ReadEventsRequest, pb.ReadEventsResponse],
    ) -> pb.ReadEventsResponse:
        return await self._asking.owner(
            lambda stub: stub.ReadEvents, request, request.match_id, left_s(context)
        )

    async def Explain(
        self,
        request: pb.ExplainRequest,
        context: grpc.aio.ServicerContext[pb.ExplainRequest, pb.ExplainResponse],
    ) -> pb.ExplainResponse:
        return await self._asking.owner(
            lambda stub: stub.Explain, request, request.match_id, left_s(context)
        )

    async def WhyNot(
        self,
        request: pb.WhyNotRequest,
        context: grpc.aio.ServicerContext[pb.WhyNotRequest, pb.WhyNotResponse],
    ) -> pb.WhyNotResponse:
        return await self._asking.owner(
            lambda stub: stub.WhyNot, request, request.match_id, left_s(context)
        )

    async def GetHead(
        self,
        request: pb.GetHeadRequest,
        context: grpc.aio.ServicerContext[pb.GetHeadRequest, match_pb2.SignedHead],
    ) -> match_pb2.SignedHead:
        return await self._asking.owner(
            lambda stub: stub.GetHead, request, request.match_id, left_s(context)
        )

    # What any engine knows.

    async def ListMatches(
        self,
        request: pb.ListMatchesRequest,
        context: grpc.aio.ServicerContext[pb.ListMatchesRequest, pb.ListMatchesResponse],
    ) -> pb.ListMatchesResponse:
        return await self._asking.any_engine(
            lambda stub: stub.ListMatches, request, left_s(context)
        )

    async def ListRuleSets(
        self,
        request: pb.ListRuleSetsRequest,
        context: grpc.aio.ServicerContext[pb.ListRuleSetsRequest, pb.ListRuleSetsResponse],
    ) -> pb.ListRuleSetsResponse:
        return await self._asking.any_engine(
            lambda stub: stub.ListRuleSets, request, left_s(context)
        )

    async def GetRuleSet(
        self,
        request: pb.GetRuleSetRequest,
        context: grpc.aio.ServicerContext[pb.GetRuleSetRequest, rule_set_pb2.RuleSet],
    ) -> rule_set_pb2.RuleSet:
        return await self._asking.any_engine(lambda stub: stub.GetRuleSet, request, left_s(context))

    async def GetBoard(
        self,
        request: pb.GetBoardRequest,
        context: grpc.aio.ServicerContext[pb.GetBoardRequest, rule_set_pb2.Board],
    ) -> rule_set_pb2.Board:
        return await self._asking.any_engine(lambda stub: stub.GetBoard, request, left_s(context))

    async def ListKeys(
        self,
        request: pb.ListKeysRequest,
        context: grpc.aio.ServicerContext[pb.ListKeysRequest, pb.ListKeysResponse],
    ) -> pb.ListKeysResponse:
        return await self._asking.any_engine(lambda stub: stub.ListKeys, request, left_s(context))

    # For services among themselves, who call the engine: the door lets nobody in here.

    async def CreateMatch(self, *_: object) -> pb.CreateMatchResponse:
        raise refused(Reason.NOT_ALLOWED)

    async def AdmitGuest(self, *_: object) -> pb.AdmitGuestResponse:
        raise refused(Reason.NOT_ALLOWED)

    async def FireDeadline(self, *_: object) -> pb.FireDeadlineResponse:
        raise refused(Reason.NOT_ALLOWED)

    async def Fire(self, *_: object) -> AsyncIterator[pb.FireResponse]:
        raise refused(Reason.NOT_ALLOWED)
        yield  # so that it is the stream that it would be
