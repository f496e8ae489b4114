"""The whole service: records come in by the log, rewards go out by gRPC and by the log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from libs.eventlog.following import GAP_WAIT_MS
from libs.eventlog.topics import PROGRESSION_EVENTS
from libs.kernel.clock import ManualClock
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from libs.wire.progress import check_progress, read_progress
from opolyx.progression.v1 import progression_event_pb2 as event_pb
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN
from tests.progression.served import NOW_MS, Served, serving
from tests.support.builders import CLASSIC_2
from tests.support.engine import Engine
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
async def served(
    emptied: str, tmp_path: Path, engine: Engine, clock: ManualClock
) -> AsyncIterator[Served]:
    async with serving(emptied, tmp_path, engine.address, clock=clock) as opened:
        yield opened


async def published(served: Served, player_id: str, count: int) -> list[event_pb.ProgressionEvent]:
    """Return the first events of a player in the log, so many of them."""
    found: list[event_pb.ProgressionEvent] = []
    async with (
        asyncio.timeout(20),
        served.log.subscribe([PROGRESSION_EVENTS.name], group="somebody") as subscription,
    ):
        while len(found) < count:
            fetched = await subscription.fetch(wait_s=1)
            found += [read_progress(d.entry.value) for d in fetched if d.entry.key == player_id]
    return found


async def test_a_match_played_to_its_end_is_rewarded_and_told(
    served: Served, match: Played
) -> None:
    await served.publish(match.match_id, match.records)
    await until(served.has_rewards(ANN))

    profile = await served.profile(ANN)
    events = await published(served, ANN, profile.sequence)
    assert profile.experience == match.experience(0)
    assert check_progress(events) == profile.card_count == 1
    assert (await served.profile(BEN)).experience == match.experience(1)


async def test_what_the_log_lacks_is_fetched_from_the_engine(
    served: Served, engine: Engine, clock: ManualClock, match: Played
) -> None:
    engine.hold(match.match_id, match.records)
    await served.publish(match.match_id, match.records[:3] + match.records[-1:])
    clock.advance(GAP_WAIT_MS)

    async def is_rewarded() -> bool:
        clock.advance(GAP_WAIT_MS)
        return await served.has_rewards(ANN)()

    await until(is_rewarded)

    assert engine.reads > 0
    assert (await served.profile(ANN)).experience == match.experience(0)


@pytest.mark.parametrize("reason", [Reason.MATCH_QUARANTINED, Reason.STORE_UNAVAILABLE])
async def test_a_match_that_its_engine_does_not_tell_holds_up_no_other(
    served: Served, engine: Engine, clock: ManualClock, match: Played, reason: Reason
) -> None:
    """Whatever is the matter with it, it is asked for again until it is told."""
    silent = played(CLASSIC_2, 4, [BEN])
    engine.refuses[silent.match_id] = reason
    await served.publish(silent.match_id, silent.records[1:])
    clock.advance(GAP_WAIT_MS)
    await until(lambda: engine.reads > 0)

    await served.publish(match.match_id, match.records)
    await until(served.has_rewards(BEN))
    meanwhile = [each.match_id for each in (await served.profile(BEN)).recent_rewards]
    engine.hold(silent.match_id, silent.records)
    del engine.refuses[silent.match_id]

    async def are_both_rewarded() -> bool:
        clock.advance(GAP_WAIT_MS)
        return await served.has_rewards(BEN, 2)()

    await until(are_both_rewarded)
    assert meanwhile == [match.match_id]


async def test_a_match_that_the_engine_never_had_is_let_go(
    served: Served, engine: Engine, clock: ManualClock, match: Played
) -> None:
    await served.publish(match.match_id, match.records[1:])
    clock.advance(GAP_WAIT_MS)
    await until(lambda: engine.reads > 0)

    other = played(CLASSIC_2, 4, [BEN])
    await served.publish(other.match_id, other.records)

    await until(served.has_rewards(BEN))
    assert (await served.profile(ANN)).sequence == 0


async def test_a_lost_place_is_found_again_by_itself(
    served: Served, engine: Engine, clock: ManualClock, connections: Connections, match: Played
) -> None:
    engine.hold(match.match_id, match.records)
    *before, last = match.records
    await served.publish(match.match_id, before)
    await until(lambda: _has_read(connections, before[-1].last_seq))
    await connections.fetch("TRUNCATE progression.match_position, progression.open_match")

    await served.publish(match.match_id, [last])

    async def is_rewarded() -> bool:
        clock.advance(GAP_WAIT_MS)
        return await served.has_rewards(ANN)()

    await until(is_rewarded)
    assert (await served.profile(ANN)).experience == match.experience(0)


async def test_a_restart_in_the_middle_loses_and_doubles_nothing(
    emptied: str, tmp_path: Path, connections: Connections, match: Played
) -> None:
    middle = len(match.records) // 2
    async with serving(emptied, tmp_path) as before:
        await before.publish(match.match_id, match.records[:middle])
        await until(lambda: _has_read(connections, match.records[middle - 1].last_seq))
    async with serving(emptied, tmp_path) as after:
        await after.publish(match.match_id, match.records[middle:])
        await until(after.has_rewards(ANN))
        profile = await after.profile(ANN)

        assert profile.experience == match.experience(0)
        assert check_progress(await published(after, ANN, profile.sequence)) == 1


async def test_all_is_read_again_from_nothing_and_granted_once(
    emptied: str, tmp_path: Path, connections: Connections, match: Played
) -> None:
    async with serving(emptied, tmp_path) as before:
        await before.publish(match.match_id, match.records)
        await until(before.has_rewards(BEN))
        granted = [await before.profile(player) for player in (ANN, BEN)]
    await connections.fetch("TRUNCATE progression.match_position, progression.open_match")
    await connections.fetch("TRUNCATE event_log.group_position")
    async with serving(emptied, tmp_path) as after:
        await until(lambda: _has_read(connections, match.records[-1].last_seq))

        assert [await after.profile(player) for player in (ANN, BEN)] == granted


async def test_two_replicas_grant_once(
    emptied: str, tmp_path: Path, connections: Connections, match: Played
) -> None:
    matches = [match, *(played(CLASSIC_2, 4, [BEN, ANN], seeds=range(n, 60)) for n in (1, 20))]
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(serving(emptied, tmp_path)) for _ in range(2)]
        for each in matches:
            await one.publish(each.match_id, each.records)
        for replica in (one, two):
            await until(replica.has_rewards(ANN, 3))
            await until(replica.has_rewards(BEN, 3))
        profile = await two.profile(ANN)

        rows = await connections.fetch("SELECT reward_key FROM progression.reward")
        assert len(rows) == 6
        events = await published(one, ANN, profile.sequence)
        first = {event.sequence: event for event in reversed(events)}
        check_progress(first[sequence] for sequence in sorted(first))


async def test_an_early_end_is_a_finished_match_that_brought_nothing(
    served: Served,
) -> None:
    early = played(CLASSIC_2, 2, [ANN, BEN], lambda match: match.end.round < 21)

    await served.publish(early.match_id, early.records)
    await until(served.has_rewards(ANN))

    profile = await served.profile(ANN)
    assert (profile.sequence, profile.experience, profile.level) == (2, 0, 1)


async def _has_read(connections: Connections, last_seq: int) -> bool:
    row = await connections.fetchrow("SELECT max(last_seq) AS read FROM progression.match_position")
    return row is not None and row["read"] == last_seq
