"""Every record of a room comes into the event log, in the order of its room."""

import asyncio
from collections import defaultdict

import asyncpg
import pytest

from libs.eventlog.outbox import OutboxPublisher
from libs.eventlog.ports import Delivery, Entry, LogUnavailableError
from libs.eventlog.topics import LOBBY_EVENTS
from libs.store.connections import Connections
from opolyx.lobby.v1.lobby_event_pb2 import RoomRecord
from services.lobby.outbox import PostgresOutbox
from tests.lobby.rig import Rig
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


async def waiting(rig: Rig) -> int:
    connection = await asyncpg.connect(rig.url)
    count: int = await connection.fetchval("SELECT count(*) FROM lobby.outbox")
    await connection.close()
    return count


async def is_published(rig: Rig) -> bool:
    return await waiting(rig) == 0


async def all_published(rig: Rig) -> list[Delivery]:
    await until(lambda: is_published(rig))
    found = []
    while batch := await rig.published(LOBBY_EVENTS.name):
        found += batch
    return found


async def test_an_entry_says_what_it_is(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    room_id = (await ann.create()).room_id
    (delivery,) = await all_published(rig)
    record = RoomRecord.FromString(delivery.entry.value)

    assert delivery.entry.key == room_id
    assert delivery.entry.headers == {
        "type": "opolyx.lobby.v1.RoomRecord",
        "schema": "1",
        "sequence": "1",
    }
    assert [event.WhichOneof("event") for event in record.events] == ["room_created", "seat_taken"]


async def test_the_records_of_each_room_are_in_order_whoever_publishes(rig: Rig) -> None:
    second = await rig.open_lobby()
    hosts = await rig.people(*(f"Host {n}" for n in range(4)))

    async def furnish(number: int) -> None:
        host = hosts[number]
        room_id = (await host.create()).room_id
        for turn in range(6):
            here = host if (turn + number) % 2 else host.through(second)
            await here.set_ready(room_id, ready=bool(turn % 2))

    await asyncio.gather(*map(furnish, range(4)))
    sequences = defaultdict(list)
    for delivery in await all_published(rig):
        sequences[delivery.entry.key].append(int(delivery.entry.headers["sequence"]))

    assert list(sequences.values()) == [[1, 2, 3, 4, 5, 6, 7]] * 4


async def leave_unpublished(rig: Rig) -> None:
    """Crash between the commit of a record and its publication."""
    (ann,) = await rig.people("Ann")
    room_id = (await ann.create()).room_id
    await all_published(rig)
    await rig.close_lobbies()
    connection = await asyncpg.connect(rig.url)
    await connection.execute(
        "INSERT INTO lobby.outbox (room_id, sequence, traceparent) VALUES ($1, 1, '')", room_id
    )
    await connection.close()


async def test_what_a_crash_left_unpublished_is_published_by_the_next(rig: Rig) -> None:
    await leave_unpublished(rig)
    await rig.open_lobby()

    assert len(await all_published(rig)) == 1


class Failing:
    """An event log that fails the first time, and keeps what it is given after that."""

    def __init__(self) -> None:
        self.kept: list[Entry] = []
        self.calls = 0

    async def append(self, entries: list[Entry]) -> None:
        self.calls += 1
        if self.calls == 1:
            raise LogUnavailableError
        self.kept += entries


async def test_what_the_log_did_not_take_stays_in_the_outbox(rig: Rig) -> None:
    await leave_unpublished(rig)
    connections = await Connections.open(rig.url, name="test")
    log = Failing()
    publisher = OutboxPublisher(
        PostgresOutbox(connections),
        log,  # type: ignore[arg-type]
        service="lobby",
    )
    with pytest.raises(LogUnavailableError):
        await publisher.run()
    kept = await waiting(rig)
    again = asyncio.create_task(publisher.run())
    await until(lambda: is_published(rig))
    again.cancel()
    await connections.close()

    assert kept == 1
    assert len(log.kept) == 1
