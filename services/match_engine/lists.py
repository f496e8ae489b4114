"""The lists of `opolyx.match.v1.MatchService`, and what is the same for all matches."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from typing import Any

import grpc

from libs.kernel.ids import MatchId, is_uuid
from libs.rules.rule_sets import BOARDS, RULE_SETS
from libs.wire.paging import next_page_token, page_of, page_position
from libs.wire.requests import Checks, MalformedError, Violation
from libs.wire.rule_sets import board_message, rule_set_message
from opolyx.match.v1 import match_pb2, rule_set_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.callers import present_caller
from services.match_engine.listing import Listing, check_status
from services.match_engine.signing import SigningKeys

Context = grpc.aio.ServicerContext[Any, Any]


class Lists:
    """A part of `MatchServicer`: what any engine answers alike."""

    def __init__(self, listing: Listing, keys: SigningKeys) -> None:
        """List matches by *listing*, and *keys*."""
        self._listing = listing
        self._keys = keys

    async def ListMatches(
        self, request: pb.ListMatchesRequest, context: Context
    ) -> pb.ListMatchesResponse:
        checks = Checks()
        limit = checks.page_size(request.page_size)
        check_status(checks, request.status)
        position = page_position(request, checks, is_uuid)
        checks.finish()
        found = await self._listing.visible(
            present_caller(),
            request.status,
            mine=request.mine,
            before=MatchId(position) if position else None,
            limit=limit,
        )
        token = next_page_token(request, found.next_before) if found.next_before else ""
        summaries = [each.summary for each in found.matches]
        return pb.ListMatchesResponse(matches=summaries, next_page_token=token)

    async def ListRuleSets(
        self, request: pb.ListRuleSetsRequest, context: Context
    ) -> pb.ListRuleSetsResponse:
        page, token = page_of(request, list(RULE_SETS.values()))
        return pb.ListRuleSetsResponse(
            rule_sets=[rule_set_message(rules) for rules in page],
            next_page_token=token,
        )

    async def GetRuleSet(
        self, request: pb.GetRuleSetRequest, context: Context
    ) -> rule_set_pb2.RuleSet:
        rules = RULE_SETS.get(request.rule_set_id)
        if rules is None:
            raise MalformedError([Violation("rule_set_id", "is no rule set that is known here")])
        return rule_set_message(rules)

    async def GetBoard(self, request: pb.GetBoardRequest, context: Context) -> rule_set_pb2.Board:
        board = BOARDS.get(request.board_id)
        if board is None:
            raise MalformedError([Violation("board_id", "is no board that is known here")])
        return board_message(board)

    async def ListKeys(self, request: pb.ListKeysRequest, context: Context) -> pb.ListKeysResponse:
        page, token = page_of(request, self._keys.public())
        return pb.ListKeysResponse(
            keys=[match_pb2.Key(key_id=name, public_key=public) for name, public in page],
            next_page_token=token,
        )
