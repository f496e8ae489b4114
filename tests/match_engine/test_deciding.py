"""One command at a time, each durable before it is answered (write protocol, W2-W7)."""

import asyncio

import pytest

from libs.chassis.status import RefusedError
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.match import Match
from libs.rules.snapshot import state_hash
from libs.store.memory import Fault
from libs.store.ports import StoreUnavailableError
from libs.wire.chain import rebuild
from libs.wire.record import decode
from services.match_engine.deciding import ATTEMPTS
from services.match_engine.turns import QUEUE_MAX
from tests.match_engine.rig import START_MS, Gate, Rig, Table, a_command_id, refused_as
from tests.support.waiting import until


async def a_table() -> Table:
    """Return a match that waits for seat 0 or 1 to roll, with nothing heard of yet."""
    table = await Rig().table()
    table.rig.heard.records.clear()
    table.rig.faults.calls.clear()
    return table


async def test_an_accepted_command_is_in_the_stream_with_its_reply() -> None:
    table = await a_table()
    command_id = a_command_id()
    accepted = await table.submit(c.Roll((await table.match()).turn), command_id=command_id)

    last = (await table.records())[-1]
    record = decode(last.data)

    assert record.command_id == command_id
    assert record.actor == f"seat:{(await table.match()).turn}"
    assert accepted == (last.first_seq, last.last_seq, last.hash, START_MS)
    assert record.at_ms == START_MS
    assert table.rig.heard.records == [last]


async def test_a_command_costs_one_call_of_the_store() -> None:
    table = await a_table()
    await table.submit(c.Roll((await table.match()).turn))

    assert table.rig.faults.calls == ["append"]


async def test_a_refused_command_changes_nothing_and_is_decided_anew() -> None:
    table = await a_table()
    match = await table.match()
    before, other = state_hash(match), 1 - match.turn
    command_id = a_command_id()
    with refused_as(Reason.NOT_YOUR_TURN) as told:
        await table.submit(c.Roll(other), command_id=command_id)

    assert told == {"rule": "TURN-1", "turn": str(match.turn)}
    assert state_hash(await table.match()) == before
    assert len(await table.records()) == 1

    while (await table.match()).turn != other:
        await table.act()

    assert (await table.submit(c.Roll(other), command_id=command_id)).sequence > 1


async def test_what_the_way_to_the_command_raises_is_raised() -> None:
    table = await a_table()

    def nobody(_: Match) -> c.Command:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await table.rig.decider.submit(table.match_id, a_command_id(), nobody)
    assert (await table.act()).sequence > 1


async def test_a_match_that_is_not_there_is_not_found() -> None:
    table = Table(Rig(), MatchId(fresh_id(START_MS)))
    with refused_as(Reason.MATCH_NOT_FOUND):
        await table.submit(c.Roll(0))
    with refused_as(Reason.MATCH_NOT_FOUND):
        await table.live()


async def test_matches_of_other_engines_are_neither_played_nor_shown() -> None:
    table = await a_table()
    table.rig.shards.owned = False
    with refused_as(Reason.NOT_OWNER_OF_SHARD):
        await table.submit(c.Roll(0))
    with refused_as(Reason.NOT_OWNER_OF_SHARD):
        await table.live()
    with refused_as(Reason.NOT_OWNER_OF_SHARD):
        await table.rig.table()
    assert len(await table.records()) == 1


