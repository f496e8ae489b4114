"""Whole engines on one real PostgreSQL, called by others as they are in a deployment."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.chassis.channels import on_behalf
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings, StoreSettings
from libs.chassis.settings import SecretUrl
from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.kernel.command_ids import bot_id
from libs.kernel.ids import MatchId, fresh_id
from libs.rules import commands as c
from libs.store.connections import Connections
from libs.store.migrate import migrate, read_migrations
from libs.store.postgres import PostgresMatchStore
from libs.store.postgres_ownership import PostgresOwnership
from libs.wire.commands import message_of
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.command_pb2 import Command
from opolyx.match.v1.match_service_pb2_grpc import MatchServiceStub
from opolyx.record.v1.event_pb2 import SeatSpec
from services.console.staging import free_ports
from services.match_engine.bootstrap import service
from services.match_engine.settings import EngineSettings, MatchEngineSettings
from tests.support.repository import ROOT

HOST: Final = "127.0.0.1"
SEATS: Final = 2


class Cluster:
    """Some engines that share a database, and those who call them.

    Attributes:
        store, ownership: what the engines keep.
        engines: the way to them, of whoever calls.

    """

    def __init__(self, url: str, folder: Path, connections: Connections) -> None:
        self.url = url
        self.folder = folder
        self.store = PostgresMatchStore(connections)
        self.ownership = PostgresOwnership(connections)
        self.connections = connections
        self.ports = dict(zip(("ann", "bob"), free_ports(2), strict=True))
        self.foundation = Foundation(self.settings("ann"))
        self.engines = self.foundation.engines("gateway")
        self.lobby = self.foundation.engines("lobby")

    def settings(self, name: str, **more: Any) -> MatchEngineSettings:
        named = ",".join(map(self.address, self.ports))
        return MatchEngineSettings(
            data_folder=self.folder,
            store=StoreSettings(url=SecretUrl(self.url), unsafe=True),
            peers=PeerSettings(match_engines=named, timer=f"{HOST}:1"),
            match_engine=EngineSettings(port=self.ports[name], instance=name, **more),
        )

    def address(self, name: str) -> str:
        return f"{HOST}:{self.ports[name]}"

    @asynccontextmanager
    async def engine(self, name: str, **more: Any) -> AsyncIterator[None]:
        """Run an engine in this process while the block lasts, and end it in good order."""
        settings = self.settings(name, **more)
        async with service(settings, Foundation(settings)).open():
            yield

    @contextmanager
    def engine_process(self, name: str, **more: Any) -> Iterator["subprocess.Popen[bytes]"]:
        """Run an engine in a process of its own, and kill it at the end."""
        settings = self.settings(name)
        environment = {
            "OPOLYX_DATA_FOLDER": str(self.folder),
            "OPOLYX_STORE__URL": self.url,
            "OPOLYX_STORE__UNSAFE": "true",
            "OPOLYX_PEERS__TIMER": settings.peers.timer,
            "OPOLYX_TELEMETRY__METRICS_PORT": "0",
            "OPOLYX_MATCH_ENGINE__PORT": str(self.ports[name]),
            "OPOLYX_MATCH_ENGINE__INSTANCE": name,
            **{f"OPOLYX_MATCH_ENGINE__{key.upper()}": str(value) for key, value in more.items()},
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "services.match_engine"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    async def owned(self) -> dict[str, int]:
        """Return how many shards each living engine has."""
        names = [assignment.instance for assignment in await self.ownership.assignments()]
        return {name: names.count(name) for name in sorted(set(names))}

    async def is_serving(self, name: str) -> bool:
        async with grpc.aio.insecure_channel(self.address(name)) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            response = await stub.Check(health_pb2.HealthCheckRequest(), timeout=5)
        return bool(response.status == health_pb2.HealthCheckResponse.SERVING)

    # Matches between bots.

    async def create(self) -> MatchId:
        match_id = MatchId(fresh_id(self.foundation.clock.now_ms()))
        request = pb.CreateMatchRequest(
            command_id=fresh_id(self.foundation.clock.now_ms()),
            match_id=match_id,
            rule_set="opolyx.classic@2",
            seats=[SeatSpec(kind=SeatSpec.KIND_BOT, strength="plain") for _ in range(SEATS)],
        )
        await self.lobby.call(match_id, lambda channel: _stub(channel).CreateMatch(request))
        return match_id

    async def play(self, match_id: MatchId, commands: int) -> pb.SubmitCommandResponse:
        """Let bots do the first thing that they may, so many times; returns the last answer."""
        answer = pb.SubmitCommandResponse()
        while commands:
            try:
                answer = await self._move(match_id)
            except grpc.aio.AioRpcError as error:
                # An outage is paid back before anything else: the match has gone on by that.
                if error.code() is not grpc.StatusCode.ABORTED:
                    raise
            else:
                commands -= 1
        return answer

    async def surrender(self, match_id: MatchId) -> pb.SubmitCommandResponse:
        head = await self.store.head(match_id)
        assert head is not None
        return await self.submit(match_id, 0, message_of(c.Surrender(0)), head.seq)

    async def submit(
        self, match_id: MatchId, seat: int, command: Command, sequence: int
    ) -> pb.SubmitCommandResponse:
        """Submit a bot's command, as the gateway does for the bot runner."""
        request = pb.SubmitCommandRequest(
            match_id=match_id,
            command_id=bot_id(match_id, sequence, seat),
            expected_sequence=sequence,
            command=command,
        )
        answer: pb.SubmitCommandResponse = await self.engines.call(
            match_id,
            lambda channel: _stub(channel).SubmitCommand(request, metadata=_as_bot(seat)),
            timeout_s=30,
        )
        return answer

    async def read(self, match_id: MatchId) -> pb.ReadEventsResponse:
        request = pb.ReadEventsRequest(match_id=match_id, page_size=200)
        response: pb.ReadEventsResponse = await self.engines.call(
            match_id, lambda channel: _stub(channel).ReadEvents(request)
        )
        return response

    async def move_at(self, channel: grpc.aio.Channel, match_id: MatchId) -> None:
        """Ask one engine, whoever owns the match, what a bot may do."""
        request = pb.ListLegalCommandsRequest(match_id=match_id)
        await _stub(channel).ListLegalCommands(request, metadata=_as_bot(0))

    async def _move(self, match_id: MatchId) -> pb.SubmitCommandResponse:
        for seat in range(SEATS):
            listed = await self._legal(match_id, seat)
            for legal in listed.legal_commands:
                if legal.choice.command.WhichOneof("command") not in {None, "surrender"}:
                    return await self.submit(match_id, seat, legal.choice.command, listed.sequence)
        raise AssertionError("nobody can move")

    async def _legal(self, match_id: MatchId, seat: int) -> pb.ListLegalCommandsResponse:
        request = pb.ListLegalCommandsRequest(match_id=match_id)
        response: pb.ListLegalCommandsResponse = await self.engines.call(
            match_id,
            lambda channel: _stub(channel).ListLegalCommands(request, metadata=_as_bot(seat)),
            timeout_s=30,
        )
        return response


@asynccontextmanager
async def opened_cluster(url: str, folder: Path) -> AsyncIterator[Cluster]:
    connection = await asyncpg.connect(url)
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.close()
    connections = await Connections.open(url, name="test", size=2)
    cluster = Cluster(url, folder, connections)
    try:
        async with cluster.engines, cluster.lobby:
            yield cluster
    finally:
        await connections.close()


def _stub(channel: grpc.aio.Channel) -> Any:
    return MatchServiceStub(channel)


def _as_bot(seat: int) -> tuple[tuple[str, bytes], ...]:
    return on_behalf(Caller(bot_seat=seat).SerializeToString())
