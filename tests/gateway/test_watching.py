"""Watching: a snapshot, then every record once, whatever happens to the engines meanwhile."""

import asyncio
from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.wire.record import GENESIS, StoredRecord
from tests.chassis.answers import answer, everything
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig, go_on
from tests.gateway.world import stored_message
from tests.support.calling import next_of, rest_of
from tests.support.gateway import LiveMatch
from tests.support.waiting import until


async def record_of(call: Any) -> StoredRecord:
    """Return the next record of a stream."""
    message = await next_of("record", call)
    return StoredRecord(message.first_seq, message.last_seq, message.hash, message.data)


async def records_of(call: Any, many: int) -> list[StoredRecord]:
    return [await record_of(call) for _ in range(many)]


async def test_a_stream_begins_with_the_match_as_it_is_and_goes_on_from_there(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)

    snapshot = (await call.read()).snapshot
    begun = rig.live.match.sequence
    go_on(rig.live)

    assert snapshot.sequence == snapshot.head_sequence == begun
    assert snapshot.match.sequence == begun
    assert snapshot.match.viewer_seat == 0
    assert snapshot.chain_hash == rig.live.records[-2].hash
    assert await record_of(call) == rig.live.records[-1]


async def test_from_a_sequence_on_the_records_follow_and_no_match_is_sent(rig: Rig) -> None:
    middle = rig.live.records[0]
    call = rig.client().watch(rig.live.match_id, after=middle.last_seq)

    snapshot = (await call.read()).snapshot
    go_on(rig.live)

    assert not snapshot.HasField("match")
    assert (snapshot.sequence, snapshot.chain_hash) == (middle.last_seq, middle.hash)
    assert await records_of(call, len(rig.live.records) - 1) == rig.live.records[1:]


async def test_the_whole_history_comes_page_by_page_and_then_what_happens(rig: Rig) -> None:
    go_on(rig.live, 50)
    call = rig.client().watch(rig.live.match_id, after=0)

    snapshot = (await call.read()).snapshot
    first = await records_of(call, 10)
    go_on(rig.live)
    rest = await records_of(call, len(rig.live.records) - 10)

    assert (snapshot.sequence, snapshot.chain_hash) == (0, GENESIS)
    assert first + rest == rig.live.records


async def test_a_record_that_the_client_has_in_part_comes_whole(rig: Rig) -> None:
    long = next(r for r in rig.live.records if r.last_seq > r.first_seq)

    call = rig.client().watch(rig.live.match_id, after=long.first_seq)

    snapshot = (await call.read()).snapshot
    assert snapshot.sequence == long.first_seq - 1
    assert await record_of(call) == long


async def test_who_comes_back_to_what_is_in_memory_asks_no_engine(rig: Rig) -> None:
    first = rig.client().watch(rig.live.match_id)
    await first.read()
    begun = rig.live.match.sequence
    go_on(rig.live, 5)
    await records_of(first, 5)
    rig.engine.callers.clear()

    second = rig.client("bob").watch(rig.live.match_id, after=begun)
    snapshot = (await second.read()).snapshot

    assert snapshot.sequence == begun
    assert await records_of(second, 5) == rig.live.records[-5:]
    assert not rig.engine.callers
    assert len(rig.engine.follows) == 1


async def test_records_are_passed_on_in_the_very_bytes_that_were_stored(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id, after=0)

    message = await next_of("record", call)

    assert message == stored_message(rig.live.records[0])


@pytest.mark.parametrize(
    ("match_id", "after", "code", "reason"),
    [
        ("01920000-0000-7000-8000-0000000000ff", None, "NOT_FOUND", Reason.MATCH_NOT_FOUND),
        ("01920000-0000-7000-8000-0000000000ff", 0, "NOT_FOUND", Reason.MATCH_NOT_FOUND),
        ("", 100_000, "ABORTED", Reason.STALE_SEQUENCE),
        ("", -1, "INVALID_ARGUMENT", Reason.INVALID_REQUEST),
        ("x", None, "INVALID_ARGUMENT", Reason.INVALID_REQUEST),
    ],
    ids=["no match", "no match, from 0", "beyond the head", "below zero", "no id"],
)
async def test_what_cannot_be_watched_is_refused_before_anything_is_sent(
    rig: Rig, match_id: str, after: int | None, code: str, reason: Reason
) -> None:
    got = await answer(rig.client().watch(match_id or rig.live.match_id, after).read())

    assert got.code is StatusCode[code]
    assert got.told is not None
    assert got.told.reason == reason


async def test_the_stream_of_a_match_that_ends_says_so_and_ends_well(rig: Rig) -> None:
    live = rig.world.add(LiveMatch.of_bots("steady", "steady", seed=7))
    call = rig.client().watch(live.match_id)
    await call.read()
    end_now(live)

    news = await rest_of(call)

    assert news[-2].record.hash == live.records[-1].hash
    assert news[-1].go_away.reason == Reason.MATCH_ENDED
    assert not news[-1].go_away.HasField("reconnect_after_ms")
    assert news[-1].go_away.last_sequence == live.match.sequence
    assert await call.code() is StatusCode.OK


