"""How services follow matches: what matters to them once, positions together, and mistakes anew."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import pytest

from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.local import LocalEventLog
from libs.eventlog.match_reading import MatchReader
from libs.eventlog.ports import Entry
from libs.eventlog.reading import BrokenStreamError
from libs.eventlog.storage import MemoryLogStorage
from libs.eventlog.topics import MATCH_RECORDS, dead
from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId, SeededIds
from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.events import UnreadableError
from libs.wire.record import SYSTEM, StoredRecord
from tests.support.waiting import until

_IDS = SeededIds(b"match reading")
ONE, TWO = _IDS.match_id(1), _IDS.match_id(1)


class Kept:
    """A projection in memory."""

    def __init__(self) -> None:
        self.positions: dict[MatchId, Position] = {}
        self.applied: list[tuple[MatchId, Sequence[e.Event]]] = []
        self.moves: list[set[MatchId]] = []
        self.forgotten: list[MatchId] = []
        self.unreadable: set[MatchId] = set()
        self.ignored: set[MatchId] = set()

    async def position(self, match_id: MatchId) -> Position:
        return self.positions.get(match_id, Position())

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        if record.match_id in self.unreadable:
            raise UnreadableError("it makes no sense")
        if record.match_id in self.ignored:
            return False
        self.applied.append((record.match_id, events))
        self.positions[record.match_id] = Position(record.last_seq, record.hash)
        return True

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        self.moves.append(set(positions))
        self.positions |= positions

    async def forget(self, match_id: MatchId) -> None:
        self.forgotten.append(match_id)
        self.positions.pop(match_id, None)


class Following:
    """A log with the records of matches, their engine, and a service that follows them."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000)
        self.log = LocalEventLog(MemoryLogStorage(), self.clock, poll_s=0.05)
        self.kept = Kept()
        self.engine: dict[MatchId, list[StoredRecord]] = {}
        self.fetches = 0
        self._chains: dict[MatchId, Chain] = {}
        self.reader = self.start()

    def start(self, keep_s: float = 0.05) -> MatchReader:
        self.reader = MatchReader(
            log=self.log,
            group="g",
            kinds=(e.RoundStarted,),
            projection=self.kept,
            fetch=self._fetch,
            clock=self.clock,
            keep_s=keep_s,
        )
        return self.reader

    def write(self, match_id: MatchId, *events: e.Event) -> StoredRecord:
        chain = self._chains.setdefault(match_id, Chain(match_id))
        stored = chain.join(_IDS.command_id(1), SYSTEM, 1, events)
        self.engine.setdefault(match_id, []).append(stored)
        return stored

    async def publish(self, match_id: str, *records: StoredRecord) -> None:
        await self.log.append(
            [Entry(topic=MATCH_RECORDS.name, key=match_id, value=record.data) for record in records]
        )

    async def happens(self, match_id: MatchId, *events: e.Event) -> None:
        await self.publish(match_id, self.write(match_id, *events))

    async def dead_letters(self) -> int:
        async with self.log.subscribe([dead(MATCH_RECORDS.name)], group="test") as letters:
            return len(await letters.fetch(wait_s=0))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["asyncio.Task[None]"]:
        task = asyncio.create_task(self.reader.run())
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, BrokenStreamError):
                await task

    async def _fetch(self, match_id: MatchId, after_seq: int) -> Sequence[bytes]:
        self.fetches += 1
        return [each.data for each in self.engine[match_id] if each.first_seq > after_seq]


@pytest.fixture
def following() -> Following:
    return Following()


TURN = e.TurnEnded(0)


async def test_events_that_matter_are_applied_and_the_others_passed_over(
    following: Following,
) -> None:
    await following.happens(ONE, e.RoundStarted(1), TURN)
    await following.happens(ONE, TURN)
    await following.happens(ONE, TURN, e.RoundStarted(2))
    async with following.running():
        await until(lambda: len(following.kept.applied) == 2)

    assert following.kept.applied == [(ONE, [e.RoundStarted(1)]), (ONE, [e.RoundStarted(2)])]


async def test_positions_behind_what_does_nothing_are_written_together(
    following: Following,
) -> None:
    following.kept.ignored = {TWO}
    for _ in range(3):
        await following.happens(ONE, TURN)
        await following.happens(TWO, e.RoundStarted(1))
    async with following.running():
        await until(lambda: len(following.kept.positions) == 2)

    assert following.kept.moves == [{ONE, TWO}]
    assert {each.last_seq for each in following.kept.positions.values()} == {3}


async def test_what_was_not_written_comes_again_after_a_restart(following: Following) -> None:
    following.start(keep_s=60)
    await following.happens(ONE, TURN)
    async with following.running():
        await until(lambda: bool(following.kept.moves))  # the first time at once
        await following.happens(ONE, TURN)
        await until(lambda: ONE in following.reader._unwritten)
    following.start()
    async with following.running():
        await until(lambda: following.kept.positions[ONE].last_seq == 2)

    assert following.fetches == 0


async def test_a_match_that_was_read_otherwise_is_forgotten_and_read_again(
    following: Following,
) -> None:
    following.kept.positions[ONE] = Position(1, bytes(32))
    records = [following.write(ONE, e.RoundStarted(number)) for number in (1, 2)]
    await following.publish(ONE, *records)
    async with following.running() as reading:
        while not reading.done():
            following.clock.advance(10_000)
            await asyncio.sleep(0.02)
    async with following.running():
        await until(lambda: len(following.kept.applied) == 2)

    assert isinstance(reading.exception(), BrokenStreamError)
    assert following.kept.forgotten == [ONE]


async def test_a_match_that_cannot_be_understood_is_out_of_the_way_for_good(
    following: Following,
) -> None:
    following.kept.unreadable = {ONE}
    await following.happens(ONE, e.RoundStarted(1))
    async with following.running():
        await until(lambda: following.reader._dead_letters._parked != set())
    following.kept.unreadable = set()
    await following.happens(ONE, e.RoundStarted(2))
    await following.happens(TWO, e.RoundStarted(1))
    async with following.running():
        await until(lambda: bool(following.kept.applied))

    assert [match_id for match_id, _ in following.kept.applied] == [TWO]
    assert await following.dead_letters() == 2


async def test_a_match_without_a_match_id_is_poison(following: Following) -> None:
    nameless = MatchId("nameless")
    await following.happens(nameless, e.RoundStarted(1))
    await following.happens(TWO, e.RoundStarted(1))
    async with following.running():
        await until(lambda: bool(following.kept.applied))

    assert await following.dead_letters() == 1
    assert nameless not in following.kept.positions
