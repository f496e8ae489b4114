"""The RPC of what people have played."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from collections.abc import Mapping
from typing import Final

from libs.kernel.ids import is_uuid
from libs.wire.paging import cut_page, page_position
from libs.wire.requests import Checks
from libs.wire.words import numbers_by_word
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import requests
from services.lobby.edge import Context, Edge
from services.lobby.history import Outcome, Played
from services.lobby.wire import seat_message, time_message

_OUTCOMES: Final = numbers_by_word(room_pb2.PlayedMatch.Outcome)

assert set(_OUTCOMES) == set(Outcome), "every outcome has its number"


class HistoryRpcs(Edge):
    """What people have played."""

    async def ListMyMatches(
        self, request: pb.ListMyMatchesRequest, context: Context
    ) -> pb.ListMyMatchesResponse:
        checks = Checks()
        size = checks.page_size(request.page_size)
        before = page_position(request, checks, is_uuid) or None
        checks.finish()
        matches = await self._parts.history.of(requests.caller(), before=before, limit=size + 1)
        page, token = cut_page(request, matches, size, lambda played: played.match_id)
        people = {spec.player for played in page for spec in played.seats if spec.player}
        names = await self._parts.players.names(people)
        return pb.ListMyMatchesResponse(
            matches=[_message(played, names) for played in page], next_page_token=token
        )


def _message(played: Played, names: Mapping[str, str]) -> room_pb2.PlayedMatch:
    return room_pb2.PlayedMatch(
        match_id=played.match_id,
        room_id=played.room_id,
        rule_set=played.rule_set,
        seat=played.seat,
        seats=[seat_message(number, spec, names) for number, spec in enumerate(played.seats)],
        outcome=_OUTCOMES[played.outcome],
        place=played.place,
        start_time=time_message(played.started_ms),
        end_time=None if played.ended_ms is None else time_message(played.ended_ms),
    )
