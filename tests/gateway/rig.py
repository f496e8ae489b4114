"""A gateway between fake engines, a fake lobby and others, and people who call it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from libs.bots.strengths import STRENGTHS
from libs.chassis.channels import on_behalf
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings
from libs.kernel.clock import SystemClock
from libs.rules import events as e
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.views import View
from opolyx.engine.v1 import caller_pb2
from services.gateway.bootstrap import service
from services.gateway.settings import GatewaySection, GatewaySettings
from tests.gateway.engine import FakeEngine, serving
from tests.gateway.neighbours import PLAYERS, Neighbours
from tests.gateway.world import World
from tests.support.calling import Client, slow_channel
from tests.support.gateway import LiveMatch


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
        self.neighbours = Neighbours()
        self.live = self.world.add(match_of("ann", None, "bob"))
        self._folder = folder
        self._stack = stack
        self._section = GatewaySection(port=0, **section)

    async def open(self) -> None:
        for engine in (self.engine, self.other):
            await self._stack.enter_async_context(serving(engine))
        self.world.owner = self.engine.address
        self._serving = await self._stack.enter_async_context(AsyncExitStack())
        neighbours = await self._serving.enter_async_context(self.neighbours.serving())
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
async def _channel(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield channel
