"""Without any timer service play gets slower and does not stop (T6)."""

import asyncio
from collections.abc import Collection
from typing import Final

from libs.kernel.ids import MatchId
from libs.kernel.shards import SHARDS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.store.memory import Fault
from libs.store.ownership import Outage
from services.match_engine.deciding import Decider, Fired
from services.match_engine.sweeping import (
    AHEAD_MS,
    LATE_MS,
    LONG_REST_MS,
    MATCHES_MAX,
    SHORT_REST_MS,
    Sweeper,
)
from tests.match_engine.rig import Rig, Table

ALL: Final = frozenset(range(SHARDS))
OPERATOR: Final = "operator:0190a000-0000-7000-8000-0000000000aa"


class Swept:
    """A rig with a sweeper: what it armed, in order."""

    def __init__(
        self, rig: Rig, *, owned: Collection[int] = ALL, decider: Decider | None = None
    ) -> None:
        self.rig = rig
        self.armed: list[MatchId] = []
        self._sweeper = Sweeper(
            decider=decider or rig.decider,
            store=rig.far,
            loaded=rig.matches.loaded,
            owned=lambda: owned,
            arm=lambda live: self.armed.append(live.match_id),
            clock=rig.clock,
        )

    async def sweep(self, after_ms: int = 0) -> None:
        self.rig.clock.advance(after_ms)
        await self._sweeper.sweep()


async def until_due(table: Table) -> int:
    """Return how long it is until the next deadline."""
    return (await table.deadline()).due - table.rig.clock.now_ms()


async def time_outs(table: Table) -> list[e.DecisionTimedOut]:
    return [event for event in await table.events() if isinstance(event, e.DecisionTimedOut)]


async def test_what_is_a_second_overdue_is_fired_and_how_late_stands_in_its_event() -> None:
    """T9."""
    rig = Rig()
    table = await rig.table()
    await Swept(rig).sweep(await until_due(table) + LATE_MS)

    assert [event.lateness for event in await time_outs(table)] == [LATE_MS]


async def test_what_is_less_overdue_is_left_to_the_timer() -> None:
    rig = Rig()
    table = await rig.table()
    await Swept(rig).sweep(await until_due(table) + LATE_MS - 1)

    assert await time_outs(table) == []
    assert "look" not in rig.faults.calls


async def test_the_longest_overdue_is_fired_first() -> None:
    rig = Rig()
    tables = []
    for _ in range(5):
        tables.append(await rig.table())
        rig.clock.advance(1_000)
    # Whichever was used last stands last in memory.
    for table in (tables[3], tables[0], tables[4], tables[2], tables[1]):
        await table.live()
    before = len(rig.heard.records)
    await Swept(rig).sweep(await until_due(tables[-1]) + LATE_MS)

    by_hash = {live.chain.last_hash: live.match_id for live in rig.matches.loaded()}
    fired = [by_hash[record.hash] for record in rig.heard.records[before:]]
    assert fired == [table.match_id for table in tables]


async def test_a_match_that_nobody_has_in_memory_is_loaded_and_fired() -> None:
    """T2."""
    rig = Rig()
    table = await rig.table()
    wait_ms = await until_due(table) + LATE_MS
    other = rig.other()
    await Swept(other).sweep(wait_ms)

    assert len(await time_outs(table)) == 1
    assert [live.match_id for live in other.matches.loaded()] == [table.match_id]


async def test_a_match_that_wakes_soon_is_loaded_and_armed_and_not_fired() -> None:
    """T2."""
    rig = Rig()
    table = await rig.table()
    other = Swept(rig.other())
    await other.sweep(await until_due(table) - AHEAD_MS - 1)
    too_soon = list(other.armed)
    await other.sweep(1)

    assert too_soon == []
    assert other.armed == [table.match_id]
    assert await time_outs(table) == []


async def test_what_is_loaded_is_armed_whoever_loaded_it() -> None:
    rig = Rig()
    table = await rig.table()
    swept = Swept(rig)
    await swept.sweep()

    assert swept.armed == [table.match_id]


async def test_a_bound_that_has_passed_is_raised_to_what_is_due_next() -> None:
    """T2."""
    rig = Rig()
    table = await rig.table()
    swept = Swept(rig.other())
    first = await table.deadline()
    rig.clock.advance(first.due - rig.clock.now_ms() - 1)
    await table.submit(c.Roll(first.seat))
    later = await table.deadline()
    before = await rig.store.wakes_due(ALL, first.due, 10)
    await swept.sweep(2)
    after = await rig.store.wakes_due(ALL, later.due, 10)

    assert later.due > first.due
    assert [wake.wake_at_ms for wake in before] == [first.due]
    assert [wake.wake_at_ms for wake in after] == [later.due]


async def test_a_match_in_quarantine_stops_no_other_and_rests() -> None:
    rig = Rig()
    broken, sound = await rig.table(), await rig.table()
    wait_ms = await until_due(sound) + LATE_MS
    await rig.store.quarantine(broken.match_id, "a test")
    other = rig.other()
    swept = Swept(other)
    await swept.sweep(wait_ms)
    asked = other.faults.calls.count("fence_and_load")
    await swept.sweep(LONG_REST_MS - 1)
    resting = other.faults.calls.count("fence_and_load")
    await swept.sweep(1)

    assert len(await time_outs(sound)) >= 1
    assert asked == resting == 2
    assert other.faults.calls.count("fence_and_load") == 3


