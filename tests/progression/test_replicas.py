"""Several replicas that read the same records grant once, and do not wait for each other (XP-6)."""

import asyncio

import pytest

from libs.chassis.sealing import Sealer
from libs.eventlog.following import Position
from libs.store.connections import Connections
from libs.wire.progress import check_progress
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN, Rig, check_granted_once
from tests.support.builders import CLASSIC_2
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

_PLACE = "INSERT INTO progression.match_position VALUES ($1, 1, $2)"
_HOLD = "SELECT match_id FROM progression.match_position WHERE match_id = ANY ($1) FOR UPDATE"
_WAITING = """
    SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def _somebody_waits(connections: Connections) -> bool:
    row = await connections.fetchrow(_WAITING)
    return row is not None and row["waiting"] > 0


async def test_two_replicas_that_read_the_same_grant_once(
    rig: Rig, connections: Connections, sealer: Sealer
) -> None:
    """Both have every match, and the same people in the opposite order."""
    other = Rig(connections, sealer)
    matches = [
        played(CLASSIC_2, seats, people, seeds=range(first, 60))
        for first in (1, 20, 40)
        for seats, people in ((3, [ANN, BEN]), (4, [BEN, ANN]))
    ]

    async with asyncio.timeout(30):
        await asyncio.gather(
            *(replica.read(each.table) for replica in (rig, other) for each in matches)
        )

    assert await rig.count("reward") == 12
    for player in (ANN, BEN):
        progress = await rig.progress(player)
        events = await rig.events(player)
        assert check_progress(events) == progress.card_count == len(await rig.cards(player))
        assert progress.sequence == len(events)
        assert progress.experience == sum(
            each.experience(each.table.match.specs.index(spec))
            for each in matches
            for spec in each.table.match.specs
            if spec.player == player
        )


async def test_two_replicas_at_the_same_record_do_not_both_grant_it(
    rig: Rig, connections: Connections, sealer: Sealer
) -> None:
    other = Rig(connections, sealer)
    matches = [played(CLASSIC_2, 3, [ANN, BEN], seeds=range(n, 60)) for n in (1, 10, 20, 30, 40)]
    for match in matches:
        for replica in (rig, other):
            await replica.give(match.records[:-1], match.match_id)

    for match in matches:
        await asyncio.gather(
            *(replica.give(match.records[-1:], match.match_id) for replica in (rig, other))
        )

    assert await rig.count("reward") == 2 * len(matches)
    assert rig.commits + other.commits == len(matches)


async def test_matches_are_moved_on_in_one_order_whatever_order_they_come_in(
    rig: Rig, connections: Connections
) -> None:
    """So that replicas never wait for each other: whoever waits for the first holds no other."""
    matches = [played(CLASSIC_2, 3, [ANN], seeds=range(n, 60)) for n in (1, 10, 20, 30, 40)]
    first, *others = sorted(match.match_id for match in matches)
    backwards = [*reversed(others), first]
    for match_id in backwards:
        await connections.fetch(_PLACE, match_id, bytes(32))
    moved = {match_id: Position(2, bytes(32)) for match_id in backwards}
    async with connections.transaction() as holding:
        await holding.execute(_HOLD, [first])
        moving = asyncio.create_task(rig.store.move(moved))
        await until(lambda: _somebody_waits(connections))

        free = await connections.fetch(f"{_HOLD} SKIP LOCKED", others)

    await moving
    assert len(free) == len(others)
    assert (await rig.store.position(others[0])).last_seq == 2


async def test_a_replica_that_was_overtaken_does_not_take_the_position_back(
    rig: Rig, connections: Connections, sealer: Sealer, match: Played
) -> None:
    slow = Rig(connections, sealer)
    await slow.give(match.records[:5], match.match_id)
    await rig.read(match.table)

    await slow.reading.settle()
    await slow.read(match.table)

    await check_granted_once(rig, match)
