"""Streams of a match: without a gap and without a repeat, whoever else reads or does not.

Cited: R0, R1; I1, I3.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from statistics import median
from typing import Any, Final

import grpc
import pytest
from grpc import StatusCode

from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.wire.record import GENESIS, StoredRecord, open_envelope
from services.console.seat import PlayedSeat
from tests.chassis.answers import failure
from tests.e2e.rig import (
    Refusal,
    Stage,
    Table,
    change,
    create_room,
    new_name,
    refusal_of,
    start_match,
    stored,
)
from tests.support.calling import Client, next_of, rest_of, slow_channel
from tests.support.walks import Dice

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

RECORDS: Final = 250
"""How many records a match of this file has at least."""

CUTTERS: Final = 3
READ_MOST: Final = 12
"""How much of a stream is read before it is cut."""


class Busy:
    """A match of a person and two bots, who play as fast as they can.

    Two players may be done with each other within a few rounds; three hardly ever are.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._name = new_name()
        self.person = stage.person(self._name)

    async def open(self) -> None:
        room = await create_room(self.person, seats=3)
        for _ in range(2):
            await change(self.person, "AddBot", room, strength="steady")
        self.table = Table(await start_match(self.person, room), [self._name], [self.person])

    async def play(self, records: int = RECORDS) -> None:
        """Play until there are so many records, and give up then; the bots play on."""
        match_id = MatchId(self.table.match_id)
        system = self._stage.system
        async with system.client(self._name) as client, client.play(match_id) as table:
            seat = PlayedSeat(table, 0, 1)
            async for _ in table:
                records -= 1
                if records <= 0:
                    break
                if not table.has_waiting:
                    await seat.play()
        with suppress(grpc.aio.AioRpcError):  # it may be over already
            await self.person.submit(self.table.match_id, "surrender")


@pytest.fixture
async def busy(stage: Stage) -> Busy:
    busy = Busy(stage)
    await busy.open()
    return busy


async def test_a_stream_that_is_cut_anywhere_goes_on_without_a_gap_or_a_repeat(
    stage: Stage, busy: Busy
) -> None:
    """R0, R1; I1, I3."""
    cutting = [asyncio.create_task(cut_up(stage.person(), busy, n)) for n in range(CUTTERS)]
    await busy.play()
    told = await asyncio.gather(*cutting)
    records = await busy.table.records()

    assert len(records) >= RECORDS
    for heard, cuts in told:
        assert heard == records
        assert cuts >= RECORDS // READ_MOST


async def cut_up(watcher: Client, busy: Busy, seed: int) -> tuple[list[StoredRecord], int]:
    """Watch a match to its end in pieces, and return what was heard, and in how many pieces."""
    dice, heard, cuts = Dice(seed), list[StoredRecord](), 0
    while True:
        after = heard[-1].last_seq if heard else 0
        if heard and not dice.below(3):
            # From before the last record, or from inside it: then it comes once more, whole.
            last = heard.pop()
            after = last.first_seq - 1 + dice.below(last.last_seq - last.first_seq + 1)
        call = watcher.watch(busy.table.match_id, after=after)
        snapshot = await next_of("snapshot", call)
        assert not snapshot.HasField("match")
        assert snapshot.sequence == (heard[-1].last_seq if heard else 0)
        assert snapshot.chain_hash == (heard[-1].hash if heard else GENESIS)
        for _ in range(1 + dice.below(READ_MOST)):
            response = await call.read()
            if response.HasField("record"):
                heard.append(stored(response.record))
            if response.HasField("go_away"):
                assert response.go_away.reason == "MATCH_ENDED"
                assert response.go_away.last_sequence == heard[-1].last_seq
                assert await call.read() is grpc.aio.EOF
                return heard, cuts
        call.cancel()
        cuts += 1


async def test_who_does_not_read_is_cut_off_and_holds_up_nobody(stage: Stage, busy: Busy) -> None:
    async with AsyncExitStack() as stack:
        channel = await stack.enter_async_context(slow_channel(stage.system.gateway))
        idle = [stage.person().on(channel).watch(busy.table.match_id, after=0) for _ in range(3)]
        for stream in idle:
            await stream.read()
        watcher = stage.person().watch(busy.table.match_id, after=0)
        playing = asyncio.create_task(busy.play(3 * RECORDS))
        read, late_ms = await timed(watcher, stage.system.clock)
        await playing

        assert read == await busy.table.records()
        # Half of them, since a busy machine has everybody wait now and then.
        assert median(late_ms) < 500
        for stream in idle:
            error = await failure(rest_of(stream))
            told = refusal_of(error, StatusCode.RESOURCE_EXHAUSTED)
            assert told._replace(metadata={}) == Refusal("SLOW_READER", {}, (), may_retry=True)
            # Whichever is reached first.
            assert told.metadata["limit"] in ("stream_queue", "stream_write_seconds")