async def test_a_match_that_cannot_be_loaded_now_is_tried_again_soon() -> None:
    rig = Rig()
    one, two = await rig.table(), await rig.table()
    wait_ms = await until_due(two) + LATE_MS
    other = rig.other()
    other.faults.plan("fence_and_load", Fault.UNAVAILABLE)
    swept = Swept(other)
    await swept.sweep(wait_ms)
    first = [len(await time_outs(table)) for table in (one, two)]
    await swept.sweep(SHORT_REST_MS)

    assert sorted(first) == [0, 1]
    assert [len(await time_outs(table)) for table in (one, two)] == [1, 1]


class Buggy(Decider):
    """A decider that trips over one match."""

    trips_over = MatchId("")
    trips = 0

    async def fire(self, match_id: MatchId, deadline_id: str) -> Fired:
        if match_id == self.trips_over:
            self.trips += 1
            raise AssertionError("a bug")
        return await super().fire(match_id, deadline_id)


async def test_a_bug_in_one_match_stops_no_other() -> None:
    rig = Rig()
    one, two, three = [await rig.table() for _ in range(3)]
    buggy = Buggy(rig.far, rig.matches, rig.seeds, rig.keys, rig.clock, rig.shards.outages_of)
    buggy.trips_over = two.match_id
    wait_ms = await until_due(three) + LATE_MS
    swept = Swept(rig, decider=buggy)
    await swept.sweep(wait_ms)
    fired = [len(await time_outs(table)) for table in (one, two, three)]
    await swept.sweep(LONG_REST_MS - 1)
    resting = buggy.trips
    await swept.sweep(1)

    assert fired == [1, 0, 1]
    assert resting == 1
    assert buggy.trips == 2


async def test_a_sweep_fires_no_more_than_so_many() -> None:
    rig = Rig()
    tables = [await rig.table() for _ in range(MATCHES_MAX + 10)]
    # The other half of a sweep would look at all that the store says is due.
    swept = Swept(rig, owned=())
    await swept.sweep(await until_due(tables[-1]) + LATE_MS)
    first = sum([len(await time_outs(table)) for table in tables])
    await swept.sweep()

    assert first == MATCHES_MAX
    assert sum([len(await time_outs(table)) for table in tables]) == MATCHES_MAX + 10


async def test_matches_of_others_are_not_looked_for() -> None:
    rig = Rig()
    table = await rig.table()
    wait_ms = await until_due(table) + LATE_MS
    other = rig.other()
    await Swept(other, owned=()).sweep(wait_ms)

    assert other.faults.calls == []
    assert await time_outs(table) == []


async def test_a_store_that_is_away_ends_no_sweeping() -> None:
    rig = Rig()
    table = await rig.table()
    wait_ms = await until_due(table) + LATE_MS
    rig.faults.plan("wakes_due", Fault.UNAVAILABLE)
    rig.faults.plan("append", Fault.UNAVAILABLE)
    swept = Swept(rig)
    await swept.sweep(wait_ms)
    await swept.sweep(SHORT_REST_MS)

    assert [event.lateness for event in await time_outs(table)] == [LATE_MS + SHORT_REST_MS]


async def test_a_deadline_that_the_timer_fires_meanwhile_acts_once() -> None:
    """I12."""
    rig = Rig()
    table = await rig.table()
    deadline = await table.deadline()
    swept = Swept(rig)
    rig.clock.advance(await until_due(table) + LATE_MS)
    fires = [table.fire(deadline.deadline_id) for _ in range(3)]
    await asyncio.gather(swept.sweep(), *fires)

    assert len(await time_outs(table)) == 1


async def test_a_frozen_match_fires_nothing_and_loses_nothing() -> None:
    """T8."""
    rig = Rig()
    table = await rig.table()
    deadline = await table.deadline()
    left_ms = await until_due(table)
    await table.submit(c.Freeze("a look", OPERATOR))
    swept, other = Swept(rig), Swept(rig.other())
    await swept.sweep(left_ms + 600_000)
    await other.sweep()
    frozen = await time_outs(table)
    await table.submit(c.Resume("seen", OPERATOR))
    await swept.sweep(left_ms + LATE_MS - 1)
    resumed = await time_outs(table)
    await swept.sweep(1)

    assert frozen == resumed == []
    assert [event.seat for event in await time_outs(table)] == [deadline.seat]


async def test_nobody_is_charged_for_an_outage() -> None:
    """T8."""
    rig = Rig()
    table = await rig.table()
    due = (await table.deadline()).due
    began = rig.clock.now_ms() + 10_000
    ended = began + 600_000
    rig.clock.advance(ended - rig.clock.now_ms())
    other = rig.other()
    other.shards.outages = [Outage(1, began, ended)]
    await Swept(other).sweep(1)

    assert await time_outs(table) == []
    assert (await table.at(other).deadline()).due == due + 600_000


async def test_a_match_that_nobody_plays_is_swept_to_its_end() -> None:
    """CLOCK-3."""
    rig = Rig()
    table = await rig.table(people=2, bots=0)
    swept = Swept(rig)
    for _ in range(200):
        match = await table.match()
        if match.phase == phases.ENDED:
            break
        deadline = next_deadline(match)
        assert deadline is not None
        await swept.sweep(max(deadline.due + LATE_MS - rig.clock.now_ms(), 0))

    assert (await table.match()).phase == phases.ENDED
    assert await rig.store.wakes_due(ALL, 2**53, 10) == []


async def test_shards_that_were_lost_in_between_are_let_be() -> None:
    rig = Rig()
    table = await rig.table()
    wait_ms = await until_due(table) + LATE_MS
    rig.shards.owned = False
    await Swept(rig).sweep(wait_ms)

    assert await time_outs(table) == []
