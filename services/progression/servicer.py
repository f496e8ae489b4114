"""ProgressionService over gRPC: profiles and collection cards."""

from typing import Final

import grpc

from libs.chassis import identity
from libs.chassis.roles import AllowList, service
from libs.chassis.status import refused
from libs.kernel.ids import PlayerId, is_uuid
from libs.kernel.reasons import Reason
from libs.rules.rewards import LEVEL_MAX, experience_needed, level_of, rank_of
from libs.wire.paging import next_page_token, page_position
from libs.wire.requests import Checks
from opolyx.progression.v1 import profile_pb2, progression_service_pb2_grpc
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from services.progression.profiles import (
    BEFORE_ALL,
    Card,
    Granted,
    Profiles,
    Progress,
    is_place,
    place_of,
    position_of,
)

SERVICE: Final = pb.DESCRIPTOR.services_by_name["ProgressionService"]

BELIEVED: Final = ("gateway", "lobby")
"""The services that may call on behalf of others, and the only ones that may call."""

ALLOWED: Final = AllowList(
    {
        f"{SERVICE.full_name}/{method.name}": [service(name) for name in BELIEVED]
        for method in SERVICE.methods
    }
)


class ProgressionServicer(progression_service_pb2_grpc.ProgressionServiceServicer):
    """Shows what people have earned. Everybody may look at everybody."""

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    async def GetProfile(  # noqa: N802 - as the proto has it
        self,
        request: pb.GetProfileRequest,
        context: grpc.aio.ServicerContext[pb.GetProfileRequest, profile_pb2.Profile],  # noqa: ARG002
    ) -> profile_pb2.Profile:
        """Return somebody's profile."""
        checks = Checks()
        _check(checks, request)
        checks.finish()
        progress = await self._profiles.progress(_whose(request.player_id))
        _check_reached(request, progress.sequence)
        return _profile(progress)

    async def ListCards(  # noqa: N802 - as the proto has it
        self,
        request: pb.ListCardsRequest,
        context: grpc.aio.ServicerContext[pb.ListCardsRequest, pb.ListCardsResponse],  # noqa: ARG002
    ) -> pb.ListCardsResponse:
        """List somebody's cards."""
        checks = Checks()
        _check(checks, request)
        size = checks.page_size(request.page_size)
        position = page_position(request, checks, is_place)
        checks.finish()
        after = place_of(position) if position else BEFORE_ALL
        player_id = _whose(request.player_id)
        _check_reached(request, await self._profiles.sequence(player_id))
        # One more than the page holds tells whether there is another page.
        cards = await self._profiles.cards(player_id, after, size + 1)
        more = ""
        if len(cards) > size:
            more = next_page_token(request, position_of(cards[size - 1].place))
        return pb.ListCardsResponse(cards=map(_card, cards[:size]), next_page_token=more)


_Request = pb.GetProfileRequest | pb.ListCardsRequest


def _check(checks: Checks, request: _Request) -> None:
    if request.player_id:
        checks.uuid("player_id", request.player_id)
    checks.least("min_sequence", request.min_sequence, 0)


def _check_reached(request: _Request, sequence: int) -> None:
    if sequence < request.min_sequence:
        raise refused(Reason.STALE_SEQUENCE, asked=request.min_sequence, head=sequence)


def _whose(player_id: str) -> PlayerId:
    """Return who is meant: whoever is named, or else the caller."""
    found = player_id or identity.caller().player_id
    if not is_uuid(found):
        raise refused(Reason.PLAYER_NOT_FOUND)
    return PlayerId(found)


def _profile(progress: Progress) -> profile_pb2.Profile:
    level = level_of(progress.experience)
    return profile_pb2.Profile(
        player_id=progress.player_id,
        sequence=progress.sequence,
        experience=progress.experience,
        level=level,
        rank=rank_of(level),
        level_experience=experience_needed(level),
        next_level_experience=experience_needed(level + 1) if level < LEVEL_MAX else None,
        card_count=progress.card_count,
        recent_rewards=map(_reward, progress.recent),
    )


def _reward(granted: Granted) -> profile_pb2.Reward:
    return profile_pb2.Reward(
        match_id=granted.match_id,
        seat=granted.seat,
        experience=granted.experience,
        cards=map(_card, granted.cards),
        granted_ms=granted.granted_ms,
    )


def _card(card: Card) -> profile_pb2.CollectedCard:
    # A number that was stored is one of the enum's.
    rarity = record_pb.CollectionCard.Rarity.ValueType(card.rarity)
    return profile_pb2.CollectedCard(
        card=record_pb.CollectionCard(square=card.square, rarity=rarity),
        match_id=card.match_id,
        dropped_ms=card.dropped_ms,
    )
