from collections.abc import Sequence

import pytest

from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.following import GAP_WAIT_MS, ChainedRecord, Position
from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import Delivery, Entry
from libs.eventlog.reading import IDLE_MS, BrokenStreamError, RecordReader, UnfetchedError
from libs.eventlog.storage import MemoryLogStorage
from libs.eventlog.topics import dead, partition_of
from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId, SeededIds
from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM
from tests.eventlog.contract import take, values

TOPIC = "records"


class Reading:
    """A reader with its store, its engine and its log, all in memory."""

    def __init__(self) -> None:
        ids = SeededIds(b"reading")
        self.match_id = ids.match_id(1)
        self.clock = ManualClock(1_000)
        chain = Chain(self.match_id)
        self.engine = [
            chain.join(ids.command_id(1), SYSTEM, n, [e.RoundStarted(n)]).data for n in range(1, 6)
        ]
        self.applied: list[int] = []
        self.fetches = 0
        self.is_engine_away = False
        self.poison: set[int] = set()
        self.position = Position()
        self.log = LocalEventLog(MemoryLogStorage(), self.clock)
        self.reader = self.start()

    def start(self) -> RecordReader:
        self.reader = RecordReader(
            group="g",
            load=self._load,
            apply=self._apply,
            fetch=self._fetch,
            clock=self.clock,
            dead_letters=DeadLetters(self.log, "g"),
        )
        return self.reader

    async def give(self, *numbers: int) -> None:
        """Deliver records by number, from 1."""
        for number in numbers:
            await self.give_bytes(self.engine[number - 1], number)

    async def give_bytes(self, data: bytes, offset: int = 0, key: str | None = None) -> None:
        key = key or self.match_id
        entry = Entry(topic=TOPIC, key=key, value=data)
        await self.reader.handle(
            Delivery(entry=entry, partition=partition_of(key), offset=offset, at_ms=0)
        )

    async def _load(self, match_id: MatchId) -> Position:
        assert match_id == self.match_id
        return self.position

    async def _apply(self, record: ChainedRecord) -> None:
        if record.first_seq in self.poison:
            raise PoisonError("it makes no sense")
        self.applied.append(record.first_seq)
        self.position = Position(record.last_seq, record.hash)

    async def _fetch(self, match_id: MatchId, after_seq: int) -> Sequence[bytes]:
        assert match_id == self.match_id
        self.fetches += 1
        if self.is_engine_away:
            raise UnfetchedError("no engine answers")
        return self.engine[after_seq : after_seq + 2]


@pytest.fixture
def reading() -> Reading:
    return Reading()


async def test_records_are_applied_once_and_in_order(reading: Reading) -> None:
    await reading.give(1, 2, 1, 2, 3, 3)

    assert reading.applied == [1, 2, 3]
    assert await reading.reader.settle()


async def test_a_restart_goes_on_from_the_readers_own_position(reading: Reading) -> None:
    await reading.give(1, 2)
    reading.start()

    await reading.give(1, 2, 3)

    assert reading.applied == [1, 2, 3]


async def test_the_position_of_a_silent_match_is_asked_for_again(reading: Reading) -> None:
    await reading.give(1)
    reading.clock.advance(IDLE_MS)
    await reading.reader.settle()
    kept = dict(reading.reader._followers)
    await reading.give(1, 2)

    assert kept == {}
    assert reading.applied == [1, 2]


async def test_a_match_that_waits_for_a_record_is_never_let_go_of(reading: Reading) -> None:
    reading.is_engine_away = True
    await reading.give(1, 3)
    reading.clock.advance(IDLE_MS)
    await reading.reader.settle()

    assert list(reading.reader._followers) == [reading.match_id]


async def test_a_gap_that_fills_by_itself_is_not_fetched(reading: Reading) -> None:
    await reading.give(1, 3)
    settled_in_the_gap = await reading.reader.settle()
    await reading.give(2)

    assert not settled_in_the_gap
    assert await reading.reader.settle()
    assert reading.applied == [1, 2, 3]
    assert reading.fetches == 0


