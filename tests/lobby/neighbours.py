"""The neighbours of the lobby, as far as it needs them: an engine, the bot runner, progression."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NoReturn

import grpc

from libs.chassis.status import refused, status_of
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.bot.v1 import bot_service_pb2_grpc as bot_grpc
from opolyx.engine.v1 import shard_service_pb2 as shard_pb
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from opolyx.match.v1.match_pb2 import Match
from opolyx.progression.v1 import profile_pb2
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1 import progression_service_pb2_grpc as progression_grpc
from opolyx.record.v1 import event_pb2, stored_record_pb2

# ruff: noqa: ARG002, N802 - the signatures are gRPC's

Context = grpc.aio.ServicerContext[Any, Any]
Rarity = event_pb2.CollectionCard.Rarity


class Engine(match_grpc.MatchServiceServicer, shard_grpc.ShardServiceServicer):
    """Owns every match; remembers what it was asked for, in order."""

    def __init__(self) -> None:
        self.address = ""
        self.is_away = False
        self.says: Reason | None = None
        self.asked: list[match_pb.CreateMatchRequest] = []
        self.made: set[str] = set()
        self.records: dict[str, list[stored_record_pb2.StoredRecord]] = {}
        self.gate: asyncio.Event | None = None
        self.out: set[str] = set()
        self.is_over = False
        self.says_of_match: Reason | None = None
        self.admitted: list[tuple[str, str]] = []

    async def WatchShards(
        self, request: shard_pb.WatchShardsRequest, context: Context
    ) -> AsyncIterator[shard_pb.WatchShardsResponse]:
        engine = shard_pb.WatchShardsResponse.Engine(
            instance="one", address=self.address, shards=range(SHARDS)
        )
        while True:
            yield shard_pb.WatchShardsResponse(epoch=1, engines=[engine])
            await asyncio.sleep(0.5)

    async def CreateMatch(
        self, request: match_pb.CreateMatchRequest, context: Context
    ) -> match_pb.CreateMatchResponse:
        if self.is_away:
            await _away(context)
        self.asked.append(request)
        if self.gate is not None:
            await self.gate.wait()
        if self.says is not None:
            await context.abort_with_status(status_of(refused(self.says)))
        self.made.add(request.match_id)
        return match_pb.CreateMatchResponse(sequence=1, chain_hash=bytes(32))

    async def GetMatch(self, request: match_pb.GetMatchRequest, context: Context) -> Match:
        """Tell who is out of a match that was made here; all of them, once it is over."""
        if self.is_away:
            await _away(context)
        made = next((each for each in self.asked if each.match_id == request.match_id), None)
        says = self.says_of_match or (Reason.MATCH_NOT_FOUND if made is None else None)
        if says is not None:
            await context.abort_with_status(status_of(refused(says)))
        assert made is not None
        seats = [
            Match.Seat(seat=number, spec=spec, out=spec.player in self.out)
            for number, spec in enumerate(made.seats)
        ]
        phase = Match.PHASE_ENDED if self.is_over else Match.PHASE_ROLL
        return Match(match_id=made.match_id, phase=phase, seats=seats)

    async def AdmitGuest(
        self, request: match_pb.AdmitGuestRequest, context: Context
    ) -> match_pb.AdmitGuestResponse:
        if self.is_away:
            await _away(context)
        is_there = request.match_id in self.made
        says = self.says_of_match or (None if is_there else Reason.MATCH_NOT_FOUND)
        if says is not None:
            await context.abort_with_status(status_of(refused(says)))
        self.admitted.append((request.match_id, request.player_id))
        return match_pb.AdmitGuestResponse()

    async def ReadEvents(
        self, request: match_pb.ReadEventsRequest, context: Context
    ) -> match_pb.ReadEventsResponse:
        held = self.records.get(request.match_id, [])
        wanted = [each for each in held if each.last_seq > request.after_sequence]
        return match_pb.ReadEventsResponse(records=wanted)


class Bots(bot_grpc.BotServiceServicer):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.is_away = False
        self.told: list[bot_pb.SeatBotsRequest] = []

    async def SeatBots(
        self, request: bot_pb.SeatBotsRequest, context: Context
    ) -> bot_pb.SeatBotsResponse:
        if self.is_away:
            await _away(context)
        self.told.append(request)
        return bot_pb.SeatBotsResponse()


class Progression(progression_grpc.ProgressionServiceServicer):
    """Knows the cards that it is given, by player, and tells two a page."""

    def __init__(self) -> None:
        self.is_away = False
        self.cards: dict[str, list[tuple[int, Rarity.ValueType]]] = {}
        self.asked: list[str] = []

    async def ListCards(
        self, request: progression_pb.ListCardsRequest, context: Context
    ) -> progression_pb.ListCardsResponse:
        if self.is_away:
            await _away(context)
        self.asked.append(request.player_id)
        cards = self.cards.get(request.player_id, [])
        place = int(request.page_token or 0)
        return progression_pb.ListCardsResponse(
            cards=[
                profile_pb2.CollectedCard(
                    card=event_pb2.CollectionCard(square=square, rarity=rarity)
                )
                for square, rarity in cards[place : place + 2]
            ],
            next_page_token=str(place + 2) if place + 2 < len(cards) else "",
        )


async def _away(context: Context) -> NoReturn:
    """Answer as a connection that cannot be made does."""
    await context.abort(grpc.StatusCode.UNAVAILABLE)
    raise AssertionError
