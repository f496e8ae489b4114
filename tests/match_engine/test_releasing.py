"""Quarantine made by damage, and lifted when the damage is mended (in memory and in PostgreSQL)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from libs.kernel.reasons import Reason
from libs.rules.snapshot import state_hash
from libs.store.connections import Connections
from libs.store.postgres import PostgresMatchStore
from libs.wire.record import StoredRecord
from services.match_engine.snapshots import snapshot_of
from tests.match_engine.loads import loaded_by, stream_of
from tests.match_engine.rig import Rig, Table, a_command_id, refused_as


class Damaged:
    """A match that was played for a while, and what its store is made to say of a record."""

    def __init__(self, table: Table, connections: Connections | None) -> None:
        self.table = table
        self._connections = connections

    async def write(self, record: StoredRecord) -> None:
        """Put other bytes in the place of a record, as no engine ever would."""
        if self._connections is not None:
            await self._connections.fetch(
                _WRITE, self.table.match_id, record.first_seq, record.data
            )
            return
        records = stream_of(self.table)._records
        place = next(n for n, each in enumerate(records) if each.first_seq == record.first_seq)
        records[place] = record


async def _played(rig: Rig) -> Table:
    table = await rig.table()
    for _ in range(20):
        await table.act()
    return table


class Releasing:
    """What holds of any store."""

    async def test_a_match_comes_back_as_it_was_once_it_is_mended_and_not_before(
        self, damaged: Damaged
    ) -> None:
        table, records = damaged.table, await damaged.table.records()
        before, good = state_hash(await table.match()), records[9]
        await damaged.write(good._replace(data=good.data + b"\0"))
        loaded = loaded_by(table)
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.live()

        with refused_as(Reason.MATCH_QUARANTINED) as told:
            await loaded.rig.decider.release(table.match_id)
        (quarantined,) = await table.rig.store.quarantined(only=table.match_id)
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.live()
        await damaged.write(good)
        sequence = await loaded.rig.decider.release(table.match_id)

        assert told == {"cause": quarantined.reason}
        assert quarantined.seq == sequence == records[-1].last_seq
        assert await table.rig.store.quarantined(only=table.match_id) == []
        assert state_hash(await loaded.match()) == before
        await loaded.act()
        with refused_as(Reason.MATCH_NOT_QUARANTINED):
            await loaded.rig.decider.release(table.match_id)

    async def test_what_lies_before_a_good_snapshot_is_looked_at_too(
        self, damaged: Damaged
    ) -> None:
        table, records = damaged.table, await damaged.table.records()
        match = await table.match()
        await table.rig.store.put_snapshot(table.match_id, snapshot_of(match, match.sequence))
        early = records[2]
        await damaged.write(early._replace(data=early.data[:-1]))
        loaded = loaded_by(table)
        await loaded.rig.store.quarantine(table.match_id, "a suspicion")

        with refused_as(Reason.MATCH_QUARANTINED) as told:
            await loaded.rig.decider.release(table.match_id)

        assert told["cause"] != "a suspicion"
        (still,) = await table.rig.store.quarantined(only=table.match_id)
        assert still.reason == "a suspicion"

    async def test_one_who_had_it_in_memory_writes_it_no_more(self, damaged: Damaged) -> None:
        table = damaged.table
        await table.rig.store.quarantine(table.match_id, "a suspicion")

        await table.at(table.rig.other()).rig.decider.release(table.match_id)

        with refused_as(Reason.NOT_OWNER_OF_SHARD):
            await table.act()

    async def test_where_the_shard_is_not_ours_nothing_is_looked_at(self, damaged: Damaged) -> None:
        damaged.table.rig.shards.owned = False

        with refused_as(Reason.NOT_OWNER_OF_SHARD):
            await damaged.table.rig.decider.release(damaged.table.match_id)


class TestInMemory(Releasing):
    @pytest.fixture
    async def damaged(self) -> Damaged:
        return Damaged(await _played(Rig()), None)


@pytest.mark.postgres
class TestInPostgres(Releasing):
    @pytest.fixture
    async def damaged(self, shared_database: str) -> AsyncIterator[Damaged]:
        connections = await Connections.open(shared_database, name="test")
        rig = Rig(store=PostgresMatchStore(connections), name=a_command_id())
        yield Damaged(await _played(rig), connections)
        await connections.close()


_WRITE = """
    UPDATE match_engine.record SET bytes = $3 WHERE match_id = $1 AND first_seq = $2
"""
