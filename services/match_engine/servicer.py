"""`opolyx.match.v1.MatchService` at the engine that owns a match: translate, call, translate."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import grpc

from libs.chassis.status import refused
from libs.kernel.clock import Clock
from libs.kernel.ids import CommandId, MatchId
from libs.kernel.reasons import Reason
from libs.rules.explain import explain, why_not
from libs.rules.legal import legal_commands
from libs.rules.views import view
from libs.store.directory import EngineStore
from libs.wire.commands import command_of
from libs.wire.paging import is_number, next_page_token, page_position
from libs.wire.refusals import refused_message, tell
from libs.wire.requests import Checks
from libs.wire.views import legal_messages, match_message
from opolyx.match.v1 import match_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from opolyx.record.v1 import record_pb2, stored_record_pb2
from services.match_engine.callers import present_caller, seat_of, viewer_of
from services.match_engine.deciding import Decider
from services.match_engine.firing import FireStream, Firing
from services.match_engine.listing import Listing
from services.match_engine.lists import Lists
from services.match_engine.new_matches import check_new_match
from services.match_engine.pushes import Pushes
from services.match_engine.reading import Reading
from services.match_engine.signing import SigningKeys
from services.match_engine.submitting import Submitting

Context = grpc.aio.ServicerContext[Any, Any]


class MatchServicer(Lists, pb_grpc.MatchServiceServicer):
    """Everything but `WatchMatch` and `PlayMatch`, which are the gateway's own.

    Those two are told by `EngineService`.
    """

    def __init__(  # noqa: PLR0913 - what commands and reads rest on
        self,
        *,
        decider: Decider,
        store: EngineStore,
        keys: SigningKeys,
        clock: Clock,
        pushes: Pushes,
        draining: asyncio.Event,
    ) -> None:
        """Serve the matches of *decider*, by its *clock*; *pushes* hears of its commits."""
        self._decider = decider
        self._clock = clock
        self._draining = draining
        self._submitting = Submitting(decider, store, clock)
        self._firing = Firing(decider)
        self._reading = Reading(decider, store, pushes, keys)
        super().__init__(Listing(store), keys)

    # Commands.

    async def SubmitCommand(
        self, request: pb.SubmitCommandRequest, context: Context
    ) -> pb.SubmitCommandResponse:
        left_s: float | None = context.time_remaining()
        timeout_ms = None if left_s is None else left_s * 1000
        return await self._submitting.submit(present_caller(), request, timeout_ms=timeout_ms)

    async def CreateMatch(
        self, request: pb.CreateMatchRequest, context: Context
    ) -> pb.CreateMatchResponse:
        check_new_match(request)
        accepted = await self._decider.create(request, CommandId(request.command_id))
        return pb.CreateMatchResponse(sequence=accepted.sequence, chain_hash=accepted.chain_hash)

    async def AdmitGuest(
        self, request: pb.AdmitGuestRequest, context: Context
    ) -> pb.AdmitGuestResponse:
        checks = Checks()
        checks.uuid("match_id", request.match_id)
        checks.uuid("player_id", request.player_id)
        checks.finish()
        await self._decider.admit(MatchId(request.match_id), request.player_id)
        return pb.AdmitGuestResponse()

    async def FireDeadline(
        self, request: pb.FireDeadlineRequest, context: Context
    ) -> pb.FireDeadlineResponse:
        return await self._firing.fire(request)

    async def Fire(
        self, request_iterator: AsyncIterator[pb.FireRequest], context: Context
    ) -> AsyncIterator[pb.FireResponse]:
        stream = FireStream(self._firing, self._draining)
        async with aclosing(stream.run(request_iterator)) as responses:
            async for response in responses:
                yield response

    # Reads of one match.

    async def GetMatch(self, request: pb.GetMatchRequest, context: Context) -> match_pb2.Match:
        match_id = _match_id(request, _from_1("sequence", request))
        caller = present_caller()
        least = request.min_sequence
        if request.HasField("sequence"):
            moment = await self._reading.then(
                caller, match_id, request.sequence, min_sequence=least
            )
        else:
            moment = await self._reading.now(caller, match_id, min_sequence=least)
        match = moment.match
        return match_message(
            view(match, viewer_of(caller, match)),
            self._clock.now_ms(),
            commitment=match.commitment,
            chain_hash=moment.chain_hash,
        )

    async def ListLegalCommands(
        self, request: pb.ListLegalCommandsRequest, context: Context
    ) -> pb.ListLegalCommandsResponse:
        match_id, caller = _match_id(request), present_caller()
        moment = await self._reading.now(caller, match_id, min_sequence=request.min_sequence)
        seat = seat_of(caller, moment.match)
        legal = legal_commands(moment.match, seat)
        return pb.ListLegalCommandsResponse(
            legal_commands=legal_messages(legal),
            sequence=moment.sequence,
            seat=seat,
            answer_count=legal.answer_count,
        )

    async def ReadEvents(
        self, request: pb.ReadEventsRequest, context: Context
    ) -> pb.ReadEventsResponse:
        checks = Checks()
        checks.least("after_sequence", request.after_sequence, 0)
        checks.least("last_sequence", request.last_sequence, 0)
        limit = checks.page_size(request.page_size)
        position = page_position(request, checks, is_number)
        match_id = _match_id(request, checks)
        page = await self._reading.page(
            present_caller(),
            match_id,
            int(position) if position else request.after_sequence,
            limit=limit,
            last_sequence=request.last_sequence if request.HasField("last_sequence") else None,
            min_sequence=request.min_sequence,
            is_decoded=request.decode,
        )
        token = next_page_token(request, str(page.next_after)) if page.next_after else ""
        is_decoded = request.decode and not page.is_quarantined
        decoded = [record_pb2.Record.FromString(r.data) for r in page.records if is_decoded]
        return pb.ReadEventsResponse(
            records=[stored_record_pb2.StoredRecord(**each._asdict()) for each in page.records],
            next_page_token=token,
            head_sequence=page.head_sequence,
            decoded=decoded,
        )

    async def Explain(self, request: pb.ExplainRequest, context: Context) -> pb.ExplainResponse:
        checks = Checks()
        checks.least("sequence", request.sequence, 1)
        match_id = _match_id(request, checks)
        past = await self._reading.event(present_caller(), match_id, request.sequence)
        explained = explain(past.before, past.event)
        return pb.ExplainResponse(event=past.message, rules=explained.rules, text=explained.text)

    async def WhyNot(self, request: pb.WhyNotRequest, context: Context) -> pb.WhyNotResponse:
        match_id, caller = _match_id(request), present_caller()
        moment = await self._reading.now(caller, match_id, min_sequence=request.min_sequence)
        command = command_of(request.command, seat_of(caller, moment.match))
        refusal = why_not(moment.match, command, self._clock.now_ms())
        told = refused_message(tell(refusal)) if refusal is not None else None
        return pb.WhyNotResponse(refused=told, sequence=moment.sequence)

    async def GetHead(self, request: pb.GetHeadRequest, context: Context) -> match_pb2.SignedHead:
        match_id = _match_id(request, _from_1("sequence", request))
        head = await self._reading.head(
            present_caller(),
            match_id,
            sequence=request.sequence if request.HasField("sequence") else None,
            min_sequence=request.min_sequence,
        )
        return match_pb2.SignedHead(
            match_id=match_id,
            sequence=head.last_seq,
            chain_hash=head.hash,
            ended=head.ended,
            key_id=head.key_id,
            signature=head.signature,
        )

    # The gateway's own.

    async def WatchMatch(
        self, request: pb.WatchMatchRequest, context: Context
    ) -> AsyncIterator[pb.WatchMatchResponse]:
        raise refused(Reason.NOT_ALLOWED)
        yield pb.WatchMatchResponse()  # never: but it makes a stream of it

    async def PlayMatch(
        self, request_iterator: AsyncIterator[pb.PlayMatchRequest], context: Context
    ) -> AsyncIterator[pb.PlayMatchResponse]:
        raise refused(Reason.NOT_ALLOWED)
        yield pb.PlayMatchResponse()  # never: but it makes a stream of it


def _match_id(request: Any, checks: Checks | None = None) -> MatchId:
    """Return whose match a read is of, if the request is in order by *checks* so far."""
    checks = checks or Checks()
    checks.uuid("match_id", request.match_id)
    if "min_sequence" in request.DESCRIPTOR.fields_by_name:
        checks.least("min_sequence", request.min_sequence, 0)
    checks.finish()
    return MatchId(request.match_id)


def _from_1(field: str, request: Any) -> Checks:
    """Return checks that have seen to an optional sequence."""
    checks = Checks()
    if request.HasField(field):
        checks.least(field, getattr(request, field), 1)
    return checks
