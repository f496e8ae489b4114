"""A reader of the log asks the engines for what it lacks."""

from collections.abc import AsyncIterator

import pytest

from libs.chassis.channels import open_channel
from libs.chassis.engine_records import EngineRecords
from libs.chassis.engines import Engines
from libs.eventlog.reading import UnfetchedError
from libs.kernel.reasons import Reason
from tests.support.engine import PAGE, Engine, serving
from tests.support.matches import Table, play_match


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with serving(Engine()) as served:
        yield served


@pytest.fixture
async def fetch(engine: Engine) -> AsyncIterator[EngineRecords]:
    async with Engines([engine.address], lambda target: open_channel(target, retries=False)) as way:
        yield EngineRecords(way)


@pytest.fixture(scope="module")
def table() -> Table:
    return play_match(records_max=PAGE + 10)


async def test_records_come_in_order_and_as_they_were_written(
    engine: Engine, fetch: EngineRecords, table: Table
) -> None:
    engine.hold(table.chain.match_id, table.records)

    first = await fetch(table.chain.match_id, 0)
    rest = await fetch(table.chain.match_id, table.records[len(first) - 1].last_seq)

    assert first + rest == [record.data for record in table.records]
    assert len(rest) == 10
    assert await fetch(table.chain.match_id, table.chain.last_seq) == []


async def test_a_match_that_no_engine_knows_has_no_records(
    fetch: EngineRecords, table: Table
) -> None:
    assert await fetch(table.chain.match_id, 0) == []


@pytest.mark.parametrize(
    "reason",
    [
        Reason.MATCH_QUARANTINED,
        Reason.STORE_UNAVAILABLE,
        Reason.NOT_OWNER_OF_SHARD,
        Reason.NOT_ALLOWED,
    ],
)
async def test_an_engine_that_refuses_is_asked_again_later(
    engine: Engine, fetch: EngineRecords, table: Table, reason: Reason
) -> None:
    engine.hold(table.chain.match_id, table.records)
    engine.refuses[table.chain.match_id] = reason

    with pytest.raises(UnfetchedError, match=reason):
        await fetch(table.chain.match_id, 0)


async def test_engines_that_are_away_are_asked_again_later(table: Table) -> None:
    async with Engines(["127.0.0.1:1"], open_channel) as way:
        with pytest.raises(UnfetchedError):
            await EngineRecords(way)(table.chain.match_id, 0)
