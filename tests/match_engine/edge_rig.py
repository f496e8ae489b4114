"""An engine's edge over real gRPC: its servicers, a decider, and a store in memory.

Whoever calls is a service with a token of its own, as in a deployment.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from grpc import StatusCode

from libs.chassis.channels import Channel, on_behalf
from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.kernel.clock import ManualClock
from libs.kernel.ids import CommandId, MatchId, PlayerId, fresh_id
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.legal import Choice, LegalCommands
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.ports import RECORDS_MAX, Appended
from libs.wire.commands import message_of
from libs.wire.record import StoredRecord
from libs.wire.writers import spec_message
from opolyx.admin.v1 import admin_service_pb2_grpc as admin_grpc
from opolyx.engine.v1 import engine_service_pb2_grpc as engine_grpc
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from services.match_engine.administering import AdminServicer
from services.match_engine.allowed import (
    ADMIN_SERVICE,
    BELIEVED,
    ENGINE_SERVICE,
    MATCH_SERVICE,
    SHARD_SERVICE,
    allow_list,
)
from services.match_engine.deciding import Decider
from services.match_engine.live import Accepted
from services.match_engine.matches import Matches
from services.match_engine.pushes import Pushes
from services.match_engine.seeds import Seeds
from services.match_engine.servicer import MatchServicer
from services.match_engine.signing import SigningKeys
from services.match_engine.streams import EngineServicer
from tests.chassis.answers import answer

UNKNOWN = "0190a000-0000-7000-8000-000000000000"
"""The id of a match that there is not."""

NOW_MS = 1_800_000_000_000
PULSE_S = 0.05
SILENT_MAX = 30


def a_player() -> PlayerId:
    return PlayerId(fresh_id(NOW_MS))


def a_command() -> CommandId:
    return CommandId(fresh_id(NOW_MS))


class EdgeStore(MemoryMatchStore):
    """A store that can be held up, be away, or have a bug; it counts its calls by their names."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, self._suffer)
        self.calls: dict[str, int] = {}
        self.fault: Fault | None = None
        self.has_bug = False
        self._held: dict[str, asyncio.Event] = {}

    def hold(self, method: str) -> None:
        """Keep whoever calls *method* waiting."""
        self._held[method] = asyncio.Event()

    def let_go(self, method: str) -> None:
        self._held.pop(method).set()

    def let_others_by(self, method: str) -> asyncio.Event:
        """Keep only those waiting who wait for *method* now; returns what lets them go."""
        return self._held.pop(method)

    def count(self, method: str) -> int:
        """Return how often *method* was called."""
        return self.calls.get(method, 0)

    def called(self, method: str, times: int) -> Callable[[], bool]:
        """Return what tells whether *method* was called so often."""
        return lambda: self.count(method) >= times

    async def append(self, *args: Any, **kwargs: Any) -> Appended:
        outcome = await super().append(*args, **kwargs)
        await self._suffer("appended")
        return outcome

    async def records(
        self, match_id: MatchId, after_seq: int, limit: int = RECORDS_MAX
    ) -> list[StoredRecord]:
        found = await super().records(match_id, after_seq, limit)
        await self._suffer("records found")
        return found

    async def _suffer(self, method: str) -> Fault | None:
        self.calls[method] = self.count(method) + 1
        if self.has_bug:
            raise ZeroDivisionError
        if method in self._held:
            await self._held[method].wait()
        return self.fault