async def test_a_gap_that_lasts_is_fetched_from_the_engine(reading: Reading) -> None:
    await reading.give(5)
    reading.clock.advance(GAP_WAIT_MS)

    assert await reading.reader.settle()
    assert reading.applied == [1, 2, 3, 4, 5]


async def test_what_the_engine_does_not_have_was_never_there(reading: Reading) -> None:
    await reading.give(1, 3)
    reading.clock.advance(GAP_WAIT_MS)
    del reading.engine[1:]

    assert await reading.reader.settle()
    assert reading.applied == [1]


async def test_a_reader_whose_own_record_is_not_the_engines_stops(reading: Reading) -> None:
    reading.position = Position(1, b"\1" * 32)
    await reading.give(3)
    reading.clock.advance(GAP_WAIT_MS)

    with pytest.raises(BrokenStreamError):
        await reading.reader.settle()


async def test_bytes_that_are_no_record_are_poison(reading: Reading) -> None:
    with pytest.raises(PoisonError):
        await reading.give_bytes(b"\xff")


async def test_a_record_under_the_key_of_another_match_is_poison(reading: Reading) -> None:
    with pytest.raises(PoisonError):
        await reading.give_bytes(reading.engine[0], key="another")


async def test_a_match_whose_gap_can_not_be_read_goes_to_the_dead_letters(
    reading: Reading,
) -> None:
    await reading.give(1, 3, 4)
    reading.engine[1] = b"\xff"
    reading.clock.advance(GAP_WAIT_MS)

    assert await reading.reader.settle()
    letters = await take(reading.log, 2, group="ops", topics=[dead(TOPIC)])
    assert values(letters) == reading.engine[2:4]
    assert reading.applied == [1]


async def test_a_gap_that_no_engine_can_fill_now_is_tried_again_later(reading: Reading) -> None:
    await reading.give(1, 3)
    reading.clock.advance(GAP_WAIT_MS)
    reading.is_engine_away = True
    settled = [await reading.reader.settle() for _ in range(3)]
    reading.is_engine_away = False
    reading.clock.advance(GAP_WAIT_MS)

    assert await reading.reader.settle()
    assert settled == [False] * 3
    assert reading.fetches == 2
    assert reading.applied == [1, 2, 3]


async def test_a_record_that_can_never_be_applied_is_poison(reading: Reading) -> None:
    reading.poison = {2}

    with pytest.raises(PoisonError):
        await reading.give(1, 2)


async def test_one_that_waited_and_can_never_be_applied_goes_to_the_dead_letters(
    reading: Reading,
) -> None:
    reading.poison = {3}

    await reading.give(1, 3, 4, 2)

    letters = await take(reading.log, 2, group="ops", topics=[dead(TOPIC)])
    assert values(letters) == reading.engine[2:4]
    assert reading.applied == [1, 2]
    assert await reading.reader.settle()


async def test_one_that_was_fetched_and_can_never_be_applied_takes_along_what_waits(
    reading: Reading,
) -> None:
    reading.poison = {2}
    await reading.give(1, 3)
    reading.clock.advance(GAP_WAIT_MS)

    assert await reading.reader.settle()
    letters = await take(reading.log, 1, group="ops", topics=[dead(TOPIC)])
    assert values(letters) == reading.engine[2:3]


async def test_a_broken_stream_names_its_match(reading: Reading) -> None:
    reading.position = Position(1, b"\1" * 32)
    await reading.give(3)
    reading.clock.advance(GAP_WAIT_MS)

    with pytest.raises(BrokenStreamError) as raised:
        await reading.reader.settle()

    assert raised.value.match_id == reading.match_id


async def test_what_the_reader_can_not_apply_comes_again(reading: Reading) -> None:
    async def fail(_: ChainedRecord) -> None:
        raise OSError("the database is gone")

    reading.reader._apply = fail
    with pytest.raises(OSError, match="gone"):
        await reading.give(1)
    reading.start()

    await reading.give(1)

    assert reading.applied == [1]
