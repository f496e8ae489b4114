"""What of the public `MatchService` is more than to pass a call on: playing and watching."""

from __future__ import annotations

import grpc

from libs.chassis.calls import StreamContext
from libs.chassis.edge import Handler
from libs.chassis.status import error_of, refused
from libs.kernel.reasons import Reason
from opolyx.match.v1 import match_service_pb2 as pb
from services.gateway.asking import left_s
from services.gateway.callers import Callers
from services.gateway.deciding import frame_of
from services.gateway.playing import Commands, Playing, opening
from services.gateway.watching import Streams, Watching

# ruff: noqa: N802, D102 - the proto names the methods, and tells what they do


class MatchServicer:
    """`opolyx.match.v1.MatchService` for clients, but for what `Forwarding` passes on."""

    def __init__(self, *, callers: Callers, commands: Commands, streams: Streams) -> None:
        self._callers = callers
        self._commands = commands
        self._streams = streams

    def handlers(self) -> dict[str, Handler]:
        """Return the methods that are here, by their names."""
        return {
            "SubmitCommand": grpc.unary_unary_rpc_method_handler(
                self.SubmitCommand,
                pb.SubmitCommandRequest.FromString,
                pb.SubmitCommandResponse.SerializeToString,
            ),
            "WatchMatch": grpc.unary_stream_rpc_method_handler(
                self.WatchMatch, pb.WatchMatchRequest.FromString
            ),
            "PlayMatch": grpc.stream_stream_rpc_method_handler(
                self.PlayMatch, pb.PlayMatchRequest.FromString
            ),
        }

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

    async def WatchMatch(self, request: pb.WatchMatchRequest, context: StreamContext) -> None:
        after_seq = request.after_sequence if request.HasField("after_sequence") else None
        caller = await self._callers.present()
        watching = Watching(self._streams, context, caller, request.match_id, after_seq)
        async with watching.entered() as followed:
            await watching.tell(followed)

    async def PlayMatch(self, _: object, context: StreamContext) -> None:
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