class TestRepeats:
    """W3."""

    async def test_the_same_again_gets_the_same_reply_though_the_rules_would_refuse(self) -> None:
        table = await a_table()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        first = await table.submit(roll, command_id=command_id)

        assert await table.submit(roll, command_id=command_id) == first
        assert table.rig.faults.calls == ["append"]

    async def test_after_a_restart_too(self) -> None:
        table = await a_table()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        first = await table.submit(roll, command_id=command_id)
        restarted = table.at(table.rig.other())

        assert await restarted.submit(roll, command_id=command_id) == first
        assert "append" not in restarted.rig.faults.calls

    async def test_however_long_ago(self) -> None:
        table = await a_table()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        first = await table.submit(roll, command_id=command_id)
        for _ in range(100):
            await table.act()

        assert (await table.live()).known(command_id) is None
        assert await table.submit(roll, command_id=command_id) == first
        assert len(await table.records()) == 102

    async def test_whatever_sequence_is_expected(self) -> None:
        table = await a_table()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        first = await table.submit(roll, command_id=command_id, expected_sequence=5)

        assert await table.submit(roll, command_id=command_id, expected_sequence=5) == first

    @pytest.mark.parametrize("others", [0, 100], ids=["just now", "long ago"])
    async def test_another_command_under_the_same_id_is_refused(self, others: int) -> None:
        table = await a_table()
        turn, command_id = (await table.match()).turn, a_command_id()
        await table.submit(c.Roll(turn), command_id=command_id)
        for _ in range(others):
            await table.act()
        with refused_as(Reason.COMMAND_ID_REUSED) as told:
            await table.submit(c.Surrender(1 - turn), command_id=command_id)
        with refused_as(Reason.COMMAND_ID_REUSED):
            await table.submit(c.Roll(1 - turn), command_id=command_id)

        assert told == {"command_id": command_id}

    async def test_another_command_under_the_same_id_is_refused_after_a_restart(self) -> None:
        table = await a_table()
        turn, command_id = (await table.match()).turn, a_command_id()
        await table.submit(c.Roll(turn), command_id=command_id)
        restarted = table.at(table.rig.other())

        with refused_as(Reason.COMMAND_ID_REUSED):
            await restarted.submit(c.Surrender(turn), command_id=command_id)

    async def test_two_at_once_are_one(self) -> None:
        table = await a_table()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        first, second = await asyncio.gather(
            table.submit(roll, command_id=command_id), table.submit(roll, command_id=command_id)
        )

        assert first == second
        assert len(await table.records()) == 2

    async def test_what_another_engine_has_accepted_meanwhile_gets_that_reply(self) -> None:
        table = await a_table()
        await table.live()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        elsewhere = table.at(table.rig.other())
        theirs = await elsewhere.submit(roll, command_id=command_id)

        assert await table.submit(roll, command_id=command_id) == theirs
        assert state_hash(await table.match()) == state_hash(await elsewhere.match())


class TestExpectedSequences:
    async def test_the_head_is_as_expected(self) -> None:
        table = await a_table()
        live = await table.live()
        roll = c.Roll(live.match.turn)

        assert (await table.submit(roll, expected_sequence=live.chain.last_seq)).sequence > 5

    async def test_the_match_has_gone_on(self) -> None:
        table = await a_table()
        live = await table.live()
        with refused_as(Reason.STALE_SEQUENCE) as told:
            await table.submit(c.Roll(live.match.turn), expected_sequence=4)

        assert told == {"expected": "4", "head": str(live.chain.last_seq)}
        assert table.rig.heard.records == []

    async def test_it_is_told_before_what_the_rules_say_of_the_moment(self) -> None:
        table = await a_table()
        with refused_as(Reason.STALE_SEQUENCE):
            await table.submit(c.Roll(1 - (await table.match()).turn), expected_sequence=4)

    async def test_it_is_told_after_what_the_match_is(self) -> None:
        table = await a_table()
        await table.submit(c.Abort("enough", "operator:x"))
        with refused_as(Reason.MATCH_ENDED):
            await table.submit(c.Roll(0), expected_sequence=4)


class TestOutcomesOfAnAppend:
    """W6."""

    async def test_an_answer_that_was_lost_is_found_in_the_stream(self) -> None:
        table = await a_table()
        table.rig.faults.plan("append", Fault.LOST_REPLY)
        accepted = await table.submit(c.Roll((await table.match()).turn))
        records = await table.records()

        assert len(records) == 2
        assert accepted[:3] == (records[1].first_seq, records[1].last_seq, records[1].hash)
        assert table.rig.heard.records == records[1:]

    async def test_a_request_that_was_lost_is_sent_again(self) -> None:
        table = await a_table()
        table.rig.faults.plan("append", Fault.LOST_REQUEST)
        accepted = await table.submit(c.Roll((await table.match()).turn))
        records = await table.records()

        assert [record.last_seq for record in records[1:]] == [accepted.sequence]
        assert table.rig.heard.records == records[1:]
        assert table.rig.faults.calls[:3] == ["append", "fence_and_load", "seed"]

    async def test_a_conflict_is_decided_anew(self) -> None:
        table = await a_table()
        table.rig.faults.plan("append", *[Fault.CONFLICT] * (ATTEMPTS - 1))
        await table.submit(c.Roll((await table.match()).turn))

        assert len(await table.records()) == 2
        assert table.rig.faults.calls.count("fence_and_load") == ATTEMPTS - 1

    async def test_conflicts_without_end_are_given_up(self) -> None:
        table = await a_table()
        roll = c.Roll((await table.match()).turn)
        table.rig.faults.plan("append", *[Fault.CONFLICT] * ATTEMPTS)
        with refused_as(Reason.STORE_UNAVAILABLE):
            await table.submit(roll)

        assert len(await table.records()) == 1
        assert (await table.submit(roll)).sequence > 5

    async def test_a_store_that_cannot_be_reached_leaves_everything_as_it_was(self) -> None:
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

    async def test_a_store_that_is_away_after_a_lost_answer_is_asked_later(self) -> None:
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

    async def test_who_was_fenced_lets_the_match_go(self) -> None:
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

    async def test_an_append_that_is_late_never_lands_behind_its_second_try(self) -> None:
        table = await a_table()
        gate = Gate(table.rig.faults, "append", then=Fault.LOST_REQUEST)
        first = asyncio.create_task(table.submit(c.Roll((await table.match()).turn)))
        await gate.reached.wait()
        gate.open.set()

        assert (await first).first_sequence == 6
        assert len(await table.records()) == 2


