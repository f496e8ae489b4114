"""One at a time at a match, in order, and to its end (write protocol, W2, W5)."""

import asyncio

import pytest

from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules.snapshot import state_hash
from libs.wire.limits import COMMANDS_WAITING_MAX
from libs.wire.record import decode
from tests.match_engine.rig import START_MS, Gate, a_command_id, a_table, refused_as
from tests.support.waiting import until


async def test_nobody_sees_a_command_before_its_commit() -> None:
    table = await a_table()
    live = await table.live()
    match, before = live.match, state_hash(live.match)
    gate = Gate(table.rig.faults, "append")
    rolling = asyncio.create_task(table.submit(c.Roll(match.turn)))
    await gate.reached.wait()

    assert await table.live() is live
    assert live.match is match
    assert (live.chain.last_seq, live.chain.at_ms) == (5, START_MS)
    assert table.rig.heard.records == []

    gate.open.set()
    accepted = await rolling

    assert live.chain.last_seq == accepted.sequence
    assert state_hash(match) == before


async def test_a_cancelled_caller_cancels_no_commit() -> None:
    table = await a_table()
    roll, command_id = c.Roll((await table.match()).turn), a_command_id()
    gate = Gate(table.rig.faults, "append")
    rolling = asyncio.create_task(table.submit(roll, command_id=command_id))
    await gate.reached.wait()
    rolling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rolling
    next_one = asyncio.create_task(table.submit(roll, command_id=command_id))
    await asyncio.sleep(0)

    assert len(await table.records()) == 1

    gate.open.set()
    accepted = await next_one

    assert [record.last_seq for record in (await table.records())[1:]] == [accepted.sequence]
    assert table.rig.faults.calls == ["append"]


async def test_a_drain_waits_for_what_is_under_way() -> None:
    table = await a_table()
    gate = Gate(table.rig.faults, "append")
    rolling = asyncio.create_task(table.submit(c.Roll((await table.match()).turn)))
    await gate.reached.wait()
    rolling.cancel()
    settling = asyncio.create_task(table.rig.decider.settle())
    await asyncio.sleep(0)

    assert not settling.done()

    gate.open.set()
    await settling

    assert len(await table.records()) == 2


async def test_commands_are_decided_in_the_order_in_which_they_came() -> None:
    table = await a_table()
    turn = (await table.match()).turn
    ids = [a_command_id() for _ in range(20)]
    offers = [table.submit(c.Surrender(1 - turn), command_id=command_id) for command_id in ids]
    results = await asyncio.gather(*offers, return_exceptions=True)

    assert decode((await table.records())[-1].data).command_id == ids[0]
    assert [isinstance(result, RefusedError) for result in results] == [False, *[True] * 19]


async def test_one_more_than_may_wait_is_turned_away() -> None:
    table = await a_table()
    gate = Gate(table.rig.faults, "append")
    roll = c.Roll((await table.match()).turn)
    first = asyncio.create_task(table.submit(roll))
    await gate.reached.wait()
    waiting = [asyncio.create_task(table.submit(roll)) for _ in range(COMMANDS_WAITING_MAX)]
    await asyncio.sleep(0)
    with refused_as(Reason.OVERLOADED):
        await table.submit(roll)
    gate.open.set()
    await first
    results = await asyncio.gather(*waiting, return_exceptions=True)

    reasons = [result.told.reason for result in results if isinstance(result, RefusedError)]
    assert len(reasons) == COMMANDS_WAITING_MAX
    assert Reason.OVERLOADED not in reasons


async def test_other_matches_do_not_wait() -> None:
    table = await a_table()
    other = await table.rig.table()
    gate = Gate(table.rig.faults, "append")
    rolling = asyncio.create_task(table.submit(c.Roll((await table.match()).turn)))
    await gate.reached.wait()

    assert (await other.submit(c.Roll((await other.match()).turn))).first_sequence == 6

    gate.open.set()
    await rolling


async def test_who_is_cancelled_while_waiting_was_never_there() -> None:
    table = await a_table()
    turn = (await table.match()).turn
    gate = Gate(table.rig.faults, "append")
    rolling = asyncio.create_task(table.submit(c.Roll(turn)))
    await gate.reached.wait()
    giving_up = asyncio.create_task(table.submit(c.Surrender(turn)))
    await asyncio.sleep(0)
    giving_up.cancel()
    gate.open.set()
    await rolling
    await table.rig.decider.settle()

    assert not (await table.match()).out[turn]
    assert table.rig.decider._turns._queues == {}


async def test_a_command_for_which_nobody_waits_any_more_is_not_decided() -> None:
    table = await a_table()
    roll = c.Roll((await table.match()).turn)
    gate = Gate(table.rig.faults, "append")
    first = asyncio.create_task(table.submit(c.Surrender(1 - roll.seat), queue_until_ms=None))
    await gate.reached.wait()
    late = asyncio.create_task(table.submit(roll, queue_until_ms=START_MS + 100))
    await asyncio.sleep(0)
    table.rig.clock.advance(101)
    gate.open.set()
    await first
    with refused_as(Reason.OVERLOADED):
        await late


async def test_a_command_has_the_time_at_which_it_came() -> None:
    table = await a_table()
    roll = c.Roll((await table.match()).turn)
    gate = Gate(table.rig.faults, "append")
    rolling = asyncio.create_task(table.submit(roll))
    await gate.reached.wait()
    table.rig.clock.advance(1_000)
    gate.open.set()

    assert (await rolling).at_ms == START_MS


async def test_a_bug_of_a_command_whose_caller_has_gone_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = await a_table()
    gate = Gate(table.rig.faults, "append", then=RuntimeError("a bug"))
    rolling = asyncio.create_task(table.submit(c.Roll((await table.match()).turn)))
    await gate.reached.wait()
    rolling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rolling
    gate.open.set()
    await table.rig.decider.settle()
    shown = ""

    def is_told() -> bool:
        nonlocal shown
        shown += capsys.readouterr().out
        return "turn_failed" in shown

    await until(is_told, within_s=5)
