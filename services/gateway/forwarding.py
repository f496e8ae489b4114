"""The public services of others, passed on to them as whoever calls."""

from __future__ import annotations

import grpc

from libs.chassis.channels import Channel
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.bot.v1 import bot_service_pb2_grpc as bot_grpc
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as lobby_grpc
from opolyx.lobby.v1 import room_pb2
from opolyx.progression.v1 import profile_pb2
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1 import progression_service_pb2_grpc as progression_grpc
from services.gateway.asking import Asking, left_s

# ruff: noqa: N802, D102 - grpc names the methods, and the proto tells what they do


class LobbyServicer(lobby_grpc.LobbyServiceServicer):
    """`opolyx.lobby.v1.LobbyService`, at the lobby."""

    def __init__(self, asking: Asking, lobby: Channel) -> None:
        self._asking = asking
        self._stub = lobby_grpc.LobbyServiceStub(lobby)

    async def CreateRoom(
        self,
        request: lobby_pb.CreateRoomRequest,
        context: grpc.aio.ServicerContext[lobby_pb.CreateRoomRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.CreateRoom, request, left_s(context))

    async def ListRooms(
        self,
        request: lobby_pb.ListRoomsRequest,
        context: grpc.aio.ServicerContext[lobby_pb.ListRoomsRequest, lobby_pb.ListRoomsResponse],
    ) -> lobby_pb.ListRoomsResponse:
        return await self._asking.peer(self._stub.ListRooms, request, left_s(context))

    async def GetRoom(
        self,
        request: lobby_pb.GetRoomRequest,
        context: grpc.aio.ServicerContext[lobby_pb.GetRoomRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.GetRoom, request, left_s(context))

    async def JoinRoom(
        self,
        request: lobby_pb.JoinRoomRequest,
        context: grpc.aio.ServicerContext[lobby_pb.JoinRoomRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.JoinRoom, request, left_s(context))

    async def LeaveRoom(
        self,
        request: lobby_pb.LeaveRoomRequest,
        context: grpc.aio.ServicerContext[lobby_pb.LeaveRoomRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.LeaveRoom, request, left_s(context))

    async def AddBot(
        self,
        request: lobby_pb.AddBotRequest,
        context: grpc.aio.ServicerContext[lobby_pb.AddBotRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.AddBot, request, left_s(context))

    async def SetReady(
        self,
        request: lobby_pb.SetReadyRequest,
        context: grpc.aio.ServicerContext[lobby_pb.SetReadyRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.SetReady, request, left_s(context))

    async def StartMatch(
        self,
        request: lobby_pb.StartMatchRequest,
        context: grpc.aio.ServicerContext[lobby_pb.StartMatchRequest, room_pb2.Room],
    ) -> room_pb2.Room:
        return await self._asking.peer(self._stub.StartMatch, request, left_s(context))

    async def ResolvePlayer(self, *_: object) -> room_pb2.Player:
        raise refused(Reason.NOT_ALLOWED)  # for the gateway's own calls


class ProgressionServicer(progression_grpc.ProgressionServiceServicer):
    """`opolyx.progression.v1.ProgressionService`, at progression."""

    def __init__(self, asking: Asking, progression: Channel) -> None:
        self._asking = asking
        self._stub = progression_grpc.ProgressionServiceStub(progression)

    async def GetProfile(
        self,
        request: progression_pb.GetProfileRequest,
        context: grpc.aio.ServicerContext[progression_pb.GetProfileRequest, profile_pb2.Profile],
    ) -> profile_pb2.Profile:
        return await self._asking.peer(self._stub.GetProfile, request, left_s(context))

    async def ListCards(
        self,
        request: progression_pb.ListCardsRequest,
        context: grpc.aio.ServicerContext[
            progression_pb.ListCardsRequest, progression_pb.ListCardsResponse
        ],
    ) -> progression_pb.ListCardsResponse:
        return await self._asking.peer(self._stub.ListCards, request, left_s(context))


class BotServicer(bot_grpc.BotServiceServicer):
    """`opolyx.bot.v1.BotService`, at the bot runner."""

    def __init__(self, asking: Asking, bot_runner: Channel) -> None:
        self._asking = asking
        self._stub = bot_grpc.BotServiceStub(bot_runner)

    async def ListBots(
        self,
        request: bot_pb.ListBotsRequest,
        context: grpc.aio.ServicerContext[bot_pb.ListBotsRequest, bot_pb.ListBotsResponse],
    ) -> bot_pb.ListBotsResponse:
        return await self._asking.peer(self._stub.ListBots, request, left_s(context))

    async def SeatBots(self, *_: object) -> bot_pb.SeatBotsResponse:
        raise refused(Reason.NOT_ALLOWED)  # for the lobby's calls, which come to the bot runner
