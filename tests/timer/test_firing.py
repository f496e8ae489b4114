"""Deadlines are fired over real streams, until they are done or stale (T3)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.sections import PeerSettings
from libs.kernel.clock import ManualClock
from libs.kernel.command_ids import fire_id
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.telemetry import metrics, names
from services.timer.armed import Shot, Told
from services.timer.firing import BACKOFF_MAX_MS, BACKOFF_MS, BUSY_MS, REST_MS, Firing, backoff_ms
from services.timer.lane import UNANSWERED_MAX
from tests.support.waiting import until
from tests.timer.rig import (
    MATCH,
    NOW_MS,
    OTHER,
    STALE,
    Answer,
    Assignment,
    FakeEngine,
    all_shards,
    not_due,
    serving,
)

SOON = NOW_MS + 75_250
MARKER = "marker:0:1"


@asynccontextmanager
async def running(foundation: Foundation, patience_s: float = 30) -> AsyncIterator[Firing]:
    async with foundation.engines("timer") as engines:
        firing = Firing(engines, foundation.clock, patience_s=patience_s)
        task = asyncio.create_task(firing.run())
        try:
            # Until it is known who owns what, a shot would wait for a clock that stands.
            await until(lambda: firing._lanes != {})
            yield firing
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@pytest.fixture
async def firing(foundation: Foundation) -> AsyncIterator[Firing]:
    async with running(foundation) as run:
        yield run


async def nothing_more(firing: Firing, engine: FakeEngine, clock: ManualClock) -> None:
    """See that all that is due by now was fired, by firing something else after it."""
    firing.arm(OTHER, 1_000_000 + len(engine.fired), [Told(MARKER, clock.now_ms())])
    before = engine.names().count(MARKER)
    await until(lambda: engine.names().count(MARKER) > before)


def shots_at(engine: FakeEngine, deadline_id: str) -> int:
    return engine.names().count(deadline_id)


async def test_a_deadline_is_fired_at_its_time_and_not_before(
    firing: Firing, engine: FakeEngine, clock: ManualClock
) -> None:
    firing.arm(MATCH, 7, [Told("roll:2:57", SOON)])
    clock.advance(75_249)
    await nothing_more(firing, engine, clock)
    too_early = shots_at(engine, "roll:2:57")
    clock.advance(1)
    await until(lambda: shots_at(engine, "roll:2:57") == 1)

    assert too_early == 0


async def test_its_command_id_follows_from_its_match_and_its_name(
    firing: Firing, engine: FakeEngine
) -> None:
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
    await until(lambda: engine.fired != [])

    (fired,) = engine.fired
    assert (fired.match_id, fired.deadline_id) == (MATCH, "roll:2:57")
    assert fired.command_id == fire_id(MATCH, "roll:2:57")


async def test_what_is_due_at_the_same_moment_goes_out_in_its_order(
    firing: Firing, engine: FakeEngine, clock: ManualClock
) -> None:
    firing.arm(MATCH, 7, [Told("roll:2:57", SOON), Told("offer:4:58", SOON)])
    clock.advance(80_000)
    await until(lambda: len(engine.fired) == 2)

    assert engine.names() == ["roll:2:57", "offer:4:58"]


@pytest.mark.parametrize("answer", [None, STALE], ids=["done", "stale"])
async def test_what_is_done_or_stale_is_never_fired_again(
    firing: Firing, engine: FakeEngine, clock: ManualClock, answer: Answer
) -> None:
    if answer is not None:
        engine.will_answer("roll:2:57", answer)
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
    await until(lambda: len(firing._armed) == 0)
    clock.advance(3_600_000)
    await nothing_more(firing, engine, clock)

    assert shots_at(engine, "roll:2:57") == 1


async def test_what_was_extended_is_fired_when_it_is_due_then(
    firing: Firing, engine: FakeEngine, clock: ManualClock
) -> None:
    """T8."""
    engine.will_answer("roll:2:57", not_due(NOW_MS + 60_000))
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
    await until(lambda: firing._armed.next_ms() == NOW_MS + 60_000)
    clock.advance(59_999)
    await nothing_more(firing, engine, clock)
    before = shots_at(engine, "roll:2:57")
    clock.advance(1)
    await until(lambda: shots_at(engine, "roll:2:57") == 2)

    assert before == 1


async def test_an_engine_whose_clock_is_behind_is_asked_again_after_a_while(
    firing: Firing, engine: FakeEngine, clock: ManualClock
) -> None:
    """T7."""
    engine.will_answer("roll:2:57", not_due(NOW_MS - 1))
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
    await until(lambda: NOW_MS < (firing._armed.next_ms() or 0) <= NOW_MS + BACKOFF_MS * 3 // 2)
    clock.advance(BACKOFF_MS * 3 // 2)
    await until(lambda: shots_at(engine, "roll:2:57") == 2)


@pytest.mark.parametrize(
    "reason", [Reason.OVERLOADED, Reason.STORE_UNAVAILABLE, Reason.NOT_OWNER_OF_SHARD]
)
async def test_what_could_not_be_looked_at_is_fired_again_until_it_is_done(
    firing: Firing, engine: FakeEngine, clock: ManualClock, reason: Reason
) -> None:
    engine.will_answer("roll:2:57", reason, reason, reason)
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
    await _passing(clock, firing)
    clock.advance(600_000)
    await nothing_more(firing, engine, clock)

    assert shots_at(engine, "roll:2:57") == 4


@pytest.mark.parametrize("reason", [Reason.MATCH_FROZEN, Reason.MATCH_QUARANTINED])
async def test_a_match_that_an_operator_must_set_going_is_asked_rarely(
    firing: Firing, engine: FakeEngine, clock: ManualClock, reason: Reason
) -> None:
    engine.will_answer("roll:2:57", reason)
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
    await until(lambda: firing._armed.next_ms() == NOW_MS + REST_MS)
    clock.advance(REST_MS - 1)
    await nothing_more(firing, engine, clock)

    assert shots_at(engine, "roll:2:57") == 1


async def test_a_match_that_there_is_not_is_forgotten(firing: Firing, engine: FakeEngine) -> None:
    engine.will_answer("roll:2:57", Reason.MATCH_NOT_FOUND)
    firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS), Told("offer:1:58", SOON)])
    await until(lambda: len(firing._armed) == 0)


async def test_a_frozen_match_fires_nothing(
    firing: Firing, engine: FakeEngine, clock: ManualClock
) -> None:
    """T8."""
    firing.arm(MATCH, 7, [Told("roll:2:57", SOON)])
    firing.arm(MATCH, 8, [])
    clock.advance(600_000)
    await nothing_more(firing, engine, clock)

    assert shots_at(engine, "roll:2:57") == 0


async def test_no_more_are_unanswered_than_an_engine_takes_and_all_get_there(
    firing: Firing, engine: FakeEngine, clock: ManualClock
) -> None:
    engine.holds = True
    firing.arm(MATCH, 7, [Told(f"offer:{n}:{n}", NOW_MS) for n in range(600)])
    await until(lambda: len(engine.fired) == UNANSWERED_MAX)
    clock.advance(1_000)
    await until(lambda: firing._armed.next_ms() == NOW_MS + 1_000 + BUSY_MS)
    engine.release()
    await _passing(clock, firing)

    assert engine.unanswered == UNANSWERED_MAX
    assert len(set(engine.names())) == len(engine.fired) == 600


async def test_answers_may_come_in_any_order(firing: Firing, engine: FakeEngine) -> None:
    engine.holds = True
    engine.will_answer("a:1:1", STALE)
    firing.arm(MATCH, 7, [Told("a:1:1", NOW_MS), Told("b:1:2", NOW_MS)])
    firing.arm(OTHER, 7, [Told("a:1:1", NOW_MS)])
    await until(lambda: len(engine.fired) == 3)
    engine.release()
    await until(lambda: len(firing._armed) == 0)

    assert engine.streams == 1


async def test_two_replicas_may_fire_the_same(foundation: Foundation, engine: FakeEngine) -> None:
    async with running(foundation) as one, running(foundation) as two:
        for firing in (one, two):
            firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
        await until(lambda: len(one._armed) == len(two._armed) == 0)

    assert len(engine.fired) == 2
    assert len({fired.command_id for fired in engine.fired}) == 1


async def test_an_engine_that_says_nothing_is_fired_at_again_over_another_stream(
    foundation: Foundation, engine: FakeEngine, clock: ManualClock
) -> None:
    engine.will_answer("roll:2:57", None)
    async with running(foundation, patience_s=0.2) as firing:
        firing.arm(OTHER, 7, [Told("roll:1:9", NOW_MS)])
        await until(lambda: len(firing._armed) == 0)
        firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
        await until(lambda: len(engine.fired) == 2)
        await until(lambda: firing._armed.next_ms() is not None)
        clock.advance(BACKOFF_MAX_MS)
        await _passing(clock, firing)

    assert engine.names() == ["roll:1:9", "roll:2:57", "roll:2:57"]
    assert engine.streams == 2


async def test_silence_while_nothing_is_unanswered_ends_no_stream(
    foundation: Foundation, engine: FakeEngine
) -> None:
    async with running(foundation, patience_s=0.05) as firing:
        for number in range(3):
            firing.arm(MATCH, number + 1, [Told(f"roll:2:{number}", NOW_MS)])
            await until(lambda: len(firing._armed) == 0)
            await asyncio.sleep(0.1)

    assert len(engine.fired) == 3
    assert engine.streams == 1


async def test_an_engine_that_went_away_is_fired_at_when_it_is_back(
    tmp_path: Path, clock: ManualClock
) -> None:
    laid = Foundation(NodeSettings(data_folder=tmp_path), clock)
    assignment, before, after = Assignment(), FakeEngine(), FakeEngine()
    before.holds = True
    async with serving(laid, before, assignment) as address:
        assignment.give(all_shards(address))
        peers = PeerSettings(match_engines=address)
        foundation = Foundation(NodeSettings(data_folder=tmp_path, peers=peers), clock)
        timer = running(foundation)
        firing = await timer.__aenter__()
        firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
        await until(lambda: len(before.fired) == 1)
    port = int(address.rpartition(":")[2])
    await until(lambda: firing._armed.next_ms() is not None)
    async with serving(laid, after, assignment, port):
        await _passing(clock, firing)
        await timer.__aexit__(None, None, None)

    assert after.names() == ["roll:2:57"]


async def test_a_match_that_went_elsewhere_is_fired_there(
    tmp_path: Path, clock: ManualClock
) -> None:
    laid = Foundation(NodeSettings(data_folder=tmp_path), clock)
    assignment, old, new = Assignment(), FakeEngine(), FakeEngine()
    old.will_answer("roll:2:57", Reason.NOT_OWNER_OF_SHARD)
    async with serving(laid, old, assignment) as one, serving(laid, new, assignment) as two:
        assignment.give(all_shards(one))
        peers = PeerSettings(match_engines=f"{one},{two}")
        foundation = Foundation(NodeSettings(data_folder=tmp_path, peers=peers), clock)
        async with running(foundation) as firing:
            firing.arm(MATCH, 7, [Told("roll:2:57", NOW_MS)])
            await until(lambda: len(old.fired) == 1)
            assignment.give(all_shards(two))
            await until(lambda: set(firing._lanes) == {two})
            await _passing(clock, firing)

    assert new.names() == ["roll:2:57"]
    assert len(old.fired) == 1


async def test_how_late_a_deadline_was_fired_is_measured(
    firing: Firing, clock: ManualClock
) -> None:
    """T9."""
    before = _lateness_sum()
    clock.advance(80_000)
    firing.arm(MATCH, 7, [Told("roll:2:57", SOON)])
    await until(lambda: len(firing._armed) == 0)

    assert _lateness_sum() - before == pytest.approx(4.75)


def test_what_is_fired_again_waits_ever_longer_and_not_all_equally_long() -> None:
    def waits(number: int) -> list[int]:
        match_id = MatchId(f"0190a000-0000-7000-8000-{number:012}")
        return [backoff_ms(Shot(match_id, "roll:0:1", 0, 0, attempts)) for attempts in range(12)]

    first, again = waits(1), waits(1)
    assert first == again
    assert all(
        min(BACKOFF_MS << n, BACKOFF_MAX_MS) * 0.5 - 1
        <= wait
        <= min(BACKOFF_MS << n, BACKOFF_MAX_MS) * 1.5 + 1
        for n, wait in enumerate(first)
    )
    assert len({waits(number)[8] for number in range(50)}) > 40


def _lateness_sum() -> float:
    value = metrics.REGISTRY.get_sample_value(f"{names.TIMER_FIRE_LATENESS.name}_sum")
    return value or 0.0


async def _passing(clock: ManualClock, firing: Firing) -> None:
    """Let time pass until nothing is armed any more."""

    def is_done() -> bool:
        clock.advance(50)
        return len(firing._armed) == 0

    await until(is_done)
