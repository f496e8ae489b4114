"""Rewards are granted once, whatever the log does and however often it is read (XP-6, R1, R2)."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from libs.chassis.sealing import Sealer
from libs.eventlog.dead_letters import PoisonError
from libs.eventlog.following import Position
from libs.eventlog.reading import BrokenStreamError
from libs.eventlog.topics import MATCH_RECORDS, dead
from libs.rules import events as e
from libs.store.connections import Connections
from libs.wire.chain import Chain
from libs.wire.progress import check_progress
from libs.wire.record import SYSTEM, StoredRecord, decode
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN, Rig
from tests.support.builders import CLASSIC_1, CLASSIC_2
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


@pytest.fixture(scope="module")
def match() -> Played:
    """A match that pays both people, and lets ANN's level drop a card."""
    return played(CLASSIC_2, 3, [ANN, BEN], lambda match: match.experience(0) >= 300)


async def check_granted_once(rig: Rig, match: Played) -> None:
    for seat, player in enumerate([ANN, BEN]):
        progress = await rig.progress(player)
        [reward] = progress.recent
        assert reward.experience == progress.experience == match.experience(seat)
        assert check_progress(await rig.events(player)) == progress.card_count
    assert (await rig.store.position(match.match_id)).last_seq == match.records[-1].last_seq


def doubled(records: Sequence[StoredRecord]) -> list[StoredRecord]:
    return [record for each in records for record in (each, each)]


def repeated(records: Sequence[StoredRecord]) -> list[StoredRecord]:
    return [*records, *records]


def swapped(records: Sequence[StoredRecord]) -> list[StoredRecord]:
    pairs = [records[n : n + 2] for n in range(0, len(records), 2)]
    return [record for pair in pairs for record in reversed(pair)]


@pytest.mark.parametrize("told", [doubled, repeated, swapped], ids=lambda told: told.__name__)
async def test_doubles_and_disorder_change_nothing(
    rig: Rig, match: Played, told: Callable[[Sequence[StoredRecord]], list[StoredRecord]]
) -> None:
    await rig.give(told(match.records), match.match_id)

    assert await rig.reading.settle()
    await check_granted_once(rig, match)


@pytest.mark.parametrize("missing", ["first", "one that matters", "all but the last"])
async def test_a_gap_is_filled_from_the_engine(rig: Rig, match: Played, missing: str) -> None:
    records = list(match.records)
    out = next(n for n, each in enumerate(records) if _puts_out(each))
    kept = {"first": records[1:], "one that matters": records[:out] + records[out + 1 :]}
    rig.engine[match.match_id] = records

    await rig.give(kept.get(missing, records[-1:]), match.match_id)

    assert await rig.wait_out_a_gap()
    assert rig.fetches > 0
    await check_granted_once(rig, match)


def _puts_out(record: StoredRecord) -> bool:
    out = (e.SeatBankrupted, e.SeatSurrendered)
    return any(isinstance(event, out) for event in decode(record.data).events)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99, 1.0])
async def test_a_restart_in_the_middle_goes_on_where_it_was(
    rig: Rig, match: Played, share: float
) -> None:
    middle = max(1, round(len(match.records) * share))
    await rig.give(match.records[:middle], match.match_id)
    await rig.reading.settle()
    rig.restart()

    await rig.give(match.records[middle:], match.match_id)

    assert await rig.reading.settle()
    assert rig.fetches == 0
    await check_granted_once(rig, match)


async def test_a_crash_before_the_position_was_kept_costs_doubles_alone(
    rig: Rig, match: Played
) -> None:
    await rig.give(match.records[:-1], match.match_id)
    rig.restart()

    await rig.read(match.table)

    await check_granted_once(rig, match)


