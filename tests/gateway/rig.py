"""A gateway between fake engines, a fake lobby and others, and people who call it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from libs.bots.strengths import STRENGTHS
from libs.chassis.channels import on_behalf
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings
from libs.chassis.status import refused, status_of
from libs.kernel.clock import SystemClock
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.views import View
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.bot.v1 import bot_service_pb2_grpc as bot_grpc
from opolyx.engine.v1 import caller_pb2
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as lobby_grpc
from opolyx.lobby.v1 import room_pb2
from opolyx.progression.v1 import profile_pb2
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1 import progression_service_pb2_grpc as progression_grpc
from services.gateway.bootstrap import service
from services.gateway.settings import GatewaySection, GatewaySettings
from tests.gateway.engine import FakeEngine, serving
from tests.gateway.world import World
from tests.support.calling import Client, slow_channel
from tests.support.gateway import LiveMatch

# ruff: noqa: ARG002, N802 - the signatures are gRPC's

Context = grpc.aio.ServicerContext[Any, Any]

PLAYERS = {
    name: f"01920000-0000-7000-8000-00000000000{n}" for n, name in enumerate(("ann", "bob", "cem"))
}
"""The player ids of those who may come, by the subject of their token."""


class Neighbours(
    lobby_grpc.LobbyServiceServicer,
    progression_grpc.ProgressionServiceServicer,
    bot_grpc.BotServiceServicer,
):
    """The lobby, progression and the bot runner in one, as far as a gateway can tell."""

    def __init__(self) -> None:
        self.resolved: list[lobby_pb.ResolvePlayerRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[tuple[str, caller_pb2.Caller]] = []
        self.says: Reason | None = None

    async def ResolvePlayer(
        self, request: lobby_pb.ResolvePlayerRequest, context: Context
    ) -> room_pb2.Player:
        self.resolved.append(request)
        await self.gate.wait()
        return room_pb2.Player(player_id=PLAYERS[request.subject])

    async def JoinRoom(self, request: lobby_pb.JoinRoomRequest, context: Context) -> room_pb2.Room:
        await self._note("JoinRoom", context)
        return room_pb2.Room(room_id=request.room_id)

    async def ListRooms(
        self, request: lobby_pb.ListRoomsRequest, context: Context
    ) -> lobby_pb.ListRoomsResponse:
        await self._note("ListRooms", context)
        return lobby_pb.ListRoomsResponse()

    async def GetProfile(
        self, request: progression_pb.GetProfileRequest, context: Context
    ) -> profile_pb2.Profile:
        await self._note("GetProfile", context)
        return profile_pb2.Profile(player_id=request.player_id)

    async def ListBots(
        self, request: bot_pb.ListBotsRequest, context: Context
    ) -> bot_pb.ListBotsResponse:
        await self._note("ListBots", context)
        return bot_pb.ListBotsResponse(bots=[bot_pb.Bot(strength="steady")])

    async def _note(self, method: str, context: Context) -> None:
        metadata = dict(context.invocation_metadata() or ())
        caller = metadata.get("opolyx-caller-bin", b"")
        assert isinstance(caller, bytes)
        self.asked.append((method, caller_pb2.Caller.FromString(caller)))
        if self.says is not None:
            await context.abort_with_status(status_of(refused(self.says, room="r")))


class Rig:
    """A gateway that is open, and what it stands between.

    Attributes:
        live: a match of ann on seat 0, a bot on seat 1, and bob on seat 2.
        engine, other: two engines; the first owns all matches.

    """

    def __init__(self, folder: Path, stack: AsyncExitStack, **section: Any) -> None:
        self.world = World()
        # What is not asked for here answers UNIMPLEMENTED, as grpc's own servicers do.
        self.engine = FakeEngine(self.world)  # type: ignore[abstract]
        self.other = FakeEngine(self.world)  # type: ignore[abstract]
        self.neighbours = Neighbours()  # type: ignore[abstract]
        self.live = self.world.add(match_of("ann", None, "bob"))
        self._folder = folder
        self._stack = stack
        self._section = GatewaySection(port=0, **section)

    async def open(self) -> None:
        for engine in (self.engine, self.other):
            await self._stack.enter_async_context(serving(engine))
        self.world.owner = self.engine.address
        self._serving = await self._stack.enter_async_context(AsyncExitStack())
        neighbours = await self._serving.enter_async_context(serving_neighbours(self.neighbours))
        self.settings = GatewaySettings(
            data_folder=self._folder,
            gateway=self._section,
            peers=PeerSettings(
                match_engines=f"{self.engine.address},{self.other.address}",
                lobby=neighbours,
                progression=neighbours,
                bot_runner=neighbours,
            ),
        )
        self.foundation = Foundation(self.settings, SystemClock())
        self.opened = AsyncExitStack()
        gateway = service(self.settings, self.foundation)
        self.server: Any = await self.opened.enter_async_context(gateway.open())
        self._stack.push_async_callback(self.opened.aclose)
        self.address: str = self.server.address
        self.channel = await self._stack.enter_async_context(_channel(self.address))

    async def stop_neighbours(self) -> None:
        """Have all services but the engines go away."""
        await self._serving.aclose()

    def client(self, subject: str = "ann", **token: Any) -> Client:
        """Return somebody with a development token."""
        issued = self.foundation.issuer.issue(subject, **token)
        return Client(self.channel, (("authorization", f"Bearer {issued}"),))

    def nobody(self) -> Client:
        """Return somebody without a token."""
        return Client(self.channel, ())

    def service(self, name: str, caller: caller_pb2.Caller | None = None) -> Client:
        """Return a service, and on whose behalf it calls."""
        token = self.foundation.issuer.issue_for_service(name)
        said = on_behalf(caller.SerializeToString()) if caller is not None else ()
        return Client(self.channel, (("authorization", f"Bearer {token}"), *said))

    def bot(self, seat: int = 1) -> Client:
        """Return the bot runner, for a seat."""
        return self.service("bot_runner", caller_pb2.Caller(bot_seat=seat))

    async def slow_channel(self) -> grpc.aio.Channel:
        """Return a connection of its own whose client takes little before it is read from."""
        return await self._stack.enter_async_context(slow_channel(self.address))


def go_on(live: LiveMatch, records: int = 1) -> None:
    """Have a match go on by some records: whoever must decide does as a bot would."""
    wanted = len(live.records) + records
    while len(live.records) < wanted:
        match = live.match
        seat = match.debts[0].debtor if match.deadline is None else match.deadline.seat
        choice = STRENGTHS["steady"](View(match, seat), LegalCommands(match, seat))
        if choice is None:
            live.fire()
        else:
            live.play(choice, f"seat:{choice.seat}")


def turn_of(rig: Rig) -> str:
    """Have it be a person's turn to roll, and return the person's name."""
    while rig.live.match.phase != phases.ROLL or rig.live.match.turn == 1:
        go_on(rig.live)
    return {0: "ann", 2: "bob"}[rig.live.match.turn]


def match_of(*players: str | None, seed: int = 1) -> LiveMatch:
    """Return a match with these people, and bots where there is no name, past its seeding."""
    specs = [
        e.SeatSpec(e.PERSON, PLAYERS[name]) if name else e.SeatSpec(e.BOT, "", "steady")
        for name in players
    ]
    live = LiveMatch("opolyx.classic@1", specs, seed)
    live.fire()
    return live


@asynccontextmanager
async def serving_neighbours(neighbours: Neighbours) -> AsyncIterator[str]:
    server = grpc.aio.server()
    lobby_grpc.add_LobbyServiceServicer_to_server(neighbours, server)
    progression_grpc.add_ProgressionServiceServicer_to_server(neighbours, server)
    bot_grpc.add_BotServiceServicer_to_server(neighbours, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield address
    finally:
        await server.stop(None)


@asynccontextmanager
async def _channel(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield channel
