"""The whole timer: whatever is open is fired, and a restart in mid-turn loses nothing (T2, T3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings, StoreSettings
from libs.chassis.server import GrpcServer
from libs.chassis.settings import SecretUrl
from libs.eventlog.ports import Entry
from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.clock import ManualClock
from libs.rules.clocks import fires_at, next_deadline
from libs.store.connections import Connections
from libs.store.migrate import migrate, read_migrations
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.timer.bootstrap import service
from services.timer.settings import TimerSection, TimerSettings
from services.timer.store import FollowedMatches
from tests.support.matches import Table, play_match
from tests.support.waiting import until
from tests.timer.rig import MATCH, FakeEngine

pytestmark = pytest.mark.postgres


@pytest.fixture
async def settings(tmp_path: Path, database: str, engine_address: str) -> TimerSettings:
    connection = await asyncpg.connect(database)
    await migrate(connection, SCHEMA, read_migrations(MIGRATIONS))
    await connection.close()
    return TimerSettings(
        data_folder=tmp_path,
        store=StoreSettings(url=SecretUrl(database), unsafe=True),
        peers=PeerSettings(match_engines=engine_address),
        timer=TimerSection(port=0),
    )


@pytest.fixture
def table(clock: ManualClock) -> Table:
    """Return a match in the middle of a turn, whose clocks began in the past."""
    table = play_match(records_max=40)
    clock.advance(table.now - clock.now_ms())
    return table


@pytest.fixture
async def kept(database: str) -> AsyncIterator[FollowedMatches]:
    connections = await Connections.open(database, name="test")
    yield FollowedMatches(connections)
    await connections.close()


@asynccontextmanager
async def timer(settings: TimerSettings, clock: ManualClock) -> AsyncIterator[str]:
    """Run a timer, and yield where it is."""
    async with service(settings, Foundation(settings, clock)).open() as server:
        assert isinstance(server, GrpcServer)
        yield server.address


async def arm(settings: TimerSettings, clock: ManualClock, address: str, **fires: int) -> None:
    async with Foundation(settings, clock).channel("match_engine", address) as channel:
        deadlines = [pb.ArmRequest.Deadline(deadline_id=d, fire_ms=ms) for d, ms in fires.items()]
        match = pb.ArmRequest.ArmedMatch(match_id=MATCH, sequence=7, deadlines=deadlines)
        stream = pb_grpc.TimerServiceStub(channel).Arm(
            iter([pb.ArmRequest(batch=1, matches=[match])]), timeout=10
        )
        assert [answer.batch async for answer in stream] == [1]


async def learn(
    settings: TimerSettings, clock: ManualClock, table: Table, kept: FollowedMatches
) -> None:
    """Let a timer that runs read a match from the log."""
    match_id, head = table.chain.match_id, table.chain.last_seq
    async with Foundation(settings, clock).open_log() as log:
        await log.append(
            [
                Entry(topic=MATCH_RECORDS.name, key=match_id, value=record.data)
                for record in table.records
            ]
        )

    async def has_read() -> bool:
        return (await kept.load(match_id)).position.last_seq == head

    await until(has_read)


async def fired(engine: FakeEngine, clock: ManualClock, deadline_id: str) -> None:
    """Let time pass until a deadline was fired."""

    def is_fired() -> bool:
        clock.advance(100)
        return deadline_id in engine.names()

    await until(is_fired)


async def test_what_an_engine_arms_is_fired(
    settings: TimerSettings, clock: ManualClock, engine: FakeEngine
) -> None:
    async with timer(settings, clock) as address:
        await arm(settings, clock, address, roll=clock.now_ms() + 75_250)
        clock.advance(75_000)
        await fired(engine, clock, "roll")

    assert engine.names() == ["roll"]


async def test_a_timer_that_starts_anew_in_mid_turn_knows_what_the_log_said(
    settings: TimerSettings,
    clock: ManualClock,
    engine: FakeEngine,
    table: Table,
    kept: FollowedMatches,
) -> None:
    deadline = next_deadline(table.match)
    assert deadline is not None
    async with timer(settings, clock):
        await learn(settings, clock, table, kept)
    before = list(engine.fired)
    clock.advance(fires_at(deadline) - clock.now_ms() - 1)
    async with timer(settings, clock):
        await fired(engine, clock, deadline.deadline_id)

    assert before == []
    assert {request.match_id for request in engine.fired} == {table.chain.match_id}


async def test_a_timer_that_starts_anew_learns_the_rest_when_it_is_armed_again(
    settings: TimerSettings, clock: ManualClock, engine: FakeEngine
) -> None:
    fire_ms = clock.now_ms() + 10_000
    async with timer(settings, clock) as address:
        await arm(settings, clock, address, auction=fire_ms)
    clock.advance(20_000)
    async with timer(settings, clock) as address:
        forgotten = list(engine.fired)
        await arm(settings, clock, address, auction=fire_ms)
        await fired(engine, clock, "auction")

    assert forgotten == []
    assert engine.names() == ["auction"]


async def test_it_opens_and_waits_while_no_engine_is_there(
    settings: TimerSettings, clock: ManualClock
) -> None:
    alone = settings.model_copy(update={"peers": PeerSettings(match_engines="127.0.0.1:1")})
    async with timer(alone, clock) as address:
        await arm(alone, clock, address, roll=clock.now_ms())
