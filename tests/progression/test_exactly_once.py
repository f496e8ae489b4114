"""Rewards are granted once, whatever the log does and however often it is read (XP-6, R1, R2)."""

from collections.abc import Callable, Sequence

import pytest

from libs.eventlog.dead_letters import PoisonError
from libs.eventlog.reading import BrokenStreamError
from libs.eventlog.topics import MATCH_RECORDS, dead
from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM, StoredRecord, decode
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN, Rig, check_granted_once
from tests.support.builders import CLASSIC_1, CLASSIC_2

pytestmark = pytest.mark.postgres


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


async def test_a_match_whose_place_was_lost_is_read_again_from_its_engine(
    rig: Rig, match: Played
) -> None:
    rig.engine[match.match_id] = match.records
    *before, last = match.records
    await rig.give(before, match.match_id)
    await rig.connections.fetch("TRUNCATE progression.match_position, progression.open_match")
    with pytest.raises(BrokenStreamError) as raised:
        await rig.give([last], match.match_id)
    await rig.rewarder.forget(raised.value.match_id)
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
    await rig.rewarder.forget(raised.value.match_id)
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
