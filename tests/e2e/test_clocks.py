"""People who do nothing: real clocks, fired by the timer.

Cited: T3-T5, T9; CLOCK-1, CLOCK-2, FAIR-1, AUC-3.
"""

import asyncio
from typing import Final

import pytest

from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import GRACE_MS
from libs.rules.match import Match
from libs.wire.chain import follow
from libs.wire.record import SYSTEM, Record
from services.match_engine.sweeping import LATE_MS
from tests.e2e.rig import Stage, Table
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

TABLES: Final = 3


async def fired(table: Table, before: Match) -> Record:
    """Return the next record of a match in which nobody does anything."""
    await until(lambda: has_moved(table, before))
    records = follow(await table.records())
    return next(record for record in records if record.first_seq == before.sequence + 1)


async def has_moved(table: Table, before: Match) -> bool:
    return (await table.head()).sequence > before.sequence


async def test_who_does_not_bid_has_passed_and_who_gives_no_seed_has_none(stage: Stage) -> None:
    """T3-T5, T9; CLOCK-1, CLOCK-2, FAIR-1."""
    auctions = [await stage.table(3) for _ in range(TABLES)]
    bids = [(table, await table.reach(phases.AUCTION)) for table in auctions]
    seeds = [(table, await table.state()) for table in [await stage.new_table()]]
    records = await asyncio.gather(*(fired(*waiting) for waiting in (*bids, *seeds)))

    lateness = []
    for (_, match), record in zip((*bids, *seeds), records, strict=True):
        assert match.deadline is not None
        grace_ms = GRACE_MS if match.phase == phases.SEEDING else 0
        assert record.actor == SYSTEM
        lateness.append(record.at_ms - match.deadline.due - grace_ms)
    assert min(lateness) >= 0
    # The engine's own sweeper, which helps out, is never so early.
    assert min(lateness) < LATE_MS
    for (_, match), record in zip(bids, records[:TABLES], strict=True):
        assert match.deadline is not None
        late_ms = record.at_ms - match.deadline.due
        timed_out = e.DecisionTimedOut(match.deadline.seat, phases.AUCTION, late_ms)
        assert record.events[0] == timed_out
    assert isinstance(records[-1].events[0], e.MatchStarted)
