"""What comes back from an append, and what follows (write protocol, W5, W6)."""

import asyncio
from contextlib import suppress

import pytest

from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules.snapshot import state_hash
from libs.store.memory import Fault
from libs.store.ports import StoreUnavailableError
from libs.wire.chain import rebuild
from services.match_engine.deciding import ATTEMPTS
from tests.match_engine.rig import Gate, a_command_id, a_table, refused_as


async def test_an_answer_that_was_lost_is_found_in_the_stream() -> None:
    table = await a_table()
    table.rig.faults.plan("append", Fault.LOST_REPLY)
    accepted = await table.submit(c.Roll((await table.match()).turn))
    records = await table.records()

    assert len(records) == 2
    assert accepted[:3] == (records[1].first_seq, records[1].last_seq, records[1].hash)
    assert table.rig.heard.records == records[1:]


async def test_a_request_that_was_lost_is_sent_again() -> None:
    table = await a_table()
    table.rig.faults.plan("append", Fault.LOST_REQUEST)
    accepted = await table.submit(c.Roll((await table.match()).turn))
    records = await table.records()

    assert [record.last_seq for record in records[1:]] == [accepted.sequence]
    assert table.rig.heard.records == records[1:]
    assert table.rig.faults.calls[:3] == ["append", "fence_and_load", "seed"]


async def test_a_conflict_is_decided_anew() -> None:
    table = await a_table()
    table.rig.faults.plan("append", *[Fault.CONFLICT] * (ATTEMPTS - 1))
    await table.submit(c.Roll((await table.match()).turn))

    assert len(await table.records()) == 2
    assert table.rig.faults.calls.count("fence_and_load") == ATTEMPTS - 1


async def test_conflicts_without_end_are_given_up() -> None:
    table = await a_table()
    roll = c.Roll((await table.match()).turn)
    table.rig.faults.plan("append", *[Fault.CONFLICT] * ATTEMPTS)
    with refused_as(Reason.STORE_UNAVAILABLE):
        await table.submit(roll)

    assert len(await table.records()) == 1
    assert (await table.submit(roll)).sequence > 5


async def test_a_store_that_cannot_be_reached_leaves_everything_as_it_was() -> None:
    table = await a_table()
    live = await table.live()
    before = state_hash(live.match)
    table.rig.faults.plan("append", Fault.UNAVAILABLE)
    with pytest.raises(StoreUnavailableError):
        await table.submit(c.Roll(live.match.turn))

    assert await table.live() is live
    assert state_hash(live.match) == before
    assert len(await table.records()) == 1
    assert (await table.submit(c.Roll(live.match.turn))).first_sequence == 6


async def test_a_store_that_is_away_after_a_lost_answer_is_asked_later() -> None:
    table = await a_table()
    roll, command_id = c.Roll((await table.match()).turn), a_command_id()
    table.rig.faults.plan("append", Fault.LOST_REPLY)
    table.rig.faults.plan("fence_and_load", Fault.UNAVAILABLE)
    with pytest.raises(StoreUnavailableError):
        await table.submit(roll, command_id=command_id)
    accepted = await table.submit(roll, command_id=command_id)
    records = await table.records()

    assert [record.last_seq for record in records[1:]] == [accepted.sequence]
    assert table.rig.heard.records == records[1:]


async def test_who_was_fenced_lets_the_match_go() -> None:
    table = await a_table()
    await table.live()
    theirs = table.at(table.rig.other())
    await theirs.live()
    roll = c.Roll((await table.match()).turn)
    with refused_as(Reason.NOT_OWNER_OF_SHARD):
        await table.submit(roll)

    assert len(await table.records()) == 1
    assert table.rig.heard.dropped_ids == [(table.match_id, Reason.NOT_OWNER_OF_SHARD)]
    assert table.rig.matches.loaded() == []
    assert (await theirs.submit(roll)).first_sequence == 6


async def test_an_append_that_is_late_never_lands_behind_its_second_try() -> None:
    table = await a_table()
    gate = Gate(table.rig.faults, "append", then=Fault.LOST_REQUEST)
    first = asyncio.create_task(table.submit(c.Roll((await table.match()).turn)))
    await gate.reached.wait()
    gate.open.set()

    assert (await first).first_sequence == 6
    assert len(await table.records()) == 2


async def test_two_engines_that_both_think_they_own_a_match_never_fork_it() -> None:
    table = await a_table()
    engines = [table, table.at(table.rig.other())]
    for turn in range(120):
        at = engines[turn % 3 % 2]
        table.rig.clock.advance(50)
        with suppress(RefusedError):
            await at.act()
    records = await table.records()
    match = rebuild(records)

    assert len(records) > 50
    assert {state_hash(await at.match()) for at in engines} == {state_hash(match)}
