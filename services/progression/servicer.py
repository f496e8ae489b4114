"""ProgressionService over gRPC: profiles, collection cards, the leaderboard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, TypeAlias

import grpc

from libs.chassis import identity
from libs.chassis.roles import AllowList, service
from libs.chassis.status import refused
from libs.kernel.clock import Clock
from libs.kernel.ids import PlayerId, is_uuid
from libs.kernel.reasons import Reason
from libs.wire.paging import cut_page, page_position
from libs.wire.requests import Checks
from opolyx.progression.v1 import profile_pb2, progression_service_pb2_grpc
from opolyx.progression.v1 import progression_service_pb2 as pb
from services.progression import ranking
from services.progression.profiles import (
    BEFORE_ALL,
    Profiles,
    is_place,
    place_of,
    position_of,
)
from services.progression.ranking import TOP, Leaderboard, Standpoint
from services.progression.watching import Watcher
from services.progression.wire import card_message, entry_message, profile_message

# ruff: noqa: ARG002, N802 - the signatures are gRPC's

SERVICE: Final = pb.DESCRIPTOR.services_by_name["ProgressionService"]

BELIEVED: Final = ("gateway", "lobby")
"""The services that may call on behalf of others, and the only ones that may call."""

ALLOWED: Final = AllowList(
    {
        f"{SERVICE.full_name}/{method.name}": [service(name) for name in BELIEVED]
        for method in SERVICE.methods
    }
)


SELF: Final = "self"
"""What a request says for the caller where it names a player."""

# Quoted, since grpc's context takes parameters in its stubs alone.
Context: TypeAlias = "grpc.aio.ServicerContext[object, object]"


class ProgressionServicer(progression_service_pb2_grpc.ProgressionServiceServicer):
    """Shows what people have earned. Everybody may look at everybody, but not at their matches."""

    def __init__(
        self,
        profiles: Profiles,
        leaderboard: Leaderboard,
        watcher: Watcher,
        clock: Clock,
        *,
        heartbeat_s: float,
    ) -> None:
        """Show what is in the store; a stream is quiet for *heartbeat_s* at most."""
        self._profiles = profiles
        self._leaderboard = leaderboard
        self._watcher = watcher
        self._clock = clock
        self._heartbeat_s = heartbeat_s

    async def GetProfile(
        self, request: pb.GetProfileRequest, context: Context
    ) -> profile_pb2.Profile:
        """Return somebody's profile."""
        checks = Checks()
        _check(checks, request)
        checks.finish()
        player_id = _whose(request.player_id)
        progress = await self._profiles.progress(player_id)
        _check_reached(request, progress.sequence)
        return profile_message(progress, with_matches=_may_know_matches(player_id))

    async def WatchProfile(
        self, request: pb.WatchProfileRequest, context: Context
    ) -> AsyncIterator[pb.WatchProfileResponse]:
        """Tell somebody's profile, and again when it has changed: the newest that there is."""
        checks = Checks()
        _check_player(checks, request.player_id)
        checks.finish()
        player_id = _whose(request.player_id)
        with_matches = _may_know_matches(player_id)
        with self._watcher.watching(player_id) as watched:
            while True:
                progress = await self._profiles.progress(player_id)
                profile = profile_message(progress, with_matches=with_matches)
                yield pb.WatchProfileResponse(profile=profile)
                while not await watched.is_beyond(progress.sequence, within_s=self._heartbeat_s):
                    yield pb.WatchProfileResponse(server_time_ms=self._clock.now_ms())

    async def ListCards(
        self, request: pb.ListCardsRequest, context: Context
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
        cards = await self._profiles.cards(player_id, after, size + 1)
        page, more = cut_page(request, cards, size, lambda card: position_of(card.place))
        with_match = _may_know_matches(player_id)
        shown = (card_message(card, with_match=with_match) for card in page)
        return pb.ListCardsResponse(cards=shown, next_page_token=more)

    async def GetLeaderboard(
        self, request: pb.GetLeaderboardRequest, context: Context
    ) -> pb.GetLeaderboardResponse:
        """List people by their experience."""
        checks = Checks()
        size = checks.page_size(request.page_size)
        if request.around != SELF:
            _check_player(checks, request.around, "around")
        position = page_position(request, checks, ranking.is_standpoint)
        checks.finish()
        if position:
            after = ranking.standpoint_of(position)
        else:
            after = await self._first(request.around, size)
        entries = await self._leaderboard.page(after, size + 1)
        page, more = cut_page(request, entries, size, lambda each: ranking.position_of(each.point))
        shown = map(entry_message, page)
        return pb.GetLeaderboardResponse(entries=shown, next_page_token=more)

    async def _first(self, around: str, size: int) -> Standpoint:
        """Return the point behind which the first page begins, with somebody in its middle."""
        if not around:
            return TOP
        player_id = _whose("" if around == SELF else around)
        point = await self._leaderboard.before(player_id, (size - 1) // 2)
        if point is None:
            raise refused(Reason.PLAYER_NOT_FOUND)
        return point


_Request = pb.GetProfileRequest | pb.ListCardsRequest


def _check(checks: Checks, request: _Request) -> None:
    _check_player(checks, request.player_id)
    checks.least("min_sequence", request.min_sequence, 0)


def _check_player(checks: Checks, player_id: str, field: str = "player_id") -> None:
    if player_id:
        checks.uuid(field, player_id)


def _check_reached(request: _Request, sequence: int) -> None:
    if sequence < request.min_sequence:
        raise refused(Reason.STALE_SEQUENCE, asked=request.min_sequence, head=sequence)


def _whose(player_id: str) -> PlayerId:
    """Return who is meant: whoever is named, or else the caller."""
    found = player_id or identity.caller().player_id
    if not is_uuid(found):
        raise refused(Reason.PLAYER_NOT_FOUND)
    return PlayerId(found)


def _may_know_matches(player_id: PlayerId) -> bool:
    """Tell whether the caller may know which matches somebody has played.

    They may be private, and with whom somebody played is seen where two had a reward of one match.
    """
    behalf = identity.caller().on_behalf
    return behalf is None or bool(behalf.operator_id) or behalf.player_id == player_id
