"""What every storage of the local log must do, and what a log over it must do."""

import asyncio
from collections.abc import Sequence
from itertools import groupby

import pytest

from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import Delivery, Entry, EventLog
from libs.eventlog.storage import LogStorage, Place
from libs.eventlog.topics import PARTITIONS, partition_of
from libs.kernel.clock import ManualClock
from libs.telemetry import traces

TOPIC = "contract"
KEYS = [f"key-{n}" for n in range(200)]
"""So many that every partition has some."""


def entry(key: str = "m", value: bytes = b"", *, topic: str = TOPIC) -> Entry:
    return Entry(topic=topic, key=key, value=value)


async def take(
    log: EventLog, number: int, *, group: str, topics: Sequence[str] = (TOPIC,)
) -> list[Delivery]:
    """Read so many deliveries, committing nothing."""
    taken: list[Delivery] = []
    async with asyncio.timeout(20), log.subscribe(topics, group=group) as subscription:
        while len(taken) < number:
            taken += await subscription.fetch(wait_s=5)
    assert len(taken) == number
    return taken


def values(deliveries: Sequence[Delivery]) -> list[bytes]:
    return [delivery.entry.value for delivery in deliveries]


class LogStorageContract:
    """Subclass it, with a fixture named `storage`."""

    async def test_what_is_written_can_be_read_as_it_was(self, storage: LogStorage) -> None:
        written = Entry(
            topic=TOPIC, key="clé", value=bytes(range(256)), headers={"a": "é", "b": ""}
        )

        ends = await storage.append([written], at_ms=17)

        place = Place(TOPIC, partition_of("clé"))
        [read] = await storage.read({place: 0}, limit=10)
        assert ends == {place: 1}
        assert read == Delivery(entry=written, partition=place.partition, offset=0, at_ms=17)

    async def test_offsets_have_no_gap_and_keep_the_order(self, storage: LogStorage) -> None:
        for base in range(0, 9, 3):
            batch = [entry(value=bytes([n])) for n in range(base, base + 3)]
            await storage.append(batch, at_ms=1)

        read = await storage.read({Place(TOPIC, partition_of("m")): 2}, limit=5)

        assert [d.offset for d in read] == [2, 3, 4, 5, 6]
        assert values(read) == [b"\2", b"\3", b"\4", b"\5", b"\6"]

    async def test_parallel_appends_share_partitions_without_a_gap(
        self, storage: LogStorage
    ) -> None:
        batches = [[entry(key, bytes([n])) for key in KEYS[n::7] * 2] for n in range(14)]
        written = sum(map(len, batches))

        await asyncio.gather(*(storage.append(batch, at_ms=1) for batch in batches))

        ends = await storage.ends([TOPIC])
        read = await storage.read(dict.fromkeys(ends, 0), limit=100 * written)
        assert sum(ends.values()) == len(read) == written
        for partition, deliveries in groupby(read, key=lambda d: d.partition):
            offsets = [d.offset for d in deliveries]
            assert offsets == list(range(ends[Place(TOPIC, partition)]))

    async def test_a_full_partition_leaves_room_for_the_others(self, storage: LogStorage) -> None:
        await storage.append([entry("m")] * 50, at_ms=1)
        await storage.append([entry("n")], at_ms=1)
        places = [Place(TOPIC, partition_of(key)) for key in ("m", "n")]

        read = await storage.read(dict.fromkeys(places, 0), limit=10)

        assert [d.entry.key for d in read] == ["m"] * 5 + ["n"]

    async def test_topics_are_apart(self, storage: LogStorage) -> None:
        await storage.append([entry(topic="one"), entry(topic="other")], at_ms=1)

        assert await storage.ends(["one"]) == {Place("one", partition_of("m")): 1}
        assert await storage.ends(["none"]) == {}
        assert await storage.ends([]) == {}

    async def test_a_position_never_goes_back(self, storage: LogStorage) -> None:
        place, other = Place(TOPIC, 3), Place("other", 3)
        await storage.commit("g", {place: 5, other: 1})

        await storage.commit("g", {place: 4, other: 2})

        assert await storage.committed("g", [TOPIC, "other"]) == {place: 5, other: 2}
        assert await storage.committed("g", [TOPIC]) == {place: 5}
        assert await storage.committed("h", [TOPIC]) == {}


