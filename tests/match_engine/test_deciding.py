"""One command at a time, each durable before it is answered (write protocol, W2-W7)."""

import asyncio

import pytest

from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.snapshot import state_hash
from libs.wire.record import decode
from services.match_engine.live import LiveMatch
from tests.match_engine.rig import START_MS, Rig, Table, a_command_id, a_table, refused_as


async def test_an_accepted_command_is_in_the_stream_with_its_reply() -> None:
    table = await a_table()
    command_id, turn = a_command_id(), (await table.match()).turn
    accepted = await table.submit(c.Roll(turn), command_id=command_id)

    last = (await table.records())[-1]
    record = decode(last.data)

    assert record.command_id == command_id
    assert record.actor == f"seat:{turn}"
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

    def nobody(_: LiveMatch) -> c.Command:
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


async def test_time_never_falls_within_a_match() -> None:
    table = await a_table()
    table.rig.clock.advance(-5_000)
    accepted = await table.submit(c.Roll((await table.match()).turn))

    assert accepted.at_ms == START_MS
    assert decode((await table.records())[-1].data).at_ms == START_MS


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
