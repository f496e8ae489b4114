"""A lobby on a real database and real servers, and people who use it."""

import asyncio
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import grpc

from libs.chassis.channels import on_behalf, open_channel
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings, StoreSettings
from libs.chassis.settings import SecretUrl
from libs.chassis.status import Answer
from libs.eventlog.ports import Delivery, Entry
from libs.kernel.clock import ManualClock
from libs.kernel.ids import SeededIds
from opolyx.bot.v1 import bot_service_pb2_grpc as bot_grpc
from opolyx.engine.v1 import caller_pb2
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from opolyx.lobby.v1.room_pb2 import Invite, Player, Room
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from opolyx.progression.v1 import progression_service_pb2_grpc as progression_grpc
from services.lobby.bootstrap import service
from services.lobby.handlers import Handlers
from services.lobby.neighbours import EngineMatches, ProgressionCollections, RunnerBots
from services.lobby.ports import Rooms
from services.lobby.settings import LobbySection, LobbySettings
from services.lobby.starting import Maker, Starter
from tests.chassis.answers import answer
from tests.lobby.neighbours import Bots, Engine, Progression

# Quoted, since it is there for types alone.
Stub: TypeAlias = "pb_grpc.LobbyServiceAsyncStub"

NOW_MS = 1_800_000_000_000

IDLE_S = 900
"""After how long a waiting room closes."""

PLAIN = "opolyx.classic@1"
"""A rule set in which collection cards do not matter."""

WITH_CARDS = "opolyx.classic@2"

_IDS = SeededIds(b"lobby tests")
_NUMBERS = count(1)


def new_id() -> str:
    return _IDS.command_id(NOW_MS + next(_NUMBERS))


