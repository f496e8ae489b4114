"""A match is followed without a gap and without a repeat, whatever becomes of the streams."""

import asyncio

import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.status import RefusedError, refused
from libs.client import hearing, stream
from libs.client.client import Client
from libs.client.stream import StreamBrokenError
from libs.client.table import Table
from libs.kernel.ids import MatchId, SeededIds
from libs.kernel.reasons import Reason
from libs.rules.snapshot import state_hash
from libs.wire.chain import BrokenChainError
from libs.wire.record import StoredRecord
from opolyx.match.v1.stream_pb2 import GoAway
from tests.support.gateway import FakeGateway, LiveMatch, serving_gateway
from tests.support.waiting import until

AWAY = GoAway(reason="GOING_AWAY", reconnect_after_ms=1)


async def take(table: Table, count: int) -> list[int]:
    """Take that many records; returns where they begin."""
    async with asyncio.timeout(20):
        return [(await anext(table)).first_seq for _ in range(count)]


def play_on(live: LiveMatch, count: int) -> None:
    for _ in range(count):
        live.fire()


def begins(live: LiveMatch) -> list[int]:
    return [record.first_seq for record in live.records]


async def test_the_match_is_rebuilt_record_by_record(client: Client, live: LiveMatch) -> None:
    play_on(live, 2)
    async with client.watch(live.match_id) as table:
        seen = await take(table, 2)
        at_second = table.match.sequence
        seen += await take(table, 1)
        play_on(live, 1)
        seen += await take(table, 1)

    assert seen == begins(live)
    assert at_second == live.records[1].last_seq
    assert state_hash(table.match) == state_hash(live.match)


@pytest.mark.parametrize(
    "by",
    [AWAY, refused(Reason.GOING_AWAY), refused(Reason.SLOW_READER), refused(Reason.TOKEN_EXPIRED)],
    ids=["a last word", "going away", "slow", "an old token"],
)
async def test_a_stream_that_ends_is_opened_again_where_the_table_stands(
    client: Client, live: LiveMatch, gateway: FakeGateway, by: GoAway | RefusedError
) -> None:
    async with client.watch(live.match_id) as table:
        await take(table, 1)
        gateway.cut(by)
        play_on(live, 2)
        await take(table, 2)

    assert gateway.opened == [("watch", 0), ("watch", live.records[0].last_seq)]
    assert table.match.sequence == live.match.sequence


async def test_a_gateway_that_is_away_is_waited_for(
    live: LiveMatch, gateway: FakeGateway, issuer: DevelopmentIssuer
) -> None:
    token = issuer.issue("ann")
    async with serving_gateway(gateway, issuer) as server:
        port = int(server.address.rpartition(":")[2])
        client = Client.connect(server.address, lambda: token)
        table = client.watch(live.match_id)
        await table.__aenter__()
        await take(table, 1)
    play_on(live, 1)

    async with client, serving_gateway(gateway, issuer, port=port):
        assert await take(table, 1) == begins(live)[1:]
        await table.__aexit__(None, None, None)


async def test_a_silent_stream_is_given_up(
    client: Client, live: LiveMatch, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "SILENCE_S", 0.2)
    async with client.watch(live.match_id) as table:
        await take(table, 1)
        await until(lambda: len(gateway.opened) >= 3)
        play_on(live, 1)

        assert await take(table, 1) == begins(live)[1:]


async def test_a_record_that_is_lost_on_the_way_is_asked_for(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    async with client.watch(live.match_id) as table:
        await take(table, 1)
        gateway.trouble.leave_out.add(live.match.sequence + 1)
        play_on(live, 1)
        play_on(live, 1)

        assert await take(table, 2) == begins(live)[1:]


async def test_a_last_record_that_is_lost_is_missed_by_the_heartbeats(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    async with client.watch(live.match_id) as table:
        await take(table, 1)
        gateway.trouble.leave_out.add(live.match.sequence + 1)
        play_on(live, 1)
        await until(lambda: not gateway.trouble.leave_out)
        live.news()  # a second sign of life, with the same head

        assert await take(table, 1) == begins(live)[1:]


async def test_records_of_another_chain_are_not_believed(client: Client, live: LiveMatch) -> None:
    play_on(live, 1)
    first_seq, last_seq, _, data = live.records[1]
    live.records[1] = StoredRecord(first_seq, last_seq, bytes(32), data)
    async with client.watch(live.match_id) as table:
        await take(table, 1)

        with pytest.raises(BrokenChainError):
            await take(table, 1)


async def test_a_gap_that_stays_is_no_reason_to_ask_for_ever(
    client: Client, live: LiveMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_PAUSE_S", 0.001)
    play_on(live, 2)
    del live.records[1]
    async with client.watch(live.match_id) as table:
        await take(table, 1)

        with pytest.raises(StreamBrokenError):
            await take(table, 1)


async def test_a_match_that_is_not_there_is_for_good(client: Client) -> None:
    nowhere = MatchId(SeededIds(b"nowhere").match_id(1))
    async with client.watch(nowhere) as table:
        with pytest.raises(RefusedError) as error:
            await take(table, 1)

        with pytest.raises(RefusedError):
            await take(table, 1)
    assert error.value.told.reason == "MATCH_NOT_FOUND"


async def test_a_right_that_is_withdrawn_is_for_good(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    async with client.watch(live.match_id) as table:
        await take(table, 1)
        gateway.cut(GoAway(reason="NOT_ALLOWED", text="no more"))

        with pytest.raises(RefusedError, match="NOT_ALLOWED"):
            await take(table, 1)


async def test_the_table_ends_with_its_match(client: Client, live: LiveMatch) -> None:
    async with client.watch(live.match_id) as table:
        while not live.has_ended:
            play_on(live, 1)
        async with asyncio.timeout(20):
            seen = [record.first_seq async for record in table]

    assert seen == begins(live)
    assert [record async for record in table] == []


async def test_a_table_that_nobody_takes_from_reads_no_further(
    client: Client, live: LiveMatch, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libs.client.table.RECORDS_WAITING_MAX", 1)
    play_on(live, 2)
    async with client.watch(live.match_id) as table:
        await until(lambda: table.last_seq > 0)
        await until(lambda: gateway.open_streams == 1)

        assert table.last_seq == live.records[0].last_seq
        assert await take(table, 3) == begins(live)
