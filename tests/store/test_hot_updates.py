"""Every append updates its head in place, by the word of PostgreSQL's own statistics.

On a server of its own: an old version is cleaned up when no transaction on the whole server can
see it any more, so those of other tests would get into the way.
"""

from __future__ import annotations

import pytest

from libs.store.connections import Connections
from libs.store.ports import FIRST_FENCE, Ok
from libs.store.postgres import PostgresMatchStore
from tests.store.postgres_rig import postgres_rig
from tests.store.records import a_record
from tests.support.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

MATCHES = 20
APPENDS = 50


async def test_every_append_updates_its_head_in_place(own_database: str) -> None:
    async with postgres_rig(own_database) as rig:
        await _keep_statistics_away(rig.connections)
        ids = [await rig.begin() for _ in range(MATCHES)]
        # One connection: a backend says what it has done when it ends.
        connections = await Connections.open(own_database, name="hot", size=1)
        store = PostgresMatchStore(connections)
        for seq in range(1, APPENDS + 1):
            for match_id in ids:
                record = a_record(seq + 1)
                outcome = await store.append(match_id, FIRST_FENCE, seq, record, 10_000 + seq)
                assert outcome == Ok()
        for match_id in ids:
            await store.fence_and_load(match_id, schema_version=1)
        await connections.close()

        async def are_counted() -> bool:
            return (await _updates(rig.connections))[0] == MATCHES * (APPENDS + 1)

        await until(are_counted)
        updated, in_place = await _updates(rig.connections)

    assert in_place == updated


async def _keep_statistics_away(connections: Connections) -> None:
    """Let no vacuum come meanwhile: its transactions see old versions too."""
    for table in ("match_head", "record", "match_wake", "match_published", "match_secret"):
        await connections.fetch(f"ALTER TABLE match_engine.{table} SET (autovacuum_enabled = 0)")


async def _updates(connections: Connections) -> tuple[int, int]:
    row = await connections.fetchrow(_UPDATES)
    assert row is not None
    return row["n_tup_upd"], row["n_tup_hot_upd"]


_UPDATES = """
    SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
    WHERE schemaname = 'match_engine' AND relname = 'match_head'
"""