class TestWhatIsNotDurableIsNotThere:
    async def test_nobody_sees_a_command_before_its_commit(self) -> None:
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

    async def test_a_cancelled_caller_cancels_no_commit(self) -> None:
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

    async def test_a_drain_waits_for_what_is_under_way(self) -> None:
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


class TestTheQueue:
    """W2."""

    async def test_commands_are_decided_in_the_order_in_which_they_came(self) -> None:
        table = await a_table()
        turn = (await table.match()).turn
        ids = [a_command_id() for _ in range(20)]
        offers = [table.submit(c.Surrender(1 - turn), command_id=command_id) for command_id in ids]
        results = await asyncio.gather(*offers, return_exceptions=True)

        assert decode((await table.records())[-1].data).command_id == ids[0]
        assert [isinstance(result, RefusedError) for result in results] == [False, *[True] * 19]

    async def test_one_more_than_may_wait_is_turned_away(self) -> None:
        table = await a_table()
        gate = Gate(table.rig.faults, "append")
        roll = c.Roll((await table.match()).turn)
        first = asyncio.create_task(table.submit(roll))
        await gate.reached.wait()
        waiting = [asyncio.create_task(table.submit(roll)) for _ in range(QUEUE_MAX)]
        await asyncio.sleep(0)
        with refused_as(Reason.OVERLOADED):
            await table.submit(roll)
        gate.open.set()
        await first
        results = await asyncio.gather(*waiting, return_exceptions=True)

        assert [isinstance(result, RefusedError) for result in results] == [True] * QUEUE_MAX

    async def test_other_matches_do_not_wait(self) -> None:
        table = await a_table()
        other = await table.rig.table()
        gate = Gate(table.rig.faults, "append")
        rolling = asyncio.create_task(table.submit(c.Roll((await table.match()).turn)))
        await gate.reached.wait()

        assert (await other.submit(c.Roll((await other.match()).turn))).first_sequence == 6

        gate.open.set()
        await rolling

    async def test_who_is_cancelled_while_waiting_was_never_there(self) -> None:
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

    async def test_a_command_for_which_nobody_waits_any_more_is_not_decided(self) -> None:
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

    async def test_a_command_has_the_time_at_which_it_came(self) -> None:
        table = await a_table()
        roll = c.Roll((await table.match()).turn)
        gate = Gate(table.rig.faults, "append")
        rolling = asyncio.create_task(table.submit(roll))
        await gate.reached.wait()
        table.rig.clock.advance(1_000)
        gate.open.set()

        assert (await rolling).at_ms == START_MS


async def test_time_never_falls_within_a_match() -> None:
    table = await a_table()
    table.rig.clock.advance(-5_000)
    accepted = await table.submit(c.Roll((await table.match()).turn))

    assert accepted.at_ms == START_MS
    assert decode((await table.records())[-1].data).at_ms == START_MS


async def test_two_engines_that_both_think_they_own_a_match_never_fork_it() -> None:
    table = await a_table()
    engines = [table, table.at(table.rig.other())]
    for turn in range(120):
        at = engines[turn % 3 % 2]
        table.rig.clock.advance(50)
        try:
            await at.act()
        except RefusedError as error:
            assert error.told.reason == Reason.NOT_OWNER_OF_SHARD
    records = await table.records()
    match = rebuild(records)

    assert len(records) > 50
    assert {state_hash(await at.match()) for at in engines} == {state_hash(match)}


async def test_a_command_of_long_ago_is_not_looked_up_to_be_accepted() -> None:
    """A command that the rules allow costs no look into the table: the unique key stops repeats."""
    table = await a_table()
    for _ in range(30):
        await table.act()
    table.rig.faults.calls.clear()
    await table.play_until(phases.ROLL)
    await table.act()

    assert set(table.rig.faults.calls) == {"append"}


async def test_ids_of_other_matches_do_not_matter() -> None:
    rig = Rig()
    first, second = await rig.table(), await rig.table()
    command_id = CommandId(fresh_id(START_MS))
    for table in (first, second):
        await table.submit(c.Roll((await table.match()).turn), command_id=command_id)

    assert len(await first.records()) == len(await second.records()) == 2


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