class Rig:
    """One or more lobbies on one database, and their neighbours."""

    def __init__(self, url: str, folder: Path, stack: AsyncExitStack) -> None:
        self.url = url
        self.clock = ManualClock(NOW_MS)
        # What is not asked for here answers UNIMPLEMENTED, as grpc's own servicers do.
        self.engine = Engine()  # type: ignore[abstract]
        self.bots = Bots()  # type: ignore[abstract]
        self.progression = Progression()  # type: ignore[abstract]
        self._folder = folder
        self._stack = stack
        self._lobbies: list[AsyncExitStack] = []
        self.readers = 0

    async def open(self) -> None:
        self.settings = LobbySettings(
            data_folder=self._folder,
            store=StoreSettings(url=SecretUrl(self.url)),
            # Whoever starts a match without an engine waits for a moment only.
            lobby=LobbySection(
                port=0,
                start_reply_s=0.5,
                start_again_s=0.1,
                room_idle_s=IDLE_S,
                room_idle_look_s=0.1,
                watch_look_s=0.05,
            ),
            peers=await self._serve_neighbours(),
        )
        self.foundation = Foundation(self.settings, self.clock)
        self.stub = await self.open_lobby()

    async def open_lobby(self, **section: Any) -> Stub:
        """Open a lobby, with settings of its own, and return a stub by which the gateway calls."""
        stack = await self._stack.enter_async_context(AsyncExitStack())
        own = self.settings.lobby.model_copy(update=section)
        lobby = service(self.settings.model_copy(update={"lobby": own}), self.foundation)
        server: Any = await stack.enter_async_context(lobby.open())
        self._lobbies.append(stack)
        return await self.stub_of(server.address)

    async def stub_of(self, address: str, name: str = "gateway") -> Stub:
        self.address = address
        channel = self.foundation.channel(name, address, retries=False)
        return pb_grpc.LobbyServiceStub(await self._stack.enter_async_context(channel))

    async def stub_without_token(self) -> Stub:
        channel = open_channel(self.address, retries=False)
        return pb_grpc.LobbyServiceStub(await self._stack.enter_async_context(channel))

    async def close_lobbies(self) -> None:
        while self._lobbies:
            await self._lobbies.pop().aclose()

    async def starter(self, rooms: Rooms) -> Starter:
        """Return what starts matches of *rooms*, with this rig's neighbours."""
        address = self.settings.peers.progression
        channel = await self._stack.enter_async_context(self.foundation.channel("lobby", address))
        matches = await self._matches()
        handlers = Handlers(rooms, matches, self.clock, lambda: None)
        maker = Maker(rooms, handlers, matches, RunnerBots(channel), again_s=1)
        return Starter(rooms, handlers, maker, ProgressionCollections(channel), reply_s=1)

    async def handlers(self, rooms: Rooms) -> Handlers:
        """Return what changes *rooms*, with this rig's engine."""
        return Handlers(rooms, await self._matches(), self.clock, lambda: None)

    async def _matches(self) -> EngineMatches:
        engines = await self._stack.enter_async_context(self.foundation.engines("lobby"))
        return EngineMatches(engines)

    async def close_neighbours(self) -> None:
        await self._neighbours.stop(None)

    async def person(self, name: str, stub: "Stub | None" = None) -> "Person":
        stub = stub or self.stub
        request = pb.ResolvePlayerRequest(issuer="tests", subject=name, display_name=name)
        player = await stub.ResolvePlayer(request)
        return Person(stub, player.player_id)

    async def people(self, *names: str) -> list["Person"]:
        return [await self.person(name) for name in names]

    async def append(self, *entries: Entry) -> None:
        async with self.foundation.open_log() as log:
            await log.append(entries)

    async def published(self, topic: str, group: str = "tests") -> list[Delivery]:
        """Return what is in a topic and was not returned before."""
        async with self.foundation.open_log() as log, log.subscribe([topic], group=group) as taken:
            found = list(await taken.fetch(wait_s=0))
            await taken.commit(found)
            return found

    async def _serve_neighbours(self) -> PeerSettings:
        server = grpc.aio.server()
        match_grpc.add_MatchServiceServicer_to_server(self.engine, server)
        shard_grpc.add_ShardServiceServicer_to_server(self.engine, server)
        bot_grpc.add_BotServiceServicer_to_server(self.bots, server)
        progression_grpc.add_ProgressionServiceServicer_to_server(self.progression, server)
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        self._stack.push_async_callback(server.stop, None)
        self._neighbours = server
        self.engine.address = address
        return PeerSettings(match_engines=address, bot_runner=address, progression=address)


