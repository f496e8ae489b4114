"""A whole match between a real gateway and a real engine: played, watched, and read back."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from libs.bots.strengths import STRENGTHS
from libs.chassis.channels import on_behalf
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings, RateSettings, StoreSettings
from libs.chassis.settings import SecretUrl
from libs.client.client import Client
from libs.client.table import Table
from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.kernel.clock import SystemClock
from libs.kernel.command_ids import bot_id
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.snapshot import state_hash
from libs.rules.views import View
from libs.simulation.auditing import audit
from libs.store.migrate import migrate, read_migrations
from libs.wire.record import StoredRecord
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from opolyx.record.v1 import event_pb2
from services.gateway.bootstrap import service as gateway_service
from services.gateway.settings import CommandRateSettings, GatewaySection, GatewaySettings
from services.match_engine.bootstrap import service as engine_service
from services.match_engine.settings import EngineSettings, MatchEngineSettings
from tests.gateway.neighbours import PLAYERS, Neighbours

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

BOT = 1
ANN = 0


class Whole:
    """An engine and a gateway in one process, and who plays."""

    def __init__(self, foundation: Foundation, gateway: str, engine: str) -> None:
        self.foundation = foundation
        self.gateway = gateway
        self.engine = engine
        self.match_id = MatchId(self.new_id())

    def new_id(self) -> str:
        return fresh_id(self.foundation.clock.now_ms())

    def client(self, subject: str) -> Client:
        token = self.foundation.issuer.issue(subject)
        return Client.connect(self.gateway, lambda: token)

    def bot_runner(self) -> Client:
        issue = self.foundation.issuer.issue_for_service
        return Client.connect(self.gateway, partial(issue, "bot_runner"))

    async def create(self) -> None:
        """Make a match of ann and a bot, as the lobby does."""
        kinds = event_pb2.SeatSpec
        request = pb.CreateMatchRequest(
            command_id=self.new_id(),
            match_id=self.match_id,
            rule_set="opolyx.speed@1",
            seats=[
                kinds(kind=kinds.KIND_PERSON, player=PLAYERS["ann"]),
                kinds(kind=kinds.KIND_BOT, strength="steady"),
            ],
        )
        async with self.foundation.engines("lobby") as engines:
            await engines.call(
                self.match_id,
                lambda channel: pb_grpc.MatchServiceStub(channel).CreateMatch(request, timeout=10),
                timeout_s=20,
            )


@pytest.fixture
async def whole(database: str, tmp_path: Path) -> AsyncIterator[Whole]:
    connection = await asyncpg.connect(database)
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.close()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        engine = f"127.0.0.1:{held.getsockname()[1]}"
    async with AsyncExitStack() as stack:
        neighbours = Neighbours()
        other = await stack.enter_async_context(neighbours.serving())
        common: dict[str, Any] = {
            "data_folder": tmp_path,
            "store": StoreSettings(url=SecretUrl(database)),
            "peers": PeerSettings(match_engines=engine, lobby=other, progression=other),
        }
        port = int(engine.rpartition(":")[2])
        engine_settings = MatchEngineSettings(match_engine=EngineSettings(port=port), **common)
        section = GatewaySection(
            port=0,
            rate=RateSettings(per_s=1_000, burst=1_000),
            command_rate=CommandRateSettings(per_s=1_000, burst=1_000),
        )
        gateway_settings = GatewaySettings(gateway=section, **common)
        foundation = Foundation(engine_settings, SystemClock())
        await stack.enter_async_context(engine_service(engine_settings, foundation).open())
        opened = gateway_service(gateway_settings, foundation).open()
        server: Any = await stack.enter_async_context(opened)
        yield Whole(foundation, server.address, engine)


async def play(table: Table, seat: int, id_of: Callable[[Match], CommandId]) -> None:
    """Play a seat as a bot would, to the end of the match."""
    async for _ in table:
        match = table.match
        if table.has_waiting or match.phase == phases.ENDED:
            continue
        choice = choose(match, seat)
        if choice is not None:
            await table.submit(choice, id_of(match), expected_sequence=match.sequence)


def choose(match: Match, seat: int) -> c.SeatCommand | None:
    if match.phase == phases.SEEDING:
        return c.ContributeSeed(seat, b"") if seat == ANN else None
    return STRENGTHS["steady"](View(match, seat), LegalCommands(match, seat))


async def test_a_match_is_played_to_its_end_and_everybody_saw_the_same(whole: Whole) -> None:
    await whole.create()
    said = on_behalf(Caller(bot_seat=BOT).SerializeToString())
    async with AsyncExitStack() as stack:
        ann = await stack.enter_async_context(whole.client("ann"))
        cem = await stack.enter_async_context(whole.client("cem"))
        runner = await stack.enter_async_context(whole.bot_runner())
        tables = [
            await stack.enter_async_context(ann.play(whole.match_id)),
            await stack.enter_async_context(runner.play(whole.match_id, said)),
            await stack.enter_async_context(cem.watch(whole.match_id)),
        ]
        async with asyncio.timeout(120), asyncio.TaskGroup() as players:
            players.create_task(play(tables[0], ANN, lambda _: CommandId(whole.new_id())))
            players.create_task(
                play(tables[1], BOT, lambda match: bot_id(whole.match_id, match.sequence, BOT))
            )
            players.create_task(watch(tables[2]))
        records = await history(ann, whole.match_id)

    audited = audit(records)
    assert audited.match.phase == phases.ENDED
    assert {state_hash(table.match) for table in tables} == {state_hash(audited.match)}


async def watch(table: Table) -> None:
    async for _ in table:
        pass


async def history(client: Client, match_id: str) -> list[StoredRecord]:
    """Read a match's records, page by page."""
    found: list[StoredRecord] = []
    request = pb.ReadEventsRequest(match_id=match_id)
    while True:
        page = await client.match.ReadEvents(request)
        found += [StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in page.records]
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token
