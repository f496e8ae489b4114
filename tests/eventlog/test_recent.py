"""Readers that keep up are served from memory, and see what the storage would have told them."""

from collections.abc import Mapping, Sequence

from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import Delivery, Entry
from libs.eventlog.recent import Recent
from libs.eventlog.storage import MemoryLogStorage, Place
from libs.eventlog.topics import partition_of
from libs.kernel.clock import ManualClock
from tests.eventlog.contract import TOPIC, entry, take, values

PLACE = Place(TOPIC, partition_of("key"))


class CountingStorage(MemoryLogStorage):
    """A storage that counts how often it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def read(self, positions: Mapping[Place, int], *, limit: int) -> Sequence[Delivery]:
        self.reads += 1
        return await super().read(positions, limit=limit)


def written(*contents: bytes) -> list[Entry]:
    return [entry("key", value) for value in contents]


async def test_whoever_keeps_up_asks_the_storage_for_nothing() -> None:
    storage = CountingStorage()
    log = LocalEventLog(storage, ManualClock(7))
    await log.append(written(b"a", b"b"))
    recent = await take(log, 2, group="one")
    stored = await storage.read({PLACE: 0}, limit=10)

    assert recent == stored
    assert storage.reads == 1


async def test_what_another_process_wrote_in_between_is_read_from_the_storage() -> None:
    storage = CountingStorage()
    ours, theirs = (LocalEventLog(storage, ManualClock(7), poll_s=0.01) for _ in range(2))
    await ours.append(written(b"a"))
    await theirs.append(written(b"b"))
    await ours.append(written(b"c"))

    assert values(await take(ours, 3, group="g")) == [b"a", b"b", b"c"]
    assert storage.reads > 0


def test_entries_are_read_from_an_offset_on() -> None:
    recent = Recent()
    recent.add(written(b"a", b"b", b"c"), {PLACE: 13}, 7)

    assert values(recent.read(PLACE, 11, 10)) == [b"b", b"c"]
    assert values(recent.read(PLACE, 10, 2)) == [b"a", b"b"]
    assert [delivery.offset for delivery in recent.read(PLACE, 10, 9)] == [10, 11, 12]


def test_what_is_older_than_memory_is_not_there() -> None:
    recent = Recent()
    recent.add(written(b"a"), {PLACE: 11}, 7)

    assert recent.read(PLACE, 9, 10) == ()
    assert recent.read(Place(TOPIC, PLACE.partition ^ 1), 0, 10) == ()


def test_no_more_is_kept_than_there_is_room_for() -> None:
    recent = Recent(bytes_max=5)
    recent.add(written(b"aa", b"bb"), {PLACE: 2}, 7)
    recent.add(written(b"cc"), {PLACE: 3}, 7)

    assert recent.read(PLACE, 0, 10) == ()
    assert values(recent.read(PLACE, 1, 10)) == [b"bb", b"cc"]


def test_a_gap_forgets_what_came_before_it() -> None:
    recent = Recent(bytes_max=5)
    recent.add(written(b"aa"), {PLACE: 1}, 7)
    recent.add(written(b"cc"), {PLACE: 3}, 7)
    recent.add(written(b"dd"), {PLACE: 4}, 7)

    assert recent.read(PLACE, 0, 10) == ()
    assert values(recent.read(PLACE, 2, 10)) == [b"cc", b"dd"]


def test_appends_that_overtake_each_other_leave_no_hole() -> None:
    recent = Recent()
    recent.add(written(b"b"), {PLACE: 2}, 7)
    recent.add(written(b"a"), {PLACE: 1}, 7)

    assert values(recent.read(PLACE, 0, 10)) == [b"a"]
    assert recent.read(PLACE, 1, 10) in ([], ())
