import asyncpg
import pytest

from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import LogUnavailableError
from libs.eventlog.postgres import PostgresLogStorage
from libs.kernel.clock import ManualClock
from libs.store.connections import Connections
from tests.eventlog.contract import LocalEventLogContract, LogStorageContract, entry, take, values

pytestmark = pytest.mark.postgres


@pytest.fixture
def storage(connections: Connections) -> PostgresLogStorage:
    return PostgresLogStorage(connections)


class TestPostgresLogStorage(LogStorageContract):
    pass


class TestLogInPostgres(LocalEventLogContract):
    pass


async def test_a_reader_never_overtakes_an_append_that_is_not_committed(
    storage: PostgresLogStorage, shared_database: str
) -> None:
    # Whoever numbers by a sequence loses the slow one: its offset is seen as passed.
    slow = await asyncpg.connect(shared_database)
    transaction = slow.transaction()
    await transaction.start()
    await slow.execute(
        "SELECT event_log.append('{contract}', '{49}', '{m}', '{slow}', '{\"{}\"}', 1)"
    )
    log = LocalEventLog(storage, ManualClock(1), poll_s=0.02)
    async with log.subscribe(["contract"], group="g") as subscription:
        assert not await subscription.fetch(wait_s=0)
        await transaction.commit()
        await log.append([entry(value=b"fast")])
    await slow.close()

    assert values(await take(log, 2, group="g")) == [b"slow", b"fast"]


async def test_a_database_that_is_gone_is_an_unavailable_log(
    storage: PostgresLogStorage, connections: Connections
) -> None:
    await connections.close()

    with pytest.raises(LogUnavailableError):
        await storage.append([entry()], at_ms=1)
    with pytest.raises(LogUnavailableError):
        await storage.ends(["contract"])
