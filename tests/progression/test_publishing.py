"""Events of progress reach the event log: all of them, those of a player in order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import pytest

from libs.eventlog.local import LocalEventLog
from libs.eventlog.outbox import OutboxPublisher
from libs.eventlog.ports import Delivery, Entry, EventLog, LogUnavailableError, Subscription
from libs.eventlog.postgres import PostgresLogStorage
from libs.eventlog.topics import PROGRESSION_EVENTS
from libs.store.connections import Connections
from libs.wire.progress import check_progress, read_progress
from services.progression.outbox import PostgresOutbox
from tests.progression.played import played
from tests.progression.rig import ANN, BEN, Rig
from tests.support.builders import CLASSIC_1, CLASSIC_2
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


@pytest.fixture
async def earned(rig: Rig) -> Rig:
    """Return a rig where two people have earned something in four matches."""
    for rule_set in (CLASSIC_1, CLASSIC_2):
        for first in (1, 20):
            await rig.read(played(rule_set, 3, [ANN, BEN], seeds=range(first, 60)).table)
    return rig


@asynccontextmanager
async def publishing(publisher: OutboxPublisher) -> AsyncIterator[None]:
    task = asyncio.create_task(publisher.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def published(log: EventLog) -> list[Delivery]:
    async with log.subscribe([PROGRESSION_EVENTS.name], group="somebody") as subscription:
        deliveries: list[Delivery] = []
        while fetched := await subscription.fetch(wait_s=0):
            deliveries += fetched
        return deliveries


def of(player: str, deliveries: Sequence[Delivery]) -> list[bytes]:
    return [each.entry.value for each in deliveries if each.entry.key == player]


async def test_everything_is_published_in_order_and_as_it_was_written(
    earned: Rig, connections: Connections
) -> None:
    outbox = PostgresOutbox(connections)
    log = LocalEventLog(PostgresLogStorage(connections), earned.clock)

    async with publishing(OutboxPublisher(outbox, log, service="progression")):
        await until(lambda: _is_empty(outbox))

    deliveries = await published(log)
    for player in (ANN, BEN):
        events = [read_progress(data) for data in of(player, deliveries)]
        assert events == await earned.events(player)
        check_progress(events)


async def test_an_entry_says_what_it_is(earned: Rig, connections: Connections) -> None:
    outbox = PostgresOutbox(connections)

    async with publishing(OutboxPublisher(outbox, earned.log, service="progression")):
        await until(lambda: _is_empty(outbox))

    first = next(each for each in await published(earned.log) if each.entry.key == ANN)
    assert first.entry.headers == {
        "type": "opolyx.progression.v1.ProgressionEvent",
        "schema": "1",
        "sequence": "1",
    }


async def test_what_is_committed_later_is_published_when_it_rings(
    earned: Rig, connections: Connections
) -> None:
    outbox = PostgresOutbox(connections)
    publisher = OutboxPublisher(outbox, earned.log, service="progression")
    async with publishing(publisher):
        await until(lambda: _is_empty(outbox))
        before = len(await published(earned.log))
        await earned.read(played(CLASSIC_2, 4, [ANN]).table)
        publisher.ring()
        await until(lambda: _is_empty(outbox))

    assert len(await published(earned.log)) > before
    assert earned.commits == 5


async def test_a_log_that_did_not_answer_costs_doubles_and_no_order(
    earned: Rig, connections: Connections
) -> None:
    outbox = PostgresOutbox(connections)
    log = _Forgetful(earned.log)
    with pytest.raises(LogUnavailableError):
        await OutboxPublisher(outbox, log, service="progression").run()

    async with publishing(OutboxPublisher(outbox, log, service="progression")):
        await until(lambda: _is_empty(outbox))

    deliveries = await published(earned.log)
    for player in (ANN, BEN):
        told = of(player, deliveries)
        events = [read_progress(data) for data in dict.fromkeys(told)]
        assert events == await earned.events(player)
        assert len(told) == 2 * len(events)


async def test_two_publishers_at_once_keep_the_order(earned: Rig, connections: Connections) -> None:
    outbox = PostgresOutbox(connections)

    async with (
        publishing(OutboxPublisher(outbox, earned.log, service="progression")),
        publishing(OutboxPublisher(outbox, earned.log, service="progression")),
    ):
        await until(lambda: _is_empty(outbox))

    deliveries = await published(earned.log)
    for player in (ANN, BEN):
        events = [read_progress(data) for data in dict.fromkeys(of(player, deliveries))]
        assert events == await earned.events(player)


async def _is_empty(outbox: PostgresOutbox) -> bool:
    return not await outbox.waiting()


class _Forgetful:
    """A log whose first answer is lost: the entries are there, and nobody is told."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._is_first = True

    async def append(self, entries: Sequence[Entry]) -> None:
        await self._log.append(entries)
        if self._is_first:
            self._is_first = False
            raise LogUnavailableError("no answer")

    def subscribe(
        self, topics: Sequence[str], *, group: str
    ) -> AbstractAsyncContextManager[Subscription]:
        return self._log.subscribe(topics, group=group)
