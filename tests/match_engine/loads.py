"""Matches that were played for a while, as other engines find them in the store."""

from libs.store.memory import MemoryMatchStore
from libs.store.memory_stream import MemoryStream
from libs.store.ports import Snapshot
from services.match_engine.snapshots import snapshot_of
from tests.match_engine.rig import Table, a_table


def stream_of(table: Table) -> MemoryStream:
    """Return what the store has of a match, to be tampered with."""
    assert isinstance(table.rig.store, MemoryMatchStore)
    return table.rig.store._streams[table.match_id]


async def played(records: int = 100) -> Table:
    table = await a_table()
    for _ in range(records):
        await table.act()
    return table


def loaded_by(table: Table) -> Table:
    """Return the match at an engine that has not loaded it yet."""
    return table.at(table.rig.other())


async def take_snapshot(table: Table) -> Snapshot:
    match = await table.match()
    snapshot = snapshot_of(match, match.sequence)
    await table.rig.store.put_snapshot(table.match_id, snapshot)
    return snapshot