class Edge:
    """The engine, and stubs of whoever calls it."""

    def __init__(self, folder: Path, store: EdgeStore, clock: ManualClock) -> None:
        self.clock = clock
        self.store = store
        self.is_ours = True
        self.foundation = Foundation(NodeSettings(data_folder=folder), clock)
        self.keys = SigningKeys.open(folder)
        seeds = Seeds.open(folder)
        self.matches = Matches(store, seeds, lambda _: self.is_ours)
        self.decider = Decider(store, self.matches, seeds, self.keys, clock, lambda _: [])
        self.pushes = Pushes()
        self.matches.listen(self.pushes)
        settings = ServerSettings(stream_grace_s=5)
        terms = self.foundation.terms("match_engine", settings, allow_list(), believed=BELIEVED)
        self.server = GrpcServer(terms)
        self.streams = EngineServicer(
            decider=self.decider,
            store=store,
            pushes=self.pushes,
            owns=lambda _: self.is_ours,
            clock=clock,
            draining=self.server.draining,
            pulse_s=PULSE_S,
        )
        servicer = MatchServicer(
            decider=self.decider,
            store=store,
            keys=self.keys,
            clock=clock,
            pushes=self.pushes,
            draining=self.server.draining,
        )
        add: Callable[..., None] = self.server.add
        add(match_grpc.add_MatchServiceServicer_to_server, servicer, MATCH_SERVICE)
        add(engine_grpc.add_EngineServiceServicer_to_server, self.streams, ENGINE_SERVICE)
        shards: Any = shard_grpc.ShardServiceServicer
        admin = AdminServicer(self.decider, store, self.matches.check_owned)
        add(admin_grpc.add_AdminServiceServicer_to_server, admin, ADMIN_SERVICE)
        add(shard_grpc.add_ShardServiceServicer_to_server, shards(), SHARD_SERVICE)
        self._channels: dict[str, Channel] = {}

    def channel(self, service: str) -> Channel:
        if service not in self._channels:
            address = self.server.address
            self._channels[service] = self.foundation.channel(service, address, retries=False)
        return self._channels[service]

    def matches_as(self, service: str = "gateway") -> Any:
        """Return a stub of the match service for a service that calls."""
        return match_grpc.MatchServiceStub(self.channel(service))

    def admin_as(self, service: str = "gateway") -> Any:
        return admin_grpc.AdminServiceStub(self.channel(service))

    def engine_as(self, service: str = "gateway") -> Any:
        return engine_grpc.EngineServiceStub(self.channel(service))

    async def close_channels(self) -> None:
        for channel in self._channels.values():
            await channel.close()

    # Matches, made and played without the edge.

    async def create(
        self, specs: Sequence[e.SeatSpec], rule_set: str = "opolyx.classic@2"
    ) -> MatchId:
        match_id = MatchId(fresh_id(self.clock.now_ms()))
        request = pb.CreateMatchRequest(
            command_id=a_command(),
            match_id=match_id,
            rule_set=rule_set,
            seats=[spec_message(spec) for spec in specs],
        )
        await self.decider.create(request, CommandId(request.command_id))
        return match_id

    async def a_match(self, records: int = 12) -> MatchId:
        """Make a match of two bots, and play it for so many records."""
        match_id = await self.create([a_bot(), a_bot()])
        await self.play(match_id, records)
        return match_id

    async def head_of(self, match_id: MatchId) -> int:
        return (await self.decider.read(match_id)).chain.last_seq

    async def submit(self, match_id: MatchId, command: c.Command) -> Accepted:
        return await self.decider.submit(match_id, a_command(), lambda _: command)

    async def play(self, match_id: MatchId, records: int) -> None:
        """Let whoever must decide do the first thing that answers, so many times."""
        for _ in range(records):
            self.clock.advance(100)
            match = (await self.decider.read(match_id)).match
            if match.phase == phases.ENDED:
                return
            await self.submit(match_id, self.first_choice(match))

    def first_choice(self, match: Any) -> c.SeatCommand:
        seat = match.pending_seats()[0]
        if match.phase == phases.SEEDING:
            return c.ContributeSeed(seat, b"")
        legal = LegalCommands(match, seat)
        entries = [*legal.answers(), *legal.sales(), *legal.mortgages()]
        choices = [entry.command for entry in entries if isinstance(entry, Choice)]
        assert choices, "somebody can do something"
        return choices[0]

    async def play_to_the_end(self, match_id: MatchId) -> None:
        await self.submit(match_id, c.Abort("enough", f"operator:{a_player()}"))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Edge]:
    clock = ManualClock(NOW_MS)
    edge = Edge(folder, EdgeStore(clock), clock)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(edge.server)
        stack.push_async_callback(edge.close_channels)
        yield edge


async def refusal(call: Any) -> tuple[StatusCode, str, dict[str, str]]:
    """Wait for a call that is refused, and return how."""
    got = await answer(call)
    assert got.told is not None, got
    return got.code, got.told.reason, got.told.metadata


def as_person(player_id: str) -> Any:
    return on_behalf(Caller(player_id=player_id).SerializeToString())


def as_bot(seat: int) -> Any:
    return on_behalf(Caller(bot_seat=seat).SerializeToString())


def as_operator(player_id: str) -> Any:
    return on_behalf(Caller(operator_id=player_id).SerializeToString())


def as_nobody() -> Any:
    return on_behalf(Caller().SerializeToString())


def a_person(player_id: str = "") -> e.SeatSpec:
    return e.SeatSpec(e.PERSON, player_id or a_player())


def a_bot() -> e.SeatSpec:
    return e.SeatSpec(e.BOT, "", "plain")


TWO_BOTS = [a_bot(), a_bot()]


def submission(
    match_id: str, command: c.SeatCommand, command_id: str = "", **more: Any
) -> pb.SubmitCommandRequest:
    return pb.SubmitCommandRequest(
        match_id=match_id,
        command_id=command_id or a_command(),
        command=message_of(command),
        **more,
    )


class Wire:
    """The client's end of a stream, whose frames are read one by one and in good time."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self._writing = asyncio.Lock()

    async def send(self, frame: Any) -> None:
        async with self._writing:  # gRPC takes one at a time
            await self.call.write(frame)

    async def read(self, *kinds: str) -> Any:
        """Return the next frame of these kinds, what it holds; others are passed over."""
        async with asyncio.timeout(20):
            while True:
                frame = await self.call.read()
                assert hasattr(frame, "WhichOneof"), "the stream has ended"
                name = frame.WhichOneof("frame")
                if name in kinds:
                    return getattr(frame, name)

    async def rest(self) -> None:
        """Read to the end, which may be an error."""
        async with asyncio.timeout(20):
            while hasattr(await self.call.read(), "WhichOneof"):
                pass

    async def end(self) -> None:
        self.call.cancel()


Open = Callable[..., Awaitable[Wire]]


@asynccontextmanager
async def opener(
    call: Callable[[], Any], pulse: Callable[[], Any], first: Callable[[Any], Any] | None = None
) -> AsyncIterator[Open]:
    """Open streams as the gateway does: with signs of life for as long as they are there.

    What *first* makes of the argument is sent first.
    """
    async with AsyncExitStack() as stack:

        async def begin(value: Any = None) -> Wire:
            wire = Wire(call())
            stack.push_async_callback(wire.end)
            if first is not None and (frame := first(value)) is not None:
                await wire.send(frame)
            pulsing = asyncio.create_task(_beat(wire, pulse))
            stack.callback(pulsing.cancel)
            return wire

        yield begin


async def _beat(wire: Wire, pulse: Callable[[], Any]) -> None:
    while not wire.call.done():
        await asyncio.sleep(PULSE_S)
        await wire.send(pulse())