async def timed(call: Any, clock: Clock) -> tuple[list[StoredRecord], list[int]]:
    """Read a stream to its end, and return its records, and how long after they were made."""
    records, late_ms = list[StoredRecord](), list[int]()
    while (response := await call.read()) is not grpc.aio.EOF:
        if response.HasField("record"):
            records.append(stored(response.record))
            late_ms.append(clock.now_ms() - open_envelope(response.record.data).at_ms)
    return records, late_ms


async def test_a_stream_ends_with_the_token_of_its_caller(stage: Stage, table: Table) -> None:
    head = await table.head()
    person = stage.person(table.names[0], ttl_ms=2_000)
    streams = [person.watch(table.match_id), await person.play(table.match_id)]
    for stream in streams:
        away = await next_of("go_away", stream)
        error = await failure(rest_of(stream))

        assert (away.reason, away.last_sequence) == ("TOKEN_EXPIRED", head.sequence)
        assert not away.HasField("reconnect_after_ms")
        assert refusal_of(error, StatusCode.UNAUTHENTICATED) == Refusal("TOKEN_EXPIRED", {})
    assert await table.head() == head


async def test_who_is_there_is_told_to_all_who_are(stage: Stage, table: Table) -> None:
    ann, bob = table.people
    spectator = stage.person("", "spectator")
    watching = ann.watch(table.match_id)
    await there(watching, [0], 0)
    playing = await bob.play(table.match_id)
    await there(watching, [0, 1], 0)
    looking = [spectator.watch(table.match_id), stage.person().watch(table.match_id)]
    for stream in (watching, playing, *looking):
        await there(stream, [0, 1], 2)
    playing.cancel()
    looking.pop().cancel()

    await there(watching, [0], 1)


async def there(call: Any, seats: list[int], spectators: int) -> None:
    """Read until so many are there; a stream that never says so runs into its deadline."""
    while True:
        presence = await next_of("presence", call)
        if (list(presence.connected_seats), presence.spectators) == (seats, spectators):
            return


async def test_a_quiet_stream_gives_signs_of_life(stage: Stage, table: Table) -> None:
    head = await table.head()
    stream = stage.person("", "spectator").watch(table.match_id)
    snapshot = await next_of("snapshot", stream)
    beats = [await next_of("heartbeat", stream) for _ in range(2)]

    assert snapshot.match.sequence == head.sequence
    assert not snapshot.match.HasField("viewer_seat")
    assert [beat.head_sequence for beat in beats] == [head.sequence] * 2
    times = [snapshot.server_time_ms, *(beat.server_time_ms for beat in beats)]
    assert times == sorted(times)
    assert abs(times[-1] - stage.system.clock.now_ms()) < 5_000


async def test_a_watcher_that_says_nothing_of_a_sequence_is_told_from_now_on(
    table: Table,
) -> None:
    ann = table.people[0]
    stream = ann.watch(table.match_id)
    snapshot = await next_of("snapshot", stream)
    before = await table.match(ann)
    await table.play(await table.state())
    record = await next_of("record", stream)

    for each in (snapshot.match, before):
        each.server_time_ms = 0
    assert snapshot.match == before
    assert snapshot.match.viewer_seat == 0
    assert (snapshot.sequence, snapshot.chain_hash) == (before.sequence, before.chain_hash)
    assert record.first_seq == snapshot.sequence + 1


@pytest.mark.parametrize(
    ("after", "code", "reason"),
    [
        (-1, StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
        (2**63 - 1, StatusCode.ABORTED, "STALE_SEQUENCE"),
    ],
)
async def test_nobody_is_told_what_there_is_not(
    table: Table, after: int, code: StatusCode, reason: str
) -> None:
    error = await failure(rest_of(table.people[0].watch(table.match_id, after=after)))

    assert refusal_of(error, code).reason == reason
