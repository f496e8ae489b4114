import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest

from libs.eventlog.consumer import Each, Handler, consume
from libs.eventlog.dead_letters import (
    DeadLetterLimit,
    DeadLetters,
    PoisonError,
    TooManyDeadLettersError,
)
from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import Delivery, Entry
from libs.eventlog.storage import MemoryLogStorage, Place
from libs.eventlog.topics import dead
from libs.kernel.clock import ManualClock
from tests.eventlog.contract import TOPIC, entry, take, values


class WatchedStorage(MemoryLogStorage):
    """A storage in memory that tells how far the group has come whenever it commits."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: asyncio.Queue[int] = asyncio.Queue()

    async def commit(self, group: str, positions: Mapping[Place, int]) -> None:
        await super().commit(group, positions)
        await self.commits.put(sum((await self.committed(group, [TOPIC])).values()))


@pytest.fixture
def storage() -> WatchedStorage:
    return WatchedStorage()


@pytest.fixture
def log(storage: WatchedStorage) -> LocalEventLog:
    return LocalEventLog(storage, ManualClock(0))


class Handled:
    """Keeps what it handles, and finds poison in whatever begins with an x."""

    def __init__(self) -> None:
        self.values: asyncio.Queue[bytes] = asyncio.Queue()

    async def handle(self, delivery: Delivery) -> None:
        if delivery.entry.value.startswith(b"x"):
            raise PoisonError("unreadable")
        await self.values.put(delivery.entry.value)

    async def next(self, number: int) -> list[bytes]:
        async with asyncio.timeout(10):
            return [await self.values.get() for _ in range(number)]


@asynccontextmanager
async def consuming(
    log: LocalEventLog, handler: Handler, dead_letters: DeadLetters | None = None
) -> AsyncIterator[None]:
    task = asyncio.create_task(
        consume(log, [TOPIC], group="g", handler=handler, dead_letters=dead_letters)
    )
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()


async def test_entries_are_handled_in_order_and_committed(
    log: LocalEventLog, storage: WatchedStorage
) -> None:
    handled = Handled()
    await log.append([entry(value=b"a"), entry(value=b"b")])
    async with consuming(log, Each(handled.handle)):
        await log.append([entry(value=b"c")])
        seen = await handled.next(3)
        async with asyncio.timeout(10):
            while await storage.commits.get() < 3:
                pass

    assert seen == [b"a", b"b", b"c"]


async def test_a_failing_handler_ends_the_loop_and_loses_nothing(log: LocalEventLog) -> None:
    async def handle(_: Delivery) -> None:
        raise OSError("the database is gone")

    await log.append([entry(value=b"a")])
    with pytest.raises(OSError, match="gone"):
        await consume(log, [TOPIC], group="g", handler=Each(handle))

    assert values(await take(log, 1, group="g")) == [b"a"]


async def test_poison_goes_to_the_dead_topic_and_the_others_go_on(log: LocalEventLog) -> None:
    handled = Handled()
    poison = Entry(topic=TOPIC, key="bad", value=b"x", headers={"type": "Odd"})
    await log.append([entry(value=b"a"), poison, entry(value=b"b")])
    async with consuming(log, Each(handled.handle)):
        seen = await handled.next(2)
        [letter] = await take(log, 1, group="ops", topics=[dead(TOPIC)])

    assert sorted(seen) == [b"a", b"b"]
    assert letter.entry.value == b"x"
    assert letter.entry.key == "bad"
    assert letter.entry.headers == {
        "type": "Odd",
        "dead_reason": "unreadable",
        "dead_group": "g",
        "dead_partition": str(letter.partition),
        "dead_offset": "0",
    }


async def test_what_comes_after_poison_under_its_key_follows_it(log: LocalEventLog) -> None:
    handled = Handled()
    await log.append([entry("m", b"x"), entry("m", b"later"), entry("n", b"other")])
    async with consuming(log, Each(handled.handle)):
        seen = await handled.next(1)
        letters = await take(log, 2, group="ops", topics=[dead(TOPIC)])

    assert seen == [b"other"]
    assert values(letters) == [b"x", b"later"]
    assert handled.values.empty()


async def test_too_much_poison_stops_the_reader_before_it_drains_the_topic(
    log: LocalEventLog, storage: WatchedStorage
) -> None:
    limit = DeadLetterLimit(count=2, within_s=60)
    dead_letters = DeadLetters(log, "g", limit, monotonic_s=lambda: 0.0)
    await log.append([entry(f"key-{n}", b"x") for n in range(3)])

    with pytest.raises(TooManyDeadLettersError):
        await consume(
            log, [TOPIC], group="g", handler=Each(Handled().handle), dead_letters=dead_letters
        )

    assert len(await take(log, 2, group="ops", topics=[dead(TOPIC)])) == 2
    assert storage.commits.empty()


async def test_dead_letters_are_counted_within_their_time(log: LocalEventLog) -> None:
    now_s = [0.0]
    limit = DeadLetterLimit(count=1, within_s=60)
    dead_letters = DeadLetters(log, "g", limit, monotonic_s=lambda: now_s[0])
    await log.append([entry(key, b"x") for key in ("a", "b", "c")])
    first, second, third = await take(log, 3, group="g")
    await dead_letters.bury(first, "unreadable")
    now_s[0] = 59.9
    with pytest.raises(TooManyDeadLettersError):
        await dead_letters.bury(second, "unreadable")
    now_s[0] = 60.0

    await dead_letters.bury(third, "unreadable")

    assert len(await take(log, 2, group="ops", topics=[dead(TOPIC)])) == 2


class Batch:
    """A handler that has things in hand until it is told to let go."""

    def __init__(self) -> None:
        self.in_hand: list[bytes] = []
        self.may_finish = False
        self.settled: asyncio.Queue[Sequence[bytes]] = asyncio.Queue()

    async def handle(self, delivery: Delivery) -> None:
        self.in_hand.append(delivery.entry.value)

    async def settle(self) -> bool:
        await self.settled.put(tuple(self.in_hand))
        return self.may_finish


async def test_nothing_is_committed_while_a_handler_has_something_in_hand(
    log: LocalEventLog, storage: WatchedStorage
) -> None:
    batch = Batch()
    await log.append([entry(value=b"a")])
    async with asyncio.timeout(10), consuming(log, batch):
        assert await batch.settled.get() == (b"a",)
        was_uncommitted = storage.commits.empty()
        batch.may_finish = True
        await log.append([entry(value=b"b")])
        end = await storage.commits.get()

    assert was_uncommitted
    assert end == 2


async def test_a_handler_settles_now_and_then_while_entries_keep_coming(
    log: LocalEventLog,
) -> None:
    batch = Batch()
    batch.may_finish = True
    async with asyncio.timeout(10), consuming(log, batch):
        for number in range(20):
            await log.append([entry(value=b"%d" % number)])
            await asyncio.sleep(0)
        settled = 1
        while len(await batch.settled.get()) < 20:
            settled += 1

    assert settled <= 3