class Person:
    """Somebody who calls the lobby through the gateway, each time under a new id if not told."""

    def __init__(self, stub: Stub, player_id: str) -> None:
        self.stub = stub
        self.player_id = player_id
        caller = caller_pb2.Caller(player_id=player_id)
        self.metadata = on_behalf(caller.SerializeToString())

    def through(self, stub: Stub) -> "Person":
        """Return the same person at another replica."""
        return Person(stub, self.player_id)

    async def create(self, rule_set: str = PLAIN, seat_count: int = 4, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.CreateRoomRequest(rule_set=rule_set, seat_count=seat_count, **fields)
        return await self.stub.CreateRoom(request, metadata=self.metadata)

    async def join(self, room_id: str, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.JoinRoomRequest(room_id=room_id, **fields)
        return await self.stub.JoinRoom(request, metadata=self.metadata)

    async def leave(self, room_id: str, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.LeaveRoomRequest(room_id=room_id, **fields)
        return await self.stub.LeaveRoom(request, metadata=self.metadata)

    async def add_bot(self, room_id: str, strength: str = "steady", **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.AddBotRequest(room_id=room_id, strength=strength, **fields)
        return await self.stub.AddBot(request, metadata=self.metadata)

    async def set_ready(self, room_id: str, *, ready: bool = True, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.SetReadyRequest(room_id=room_id, ready=ready, **fields)
        return await self.stub.SetReady(request, metadata=self.metadata)

    async def take_seat(self, room_id: str, seat: int, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.TakeSeatRequest(room_id=room_id, seat=seat, **fields)
        return await self.stub.TakeSeat(request, metadata=self.metadata)

    async def remove_bot(self, room_id: str, seat: int, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.RemoveBotRequest(room_id=room_id, seat=seat, **fields)
        return await self.stub.RemoveBot(request, metadata=self.metadata)

    async def kick(self, room_id: str, seat: int, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.KickSeatRequest(room_id=room_id, seat=seat, **fields)
        return await self.stub.KickSeat(request, metadata=self.metadata)

    async def hand_over(self, room_id: str, seat: int, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.HandOverRoomRequest(room_id=room_id, seat=seat, **fields)
        return await self.stub.HandOverRoom(request, metadata=self.metadata)

    async def rematch(self, room_id: str, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.RematchRequest(room_id=room_id, **fields)
        return await self.stub.Rematch(request, metadata=self.metadata)

    async def invite(self, room_id: str, **fields: Any) -> Invite:
        fields.setdefault("command_id", new_id())
        request = pb.CreateInviteRequest(room_id=room_id, **fields)
        return await self.stub.CreateInvite(request, metadata=self.metadata)

    async def accept(self, code: str, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.AcceptInviteRequest(code=code, **fields)
        return await self.stub.AcceptInvite(request, metadata=self.metadata)

    async def start(self, room_id: str, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.StartMatchRequest(room_id=room_id, **fields)
        return await self.stub.StartMatch(request, metadata=self.metadata)

    async def quick_match(self, rule_set: str = PLAIN, seat_count: int = 4, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.QuickMatchRequest(rule_set=rule_set, seat_count=seat_count, **fields)
        return await self.stub.QuickMatch(request, metadata=self.metadata)

    async def cancel(self, **fields: Any) -> Room:
        fields.setdefault("command_id", new_id())
        request = pb.CancelQuickMatchRequest(**fields)
        return await self.stub.CancelQuickMatch(request, metadata=self.metadata)

    def watch_rooms(self, rule_set: str = "") -> "Told":
        request = pb.WatchRoomsRequest(rule_set=rule_set)
        return Told(self.stub.WatchRooms(request, metadata=self.metadata))

    def watch(self, room_id: str) -> "Told":
        request = pb.WatchRoomRequest(room_id=room_id)
        return Told(self.stub.WatchRoom(request, metadata=self.metadata))

    async def get(self, room_id: str, **fields: Any) -> Room:
        request = pb.GetRoomRequest(room_id=room_id, **fields)
        return await self.stub.GetRoom(request, metadata=self.metadata)

    async def set_name(self, name: str, **fields: Any) -> Player:
        fields.setdefault("command_id", new_id())
        request = pb.SetDisplayNameRequest(display_name=name, **fields)
        return await self.stub.SetDisplayName(request, metadata=self.metadata)

    async def matches(self, **fields: Any) -> pb.ListMyMatchesResponse:
        request = pb.ListMyMatchesRequest(**fields)
        return await self.stub.ListMyMatches(request, metadata=self.metadata)

    async def player(self, player_id: str = "") -> Player:
        request = pb.GetPlayerRequest(player_id=player_id)
        return await self.stub.GetPlayer(request, metadata=self.metadata)


class Told:
    """A stream of what happens in rooms."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def next(self) -> Any:
        """Return the next piece of news; None at the end."""
        while True:
            async with asyncio.timeout(20):
                response = await self.call.read()
            if response is grpc.aio.EOF:
                return None
            kind = response.WhichOneof("response")
            if kind != "server_time_ms":
                return getattr(response, kind)

    async def listed(self) -> list[str]:
        """Return the ids of all rooms, which must be what is told next."""
        return [room.room_id for room in (await self.next()).rooms]

    async def end(self) -> Answer:
        """Return how it ends, whatever is told before."""

        async def read_on() -> None:
            while await self.next() is not None:
                pass

        return await answer(read_on())


def occupants(room: Room) -> list[str]:
    """Return who sits where: a player id, a bot's strength, or nothing."""
    return [seat.player.player_id or seat.bot for seat in room.seats]
