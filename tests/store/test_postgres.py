"""The store in PostgreSQL keeps the contract, on a real server and through a real line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import asyncpg
import pytest

from libs.kernel.ids import CommandId
from libs.store.access import Label
from libs.store.connections import Connections
from libs.store.ports import (
    FIRST_FENCE,
    Conflict,
    Ok,
    StoreUnavailableError,
    Unknown,
)
from libs.store.postgres_ownership import PostgresOwnership
from tests.store.contract import MatchStoreContract
from tests.store.contract_ownership import OwnershipContract, OwnershipRig
from tests.store.postgres_rig import PostgresRig, postgres_rig
from tests.store.records import a_command_id, a_match_id, a_record
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


@pytest.fixture
async def rig(shared_database: str) -> AsyncIterator[PostgresRig]:
    async with postgres_rig(shared_database) as opened:
        yield opened


class TestPostgresMatchStore(MatchStoreContract):
    pass


class TestPostgresOwnership(OwnershipContract):
    @pytest.fixture
    async def owners(self, database: str) -> AsyncIterator[OwnershipRig]:
        connections = await Connections.open(database, name="owners", size=2)

        async def lapse(instance: str) -> None:
            await connections.fetch(_LAPSE, instance, OwnershipContract.TTL_MS)

        yield OwnershipRig(PostgresOwnership(connections), lapse)
        await connections.close()


async def test_a_load_waits_for_an_append_in_its_transaction_and_sees_it(
    rig: PostgresRig,
) -> None:
    match_id = await rig.begin(wake_at_ms=100)
    record = a_record(2)
    async with rig.connections.transaction() as connection:
        await connection.fetchrow(_APPEND, match_id, record.command_id, record.stored.hash)
        loading = asyncio.create_task(rig.store.fence_and_load(match_id, schema_version=1))
        await until(partial(_is_waiting, rig))
    loaded = await loading

    assert loaded is not None
    assert loaded.head.seq == 2
    assert loaded.wake_at_ms == 60
    assert [stored.hash for stored in loaded.records[1:]] == [record.stored.hash]


async def test_a_look_waits_for_an_append_in_its_transaction_and_gives_way(
    rig: PostgresRig,
) -> None:
    match_id = await rig.begin(wake_at_ms=100)
    record = a_record(2)
    async with rig.connections.transaction() as connection:
        await connection.fetchrow(_APPEND, match_id, record.command_id, record.stored.hash)
        looking = asyncio.create_task(rig.store.look(match_id, FIRST_FENCE, 1, 140))
        await until(partial(_is_waiting, rig))

    assert await looking == Conflict()
    assert await rig.bound(match_id) == 60


async def test_a_match_that_the_release_before_makes_waits_for_its_label(
    rig: PostgresRig,
) -> None:
    match_id, record = a_match_id(), a_record(1, 2)
    stored = record.stored
    await rig.connections.fetch(
        _CREATE_BEFORE, match_id, stored.hash, record.command_id, stored.data
    )

    waiting = dict(await rig.store.unlabelled())

    assert waiting[match_id] == stored
    assert await rig.store.label(match_id) == Label("", ())
    await rig.store.put_label(match_id, Label("classic", (a_command_id(),)))
    assert match_id not in dict(await rig.store.unlabelled())


async def test_an_append_without_a_reply_in_time_is_unknown_and_its_connection_is_gone(
    shared_database: str,
) -> None:
    async with postgres_rig(shared_database, timeout_s=0.5) as rig:
        match_id = await rig.begin()
        await rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None)
        backend = await _backend(rig.line)
        rig.hold()

        outcome = await rig.far.append(match_id, FIRST_FENCE, 2, a_record(3), None)

        rig.let_go()
        assert outcome == Unknown()
        assert await _backend(rig.line) != backend


async def test_a_cancelled_append_ends_its_connection_and_asks_the_server_for_nothing(
    rig: PostgresRig,
) -> None:
    match_id = await rig.begin()
    record = a_record(3)
    await rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None)
    backend = await _backend(rig.line)
    rig.hold()
    appending = asyncio.create_task(rig.far.append(match_id, FIRST_FENCE, 2, record, None))
    await rig.until_holding()

    appending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await appending
    rig.let_go()

    async def is_committed() -> bool:
        return await rig.store.find_command(match_id, record.command_id) is not None

    # What was on its way arrives all the same: a cancelled append is an unknown one.
    await until(is_committed)
    assert not any(_CANCEL_REQUEST in greeting for greeting in rig.proxy.greetings)
    assert await _backend(rig.line) != backend


async def test_a_server_that_shuts_a_connection_makes_an_unknown(rig: PostgresRig) -> None:
    match_id = await rig.begin()
    backend = await _backend(rig.line)
    async with rig.connections.transaction() as connection:
        await connection.fetch("SELECT FROM match_engine.match_head FOR UPDATE")
        appending = asyncio.create_task(rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None))
        await until(partial(_is_waiting, rig))
        await connection.fetch("SELECT pg_terminate_backend($1)", backend)
        outcome = await appending

    assert outcome == Unknown()
    assert await rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None) == Ok()


async def test_nothing_is_unknown_when_no_connection_can_be_had(rig: PostgresRig) -> None:
    match_id = await rig.begin()
    await rig.line.close()

    with pytest.raises(StoreUnavailableError):
        await rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None)


async def test_an_append_is_one_round_trip(rig: PostgresRig) -> None:
    match_id = await rig.begin()
    for seq in range(1, 4):
        await rig.far.append(match_id, FIRST_FENCE, seq, a_record(seq + 1), None)
    before = rig.proxy.requests

    await rig.far.append(match_id, FIRST_FENCE, 4, a_record(5), None)

    assert rig.proxy.requests == before + 1


async def test_what_is_wrong_with_a_statement_is_an_error_and_no_unknown(
    rig: PostgresRig,
) -> None:
    match_id = await rig.begin()
    record = a_record(2, command_id=CommandId("no uuid"))

    with pytest.raises(asyncpg.DataError):
        await rig.store.append(match_id, FIRST_FENCE, 1, record, None)
    with pytest.raises(asyncpg.InterfaceError):
        await rig.connections.fetch("SELECT $1::int")


async def test_a_server_that_is_not_there_says_so() -> None:
    with pytest.raises(StoreUnavailableError):
        await Connections.open("postgres://opolyx@127.0.0.1:1/opolyx", name="nobody")


async def _is_waiting(rig: PostgresRig) -> bool:
    return bool(await rig.connections.fetch(_WAITING))


async def _backend(connections: Connections) -> int:
    row = await connections.fetchrow("SELECT pg_backend_pid() AS pid")
    assert row is not None
    pid: int = row["pid"]
    return pid


_CANCEL_REQUEST = (80877102).to_bytes(4, "big")
_LAPSE = """
    UPDATE match_engine.engine_lease
    SET renewed_at_ms = renewed_at_ms - $2, expires_at_ms = expires_at_ms - $2 WHERE instance = $1
"""
_APPEND = """
    SELECT match_engine.append($1, 1, 1, 2, $3, $2, $3, 'bytes', 50, 60, 'live', NULL, NULL)
"""
_CREATE_BEFORE = """
    SELECT match_engine.create_match(
        $1, 1::smallint, 2, $2, 1, $3, $2, $4, 50, NULL, 'a-key', 'sealed')
"""
_WAITING = """
    SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()
"""
