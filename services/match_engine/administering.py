"""`opolyx.admin.v1.AdminService` at an engine: what operators see of matches, and do to them."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import grpc

from libs.chassis.status import refused
from libs.kernel.ids import CommandId, MatchId, is_uuid
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.store.directory import AdminCall, EngineStore, NewCall
from libs.wire.paging import cut_page, is_number, next_page_token, page_position
from libs.wire.request_hash import operator_actor
from libs.wire.requests import Checks
from opolyx.admin.v1 import admin_service_pb2 as pb
from opolyx.admin.v1 import admin_service_pb2_grpc as pb_grpc
from services.match_engine.callers import Person, present_caller
from services.match_engine.deciding import Decider
from services.match_engine.journal import Journal
from services.match_engine.listing import Listing, check_status, of_status
from services.match_engine.new_matches import TEXT_MAX

Context = grpc.aio.ServicerContext[Any, Any]
Asked = pb.FreezeMatchRequest | pb.ResumeMatchRequest | pb.AbortMatchRequest
"""A command of an operator's about one match."""

REASON_MAX: Final = 200
"""How long a reason may be, in characters."""


class AdminServicer(pb_grpc.AdminServiceServicer):
    """Serves operators. Lists are the same at any engine; all else is for the match's owner."""

    def __init__(
        self, decider: Decider, store: EngineStore, check_owned: Callable[[MatchId], None]
    ) -> None:
        """Act by *decider*; *check_owned* goes on if a match is ours, see `Matches`."""
        self._decider = decider
        self._store = store
        self._check_owned = check_owned
        self._listing = Listing(store)
        self._journal = Journal(store)

    # What is done to one match.

    async def FreezeMatch(
        self, request: pb.FreezeMatchRequest, context: Context
    ) -> pb.FreezeMatchResponse:
        return pb.FreezeMatchResponse(done=await self._do(request, "FreezeMatch", c.Freeze))

    async def ResumeMatch(
        self, request: pb.ResumeMatchRequest, context: Context
    ) -> pb.ResumeMatchResponse:
        return pb.ResumeMatchResponse(done=await self._do(request, "ResumeMatch", c.Resume))

    async def AbortMatch(
        self, request: pb.AbortMatchRequest, context: Context
    ) -> pb.AbortMatchResponse:
        return pb.AbortMatchResponse(done=await self._do(request, "AbortMatch", c.Abort))

    async def ReleaseMatch(
        self, request: pb.ReleaseMatchRequest, context: Context
    ) -> pb.ReleaseMatchResponse:
        operator_id, checks = _operator(), Checks()
        match_id = self._match_id(request, checks)
        asked = NewCall(operator_id, "ReleaseMatch", match_id, None, request.reason)
        sequence = await self._journal.carry_out(asked, lambda: self._decider.release(match_id))
        return pb.ReleaseMatchResponse(sequence=sequence)

    async def _do(
        self, request: Asked, method: str, command: Callable[[str, str], c.SystemCommand]
    ) -> pb.Done:
        """Have a command decided, as one of the operator's who asks for it."""
        operator_id, checks = _operator(), Checks()
        checks.command_id("command_id", request.command_id)
        match_id, command_id = self._match_id(request, checks), CommandId(request.command_id)
        asked = NewCall(operator_id, method, match_id, command_id, request.reason)
        given = command(request.reason, operator_actor(operator_id))
        accepted = await self._journal.carry_out(
            asked, lambda: self._decider.submit(match_id, command_id, lambda _: given)
        )
        return pb.Done(
            sequence=accepted.sequence, chain_hash=accepted.chain_hash, at_ms=accepted.at_ms
        )

    def _match_id(self, request: Asked | pb.ReleaseMatchRequest, checks: Checks) -> MatchId:
        """Return whose match it is about, if all is in order and the match is ours."""
        checks.uuid("match_id", request.match_id)
        checks.text("reason", request.reason, size_max=REASON_MAX)
        checks.storable("reason", request.reason)
        checks.finish()
        match_id = MatchId(request.match_id)
        # Not written down: whoever owns it will be asked next.
        self._check_owned(match_id)
        return match_id

    # Lists.

    async def FindMatches(
        self, request: pb.FindMatchesRequest, context: Context
    ) -> pb.FindMatchesResponse:
        operator_id, checks = _operator(), Checks()
        limit = checks.page_size(request.page_size)
        _check_ids(checks, match_id=request.match_id, player_id=request.player_id)
        if len(request.rule_set) > TEXT_MAX:
            checks.text("rule_set", request.rule_set, size_max=TEXT_MAX)
        checks.storable("rule_set", request.rule_set)
        check_status(checks, request.status)
        position = page_position(request, checks, is_uuid)
        checks.finish()
        wanted = replace(
            of_status(request.status),
            match_id=MatchId(request.match_id) if request.match_id else None,
            player=request.player_id or None,
            rule_set=request.rule_set or None,
        )
        before = MatchId(position) if position else None
        asked = NewCall(operator_id, "FindMatches", wanted.match_id, None, "")
        found = await self._journal.look(
            asked, lambda: self._listing.found(wanted, before=before, limit=limit)
        )
        token = next_page_token(request, found.next_before) if found.next_before else ""
        return pb.FindMatchesResponse(matches=found.matches, next_page_token=token)

    async def ListQuarantinedMatches(
        self, request: pb.ListQuarantinedMatchesRequest, context: Context
    ) -> pb.ListQuarantinedMatchesResponse:
        operator_id, checks = _operator(), Checks()
        limit = checks.page_size(request.page_size)
        position = page_position(request, checks, is_uuid)
        checks.finish()
        after = MatchId(position) if position else None
        asked = NewCall(operator_id, "ListQuarantinedMatches", None, None, "")
        found = await self._journal.look(asked, lambda: self._store.quarantined(after, limit + 1))
        page, token = cut_page(request, found, limit, lambda held: held.match_id)
        return pb.ListQuarantinedMatchesResponse(
            matches=[
                pb.QuarantinedMatch(match_id=match_id, cause=cause, sequence=seq, since_ms=since_ms)
                for match_id, cause, seq, since_ms in page
            ],
            next_page_token=token,
        )

    async def ListAdminCalls(
        self, request: pb.ListAdminCallsRequest, context: Context
    ) -> pb.ListAdminCallsResponse:
        operator_id, checks = _operator(), Checks()
        limit = checks.page_size(request.page_size)
        _check_ids(checks, match_id=request.match_id, operator_id=request.operator_id)
        position = page_position(request, checks, is_number)
        checks.finish()
        about = MatchId(request.match_id) if request.match_id else None
        asked = NewCall(operator_id, "ListAdminCalls", about, None, "")
        found = await self._journal.look(
            asked,
            lambda: self._store.admin_calls(
                match_id=about,
                operator_id=request.operator_id or None,
                before=int(position) if position else None,
                limit=limit + 1,
            ),
        )
        page, token = cut_page(request, found, limit, lambda call: str(call.number))
        return pb.ListAdminCallsResponse(calls=map(_call_message, page), next_page_token=token)


def _operator() -> str:
    """Return the player id of the operator who calls.

    Raises:
        RefusedError: NOT_ALLOWED, it is none, whatever the gateway thinks.

    """
    caller = present_caller()
    if not isinstance(caller, Person) or not caller.is_operator or not is_uuid(caller.player_id):
        raise refused(Reason.NOT_ALLOWED)
    return caller.player_id


def _check_ids(checks: Checks, **ids: str) -> None:
    """Expect ids, by the names of their fields, where there are any."""
    for field, value in ids.items():
        if value:
            checks.uuid(field, value)


def _call_message(call: AdminCall) -> pb.AdminCall:
    asked = call.asked
    return pb.AdminCall(
        number=call.number,
        operator_id=asked.operator_id,
        method=asked.method,
        match_id=asked.match_id or "",
        reason=asked.reason,
        at_ms=call.at_ms,
        outcome=call.outcome,
    )