async def test_a_commit_that_fails_leaves_nothing_and_is_done_again(
    rig: Rig, match: Played
) -> None:
    *before, last = match.records
    await rig.give(before, match.match_id)
    await rig.connections.fetch("ALTER TABLE progression.outbox RENAME TO outbox_away")
    try:
        with pytest.raises(Exception, match="outbox"):
            await rig.give([last], match.match_id)
        counts = [await rig.count(table) for table in ("reward", "profile", "player_event")]
    finally:
        await rig.connections.fetch("ALTER TABLE progression.outbox_away RENAME TO outbox")
    rig.restart()

    await rig.read(match.table)

    assert counts == [0, 0, 0]
    await check_granted_once(rig, match)


async def test_reading_everything_from_the_start_grants_nothing_again(rig: Rig) -> None:
    matches = [
        played(rule_set, 3, [ANN, BEN], seeds=range(first, 60))
        for rule_set in (CLASSIC_1, CLASSIC_2)
        for first in (1, 20)
    ]
    for each in matches:
        await rig.read(each.table)
    before = [await rig.events(ANN), await rig.events(BEN)]
    await rig.connections.fetch("TRUNCATE progression.match_position, progression.open_match")
    rig.restart()

    for each in matches:
        await rig.read(each.table)

    assert [await rig.events(ANN), await rig.events(BEN)] == before
    assert await rig.count("reward") == 8
    assert await rig.count("open_match") == 0


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


async def test_a_match_whose_place_was_lost_is_read_again_from_its_engine(
    rig: Rig, match: Played
) -> None:
    rig.engine[match.match_id] = match.records
    *before, last = match.records
    await rig.give(before, match.match_id)
    await rig.connections.fetch("TRUNCATE progression.match_position, progression.open_match")
    with pytest.raises(BrokenStreamError) as raised:
        await rig.give([last], match.match_id)
    await rig.rewarder.read_anew(raised.value.match_id)
    rig.restart()

    await rig.give([last], match.match_id)

    assert await rig.wait_out_a_gap()
    await check_granted_once(rig, match)


async def test_a_match_that_was_read_as_its_engine_does_not_have_it_is_read_again(
    rig: Rig, match: Played
) -> None:
    """A zombie's record was the first that came: the chain that counts is the engine's."""
    rig.engine[match.match_id] = match.records
    forged = Chain(match.match_id)
    created = decode(match.records[0].data)
    await rig.give([forged.join(created.command_id, SYSTEM, 1, created.events)], match.match_id)
    await rig.give(match.records[1:], match.match_id)
    with pytest.raises(BrokenStreamError) as raised:
        await rig.wait_out_a_gap()
    await rig.rewarder.read_anew(raised.value.match_id)
    rig.restart()

    await rig.give(match.records[1:], match.match_id)

    assert await rig.wait_out_a_gap()
    await check_granted_once(rig, match)


async def test_a_match_with_a_person_that_nobody_can_be_is_poison(rig: Rig) -> None:
    match = played(CLASSIC_2, 3, [ANN])
    first = decode(match.records[0].data)
    seats = (e.SeatSpec(e.PERSON, "ann"),)
    created = e.MatchCreated(match.match_id, CLASSIC_2, "classic", seats, b"")
    record = Chain(match.match_id).join(first.command_id, SYSTEM, 1, [created])

    with pytest.raises(PoisonError):
        await rig.give([record], match.match_id)

    assert await rig.count("match_position") == 0


async def test_a_match_behind_a_record_that_is_none_stops_no_other(rig: Rig, match: Played) -> None:
    other = played(CLASSIC_2, 4, [ANN, BEN])
    broken = [*other.records]
    broken[1] = StoredRecord(*broken[1][:3], b"\xff")
    rig.engine[other.match_id] = broken
    await rig.give(other.records[2:4], other.match_id)

    await rig.give(match.records, match.match_id)

    assert await rig.wait_out_a_gap()
    await check_granted_once(rig, match)
    async with rig.log.subscribe([dead(MATCH_RECORDS.name)], group="ops") as letters:
        assert len(await letters.fetch(wait_s=1)) == 2