@pytest.mark.parametrize("after", [None, 0])
async def test_a_match_that_is_over_can_be_watched_from_anywhere(
    rig: Rig, after: int | None
) -> None:
    live = rig.world.add(LiveMatch.of_bots("steady", "steady", seed=7))
    end_now(live)

    news = await everything(rig.client().watch(live.match_id, after))

    records = [each.record.hash for each in news if each.HasField("record")]
    assert records == ([] if after is None else [record.hash for record in live.records])
    assert news[-1].go_away.reason == Reason.MATCH_ENDED
    assert not rig.engine.follows


async def test_records_that_were_lost_on_the_way_are_asked_for_anew(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    rig.engine.withheld.add(rig.live.match.sequence + 1)
    go_on(rig.live, 3)

    got = await records_of(call, 3)

    assert got == rig.live.records[-3:]
    assert len(rig.engine.follows) == 2


async def test_a_last_record_that_was_lost_is_noticed_by_the_head(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    await until(lambda: bool(rig.engine.follows))
    rig.engine.withheld.add(rig.live.match.sequence + 1)
    go_on(rig.live)

    assert await record_of(call) == rig.live.records[-1]


async def test_a_record_that_does_not_join_on_reaches_nobody(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    await until(lambda: bool(rig.engine.follows))
    rig.engine.forged.add(rig.live.match.sequence + 1)
    go_on(rig.live)

    go_away = await next_of("go_away", call)

    assert go_away.reason == Reason.NOT_OWNER_OF_SHARD
    assert go_away.last_sequence < rig.live.match.sequence
    assert (await answer(call.read())).code is StatusCode.UNAVAILABLE


async def test_a_match_that_moves_is_followed_at_its_new_owner(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    go_on(rig.live)
    await record_of(call)

    rig.world.move(rig.other)
    go_on(rig.live)

    assert await record_of(call) == rig.live.records[-1]
    [start] = rig.other.follows
    assert start.after_sequence == rig.live.records[-2].last_seq


async def test_a_stream_that_breaks_off_is_opened_again(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    await until(lambda: bool(rig.engine.follows))

    rig.engine.cut()
    go_on(rig.live)

    assert await record_of(call) == rig.live.records[-1]


async def test_a_match_that_nobody_owns_for_long_is_let_go_of(open_rig: OpenRig) -> None:
    rig = await open_rig(move_timeout_s=0.3)
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    await until(lambda: bool(rig.engine.follows))
    rig.engine.stopped[rig.live.match_id] = Reason.STORE_UNAVAILABLE
    rig.live.news()

    go_away = await next_of("go_away", call)

    assert go_away.reason == Reason.NOT_OWNER_OF_SHARD
    assert go_away.reconnect_after_ms > 0


async def test_a_match_that_is_quarantined_ends_its_streams(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    await until(lambda: bool(rig.engine.follows))
    rig.engine.stopped[rig.live.match_id] = Reason.MATCH_QUARANTINED
    rig.live.news()

    go_away = await next_of("go_away", call)

    assert go_away.reason == Reason.MATCH_QUARANTINED
    got = await answer(call.read())
    assert got.code is StatusCode.FAILED_PRECONDITION


async def test_a_quiet_stream_gives_signs_of_life(open_rig: OpenRig) -> None:
    rig = await open_rig(heartbeat_s=0.2)
    call = rig.client().watch(rig.live.match_id)
    await call.read()

    beats = [await next_of("heartbeat", call) for _ in range(3)]

    assert {beat.head_sequence for beat in beats} == {rig.live.match.sequence}
    assert abs(beats[-1].server_time_ms - rig.live.now_ms) < 10_000  # the engine's time, not ours


async def test_a_match_that_nobody_watches_any_more_is_not_followed(rig: Rig) -> None:
    call = rig.client().watch(rig.live.match_id)
    await call.read()
    await until(lambda: bool(rig.engine.follows))

    call.cancel()

    await until(lambda: rig.engine.stops == [rig.live.match_id])


async def test_many_watch_a_match_and_it_is_followed_once(rig: Rig) -> None:
    calls = [rig.client("cem").watch(rig.live.match_id) for _ in range(20)]
    for call in calls:
        await call.read()
    go_on(rig.live, 10)

    for call in calls:
        assert await records_of(call, 10) == rig.live.records[-10:]
    assert len(rig.engine.follows) == 1


async def test_who_joins_while_it_goes_on_misses_nothing(rig: Rig) -> None:
    async def play() -> None:
        for _ in range(150):
            go_on(rig.live)
            await asyncio.sleep(0)

    playing = asyncio.create_task(play())
    calls = []
    for n in range(10):
        calls.append(rig.client("cem").watch(rig.live.match_id, after=n))
        await calls[-1].read()
    await playing

    for n, call in enumerate(calls):
        expected = [record for record in rig.live.records if record.last_seq > n]
        assert await records_of(call, len(expected)) == expected


def end_now(live: LiveMatch) -> None:
    """Have a match end at once."""
    live.play(c.Surrender(0), "seat:0")
    assert live.has_ended
