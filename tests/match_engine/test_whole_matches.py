"""Whole matches, from their creation to a signed end that anybody can verify (W10, I1-I6, I13)."""

from collections.abc import AsyncIterator
from itertools import cycle
from pathlib import Path

import pytest

from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.snapshot import state_hash
from libs.simulation.auditing import audit
from libs.store.connections import Connections
from libs.store.memory import Fault
from libs.store.ownership import Outage
from libs.store.ports import Head, Status
from libs.store.postgres import PostgresMatchStore
from libs.verify import verify
from libs.wire.export import write_export
from libs.wire.heads import key_file
from services.match_engine.snapshots import snapshot_of
from tests.match_engine.rig import (
    START_MS,
    Rig,
    Table,
    a_command_id,
    a_table,
    new_match,
    refused_as,
)
from tests.store.postgres_rig import postgres_rig

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


async def head_of(table: Table) -> Head:
    head = await table.rig.store.head(table.match_id)
    assert head is not None
    return head


async def verdict(table: Table, folder: Path) -> str:
    """Export a match that is over, and return what the verifier says of it."""
    signed = (await head_of(table)).signed
    assert signed is not None
    path, keys = folder / "match.opolyx", folder / "keys.json"
    path.write_bytes(write_export(table.match_id, await table.records(), signed))
    keys.write_text(key_file([table.rig.key]))
    report = verify(path, keys)
    assert report.code == 0, report
    return report.lines[0]


@pytest.mark.parametrize(
    ("rule_set", "bots"), [("opolyx.classic@2", 2), ("opolyx.speed@2", 4), ("opolyx.teams@2", 4)]
)
async def test_a_match_can_be_verified_from_its_records(
    rule_set: str, bots: int, tmp_path: Path
) -> None:
    table = await Rig().table(rule_set=rule_set, bots=bots)
    while not (await table.live()).is_over:
        table.rig.clock.advance(300)
        await table.act()
    records, match = await table.records(), await table.match()
    head, audited = await head_of(table), audit(records)

    assert state_hash(audited.match) == state_hash(match)
    assert (audited.last_hash, head.status) == (head.hash, Status.ENDED)
    assert isinstance((await table.events())[-1], e.SeedRevealed)
    assert table.rig.heard.records == records
    assert match.winners
    assert (await verdict(table, tmp_path)).startswith("ok: ")


async def test_a_match_that_changes_engines_all_the_time_is_the_same_to_everybody(
    tmp_path: Path,
) -> None:
    """Engines die, appends are lost in every way, snapshots are taken; nothing comes of it."""
    table = await Rig().table(rule_set="opolyx.speed@2", bots=3)
    faults = cycle([None, Fault.LOST_REPLY, None, Fault.LOST_REQUEST, Fault.CONFLICT, None, None])
    moves = 0
    while not (await table.live()).is_over:
        moves += 1
        table.rig.clock.advance(300)
        table.rig.faults.plan("append", next(faults))
        await table.act()
        if moves % 5 == 0:
            match = await table.match()
            snapshot = snapshot_of(match, match.sequence)
            await table.rig.store.put_snapshot(table.match_id, snapshot)
        if moves % 7 == 0:
            table = table.at(table.rig.other())
            now_ms = table.rig.clock.now_ms()
            table.rig.shards.outages = [Outage(moves, now_ms, now_ms + 5_000)]
            table.rig.clock.advance(5_000)
    records = await table.records()

    assert state_hash(audit(records).match) == state_hash(await table.match())
    assert (await head_of(table)).fence > moves // 7
    await verdict(table, tmp_path)


async def test_an_aborted_match_reveals_its_seed_and_is_signed_too(tmp_path: Path) -> None:
    table = await a_table()
    await table.act()
    table.rig.clock.advance(1_000_000)
    await table.submit(c.Abort("enough", OPERATOR))

    assert (await head_of(table)).status is Status.ABORTED
    assert audit(await table.records()).match.winners == ()
    assert isinstance((await table.events())[-1], e.SeedRevealed)
    await verdict(table, tmp_path)


async def test_the_head_says_what_a_match_is() -> None:
    table = await a_table()
    assert (await head_of(table)).status is Status.LIVE
    await table.submit(c.Freeze("a look", OPERATOR))
    assert (await head_of(table)).status is Status.FROZEN
    await table.submit(c.Resume("all well", OPERATOR))
    assert (await head_of(table)).status is Status.LIVE
    assert (await head_of(table)).signed is None


async def test_what_operators_do_is_theirs_in_the_record() -> None:
    table = await a_table()
    freeze, command_id = c.Freeze("a look", OPERATOR), a_command_id()
    first = await table.submit(freeze, command_id=command_id)

    assert await table.submit(freeze, command_id=command_id) == first
    with refused_as(Reason.COMMAND_ID_REUSED):
        await table.submit(c.Freeze("a look", "operator:x"), command_id=command_id)


@pytest.fixture
async def durable(shared_database: str, request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    connections = await Connections.open(shared_database, name="core")
    yield Rig(
        clock=ManualClock(START_MS), store=PostgresMatchStore(connections), name=request.node.name
    )
    await connections.close()


@pytest.mark.postgres
class TestOnPostgres:
    async def test_a_whole_match(self, durable: Rig, tmp_path: Path) -> None:
        table = await durable.table(rule_set="opolyx.speed@2", bots=2)
        moves = 0
        while not (await table.live()).is_over:
            moves += 1
            table.rig.clock.advance(300)
            await table.act()
            if moves % 25 == 0:
                match = await table.match()
                snapshot = snapshot_of(match, match.sequence)
                await table.rig.store.put_snapshot(table.match_id, snapshot)
                table = table.at(table.rig.other())

        assert state_hash(audit(await table.records()).match) == state_hash(await table.match())
        await verdict(table, tmp_path)

    async def test_a_repeat_long_after(self, durable: Rig) -> None:
        table = await durable.table(bots=2)
        turn, command_id = (await table.match()).turn, a_command_id()
        first = await table.submit(c.Roll(turn), command_id=command_id)
        for _ in range(70):
            await table.act()

        assert await table.submit(c.Roll(turn), command_id=command_id) == first
        assert await table.at(durable.other()).submit(c.Roll(turn), command_id=command_id) == first

    async def test_a_creation_again(self, durable: Rig) -> None:
        request = new_match(MatchId(fresh_id(START_MS)))
        command_id = a_command_id()
        first = await durable.decider.create(request, command_id)

        assert await durable.other().decider.create(request, command_id) == first
        with refused_as(Reason.MATCH_EXISTS):
            await durable.decider.create(request, a_command_id())

    async def test_two_engines_fence_each_other(self, durable: Rig) -> None:
        table = await durable.table(bots=2)
        theirs = table.at(durable.other())
        await theirs.act()
        with refused_as(Reason.NOT_OWNER_OF_SHARD):
            await table.act()
        await table.act()
        with refused_as(Reason.NOT_OWNER_OF_SHARD):
            await theirs.act()

        assert len(await table.records()) == 3

    async def test_a_commit_whose_answer_is_cut_is_answered_none_the_less(
        self, shared_database: str
    ) -> None:
        async with postgres_rig(shared_database) as world:
            rig = Rig(store=world.far, name="a line that is cut")
            table = await rig.table(bots=2)
            rig.heard.records.clear()
            world.lose_reply()
            accepted = await table.act()
            records = await world.store.records(table.match_id, 0)

        assert [record.last_seq for record in records[1:]] == [accepted.sequence]
        assert rig.heard.records == records[1:]