class EventLogContract:
    """What an `EventLog` must do. Subclass it, with a fixture named `log`."""

    async def test_entries_of_a_key_arrive_in_order(self, log: EventLog) -> None:
        await log.append([entry(value=bytes([n])) for n in range(3)])
        await log.append([entry(value=bytes([n])) for n in range(3, 5)])

        assert values(await take(log, 5, group="g")) == [b"\0", b"\1", b"\2", b"\3", b"\4"]

    async def test_a_reader_that_waits_is_woken(self, log: EventLog) -> None:
        reading = asyncio.create_task(take(log, 1, group="g"))
        await asyncio.sleep(0)

        await log.append([entry(value=b"a")])

        assert values(await reading) == [b"a"]

    async def test_nothing_comes_of_waiting_for_nothing(self, log: EventLog) -> None:
        async with log.subscribe([TOPIC], group="g") as subscription:
            assert list(await subscription.fetch(wait_s=0.01)) == []

    async def test_an_uncommitted_delivery_comes_again(self, log: EventLog) -> None:
        await log.append([entry(value=b"a")])
        first = await take(log, 1, group="g")

        again = await take(log, 1, group="g")

        assert again == first

    async def test_a_group_goes_on_where_it_committed(self, log: EventLog) -> None:
        await log.append([entry(value=b"a"), entry(value=b"b"), entry(value=b"c")])
        async with log.subscribe([TOPIC], group="g") as subscription:
            deliveries = await subscription.fetch(wait_s=5)
            await subscription.commit(deliveries[:2])

        [rest] = await take(log, 1, group="g")

        assert rest.entry.value == b"c"

    async def test_groups_do_not_share_their_position(self, log: EventLog) -> None:
        await log.append([entry(value=b"a")])
        async with log.subscribe([TOPIC], group="one") as subscription:
            await subscription.commit(await subscription.fetch(wait_s=5))

        assert values(await take(log, 1, group="two")) == [b"a"]

    async def test_members_of_a_group_share_the_partitions(self, log: EventLog) -> None:
        await log.append([entry(key) for key in KEYS])
        async with (
            asyncio.timeout(20),
            log.subscribe([TOPIC], group="g") as one,
            log.subscribe([TOPIC], group="g") as other,
        ):
            read_by_one: set[str] = set()
            read_by_other: set[str] = set()
            while len(read_by_one) + len(read_by_other) < len(KEYS):
                read_by_one |= {d.entry.key for d in await one.fetch(wait_s=0.1)}
                read_by_other |= {d.entry.key for d in await other.fetch(wait_s=0.1)}

        assert read_by_one
        assert read_by_other
        assert not read_by_one & read_by_other

    async def test_what_a_member_leaves_behind_goes_to_the_others(self, log: EventLog) -> None:
        await log.append([entry(key) for key in KEYS])
        async with log.subscribe([TOPIC], group="g") as stays:
            read: set[str] = set()
            async with log.subscribe([TOPIC], group="g") as leaves:
                assert await leaves.fetch(wait_s=5)
            async with asyncio.timeout(20):
                while len(read) < len(KEYS):
                    read |= {d.entry.key for d in await stays.fetch(wait_s=5)}

        assert read == set(KEYS)

    async def test_a_rebalance_brings_nothing_twice_that_a_member_keeps(
        self, log: EventLog
    ) -> None:
        await log.append([entry(key) for key in KEYS])
        async with log.subscribe([TOPIC], group="g") as stays:
            read: list[Delivery] = []
            while len(read) < len(KEYS):
                read += await stays.fetch(wait_s=5)
            async with log.subscribe([TOPIC], group="g"):
                again = await stays.fetch(wait_s=0.01)

        assert list(again) == []

    async def test_the_lag_is_what_is_not_fetched(self, log: EventLog) -> None:
        async with log.subscribe([TOPIC], group="g") as subscription:
            await subscription.fetch(wait_s=0)
            await log.append([entry(), entry("n")])
            before = subscription.lag()
            while subscription.lag():
                await subscription.fetch(wait_s=5)

        assert before == 2

    async def test_several_topics_are_read_by_one_subscription(self, log: EventLog) -> None:
        await log.append([entry(value=b"a", topic="one"), entry(value=b"b", topic="other")])

        read = await take(log, 2, group="g", topics=["one", "other"])

        assert {d.entry.topic: d.entry.value for d in read} == {"one": b"a", "other": b"b"}


class LocalEventLogContract(EventLogContract):
    """The log over a storage: subclass it, with a fixture named `storage`."""

    @pytest.fixture
    def log(self, storage: LogStorage) -> LocalEventLog:
        return LocalEventLog(storage, ManualClock(1_000))

    async def test_a_restart_loses_nothing(self, storage: LogStorage) -> None:
        before = LocalEventLog(storage, ManualClock(1))
        await before.append([entry(value=b"a"), entry(value=b"b")])
        async with before.subscribe([TOPIC], group="g") as subscription:
            [first, _] = await subscription.fetch(wait_s=5)
            await subscription.commit([first])

        after = LocalEventLog(storage, ManualClock(1))

        assert values(await take(after, 1, group="g")) == [b"b"]

    async def test_what_another_process_writes_is_found(self, storage: LogStorage) -> None:
        ours = LocalEventLog(storage, ManualClock(1), poll_s=0.02)
        theirs = LocalEventLog(storage, ManualClock(1))
        async with asyncio.timeout(20), ours.subscribe([TOPIC], group="g") as subscription:
            assert not await subscription.fetch(wait_s=0)
            await theirs.append([entry(value=b"a")])

            read = await subscription.fetch(wait_s=10)

        assert values(read) == [b"a"]

    async def test_an_append_that_nobody_waits_for_is_written(self, log: LocalEventLog) -> None:
        append = asyncio.create_task(log.append([entry(value=b"a")]))
        await asyncio.sleep(0)
        append.cancel()
        await asyncio.wait([append])
        await log.close()

        assert append.cancelled()
        assert values(await take(log, 1, group="g")) == [b"a"]

    async def test_an_entry_carries_the_trace_in_which_it_was_written(
        self, log: LocalEventLog
    ) -> None:
        trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        with traces.serving("a.B/C", trace):
            await log.append([Entry(topic=TOPIC, key="m", value=b"", headers={"type": "T"})])

        [read] = await take(log, 1, group="g")

        assert read.entry.headers == {"type": "T", **trace}

    async def test_every_partition_is_read(self, log: LocalEventLog) -> None:
        await log.append([entry(key) for key in KEYS])

        read = await take(log, len(KEYS), group="g")

        assert {d.partition for d in read} == {partition_of(key) for key in KEYS}
        assert {d.partition for d in read} <= set(range(PARTITIONS))
        assert {d.at_ms for d in read} == {1_000}
