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
        self.records: dict[str, list[stored_record_pb2.StoredRecord]] = {}
        self.gate: asyncio.Event | None = None

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
        return match_pb.CreateMatchResponse(sequence=1, chain_hash=bytes(32))

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
