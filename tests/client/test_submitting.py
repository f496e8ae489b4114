"""A command is carried out once, whatever breaks between its sending and its answer."""

import asyncio

import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.status import RefusedError
from libs.client.client import Client
from libs.client.replies import Accepted, Refused
from libs.client.stream import UnansweredError
from libs.client.table import Table
from libs.kernel.ids import CommandId, SeededIds
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules.refusals import Refusal
from libs.wire.refusals import refused_message, tell
from opolyx.match.v1 import match_service_pb2 as pb
from tests.support.gateway import FakeGateway, Given, LiveMatch, serving_gateway
from tests.support.waiting import until

IDS = SeededIds(b"submitting")


def fresh() -> CommandId:
    return IDS.command_id(1)


def roll(live: LiveMatch) -> c.SeatCommand:
    return c.Roll(live.match.turn)


async def test_an_accepted_command_has_its_reply(client: Client, live: LiveMatch) -> None:
    async with client.play(live.match_id) as table:
        reply = await table.submit(roll(live), fresh(), expected_sequence=live.match.sequence)

    record = live.records[-1]
    assert reply == Accepted(record.last_seq, record.hash, record.first_seq, live.now_ms)


async def test_its_record_comes_too(client: Client, live: LiveMatch) -> None:
    command_id = fresh()
    async with client.play(live.match_id) as table:
        await table.submit(roll(live), command_id)
        await anext(table)

        assert (await anext(table)).command_id == command_id


async def test_a_refusal_is_an_answer_and_ends_nothing(client: Client, live: LiveMatch) -> None:
    async with client.play(live.match_id) as table:
        refusal = await table.submit(c.Buy(live.match.turn), fresh())
        reply = await table.submit(roll(live), fresh())

    assert isinstance(refusal, Refused)
    assert refusal.reason == "WRONG_PHASE"
    assert refusal.told.metadata["phase"] == "roll"
    assert isinstance(reply, Accepted)


async def test_a_stale_sequence_is_told(client: Client, live: LiveMatch) -> None:
    async with client.play(live.match_id) as table:
        reply = await table.submit(roll(live), fresh(), expected_sequence=1)

    assert isinstance(reply, Refused)
    assert reply.reason == Reason.STALE_SEQUENCE


async def test_a_command_whose_result_is_lost_is_carried_out_once(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    gateway.trouble.lose_results = 2
    async with client.play(live.match_id) as table:
        reply = await table.submit(roll(live), fresh())

    assert len(live.given) == 3
    assert len(live.records) == 2
    assert isinstance(reply, Accepted)
    assert reply.sequence == live.match.sequence


async def test_what_is_unanswered_goes_out_again_in_order(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    ids = [fresh() for _ in range(3)]
    gateway.trouble.unanswered = True
    async with client.play(live.match_id) as table:
        asking = [asyncio.create_task(table.submit(roll(live), i)) for i in ids]
        await until(lambda: len(live.given) == 3)
        gateway.trouble.unanswered = False
        gateway.cut()
        replies = await asyncio.gather(*asking)

    assert [given[2] for given in live.given] == ids + ids
    assert isinstance(replies[0], Accepted)


async def test_a_refusal_that_passes_is_waited_out(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    refusals = [Reason.OVERLOADED, Reason.NOT_OWNER_OF_SHARD, Reason.STORE_UNAVAILABLE]

    def refuse(given: Given) -> pb.CommandResult | None:
        if not refusals:
            return None
        told = tell(Refusal(refusals.pop(), "", {}))
        return pb.CommandResult(command_id=given[2], refused=refused_message(told, 1))

    gateway.trouble.before = refuse
    async with client.play(live.match_id) as table:
        reply = await table.submit(roll(live), fresh())

    assert isinstance(reply, Accepted)


async def test_one_that_does_not_pass_in_time_is_told(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    told = tell(Refusal(Reason.OVERLOADED, "", {}))
    gateway.trouble.before = lambda given: pb.CommandResult(
        command_id=given[2], refused=refused_message(told, 1)
    )
    async with client.play(live.match_id) as table:
        reply = await table.submit(roll(live), fresh(), timeout_s=0.5)

    assert isinstance(reply, Refused)
    assert reply.reason == Reason.OVERLOADED


async def test_no_answer_in_time_is_an_error(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    gateway.trouble.unanswered = True
    command_id = fresh()
    async with client.play(live.match_id) as table:
        with pytest.raises(UnansweredError):
            await table.submit(roll(live), command_id, timeout_s=0.2)
        gateway.trouble.unanswered = False

        assert isinstance(await table.submit(roll(live), command_id), Accepted)
    assert len(live.records) == 2


async def test_one_command_that_is_asked_twice_at_once_has_one_reply(
    client: Client, live: LiveMatch
) -> None:
    command_id = fresh()
    async with client.play(live.match_id) as table:
        first, second = await asyncio.gather(
            table.submit(roll(live), command_id), table.submit(roll(live), command_id)
        )

    assert isinstance(first, Accepted)
    assert first == second
    assert len(live.records) == 2


async def test_more_than_a_stream_may_have_open_wait_their_turn(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    gateway.trouble.unanswered = True
    async with client.play(live.match_id) as table:
        asking = [asyncio.create_task(table.submit(roll(live), fresh())) for _ in range(20)]
        await until(lambda: len(live.given) == 16)
        gateway.trouble.unanswered = False
        gateway.cut()
        replies = await asyncio.gather(*asking)

    assert sum(isinstance(reply, Accepted) for reply in replies) == 1


async def test_a_command_after_the_end_is_told_so(client: Client, live: LiveMatch) -> None:
    while not live.has_ended:
        live.fire()
    async with client.play(live.match_id) as table:
        async with asyncio.timeout(20):
            assert [record async for record in table]

        reply = await table.submit(c.Roll(0), fresh())
    assert isinstance(reply, Refused)
    assert reply.reason == Reason.MATCH_ENDED


async def test_who_has_no_seat_is_told_by_an_error(
    gateway: FakeGateway, live: LiveMatch, issuer: DevelopmentIssuer
) -> None:
    token = issuer.issue("seat-7")
    async with (
        serving_gateway(gateway, issuer) as server,
        Client.connect(server.address, lambda: token) as client,
        client.play(live.match_id) as table,
    ):
        with pytest.raises(RefusedError, match="NOT_SEATED"):
            await table.submit(c.Roll(0), fresh())


async def test_who_leaves_waits_for_no_answer(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    gateway.trouble.unanswered = True
    async with client.play(live.match_id) as table:
        asking = asyncio.create_task(table.submit(roll(live), fresh()))
        await until(lambda: bool(live.given))

    with pytest.raises(UnansweredError):
        await asking


async def test_a_result_gets_past_records_that_nobody_takes(
    client: Client, live: LiveMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libs.client.table.RECORDS_WAITING_MAX", 1)
    live.fire()
    async with client.play(live.match_id) as table:
        await until(lambda: table.last_seq > 0)

        reply = await table.submit(roll(live), fresh())
        records = [await anext(table) for _ in live.records]

    assert isinstance(reply, Refused)  # it is the other's turn
    assert [r.first_seq for r in records] == [r.first_seq for r in live.records]


async def test_several_chairs_share_one_match(
    gateway: FakeGateway, live: LiveMatch, issuer: DevelopmentIssuer
) -> None:
    other = issuer.issue(f"seat-{1 - live.match.turn}")
    token = issuer.issue(f"seat-{live.match.turn}")
    async with (
        serving_gateway(gateway, issuer) as server,
        Client.connect(server.address) as client,
        Table.to_play(client.match, live.match_id, _bearer(other)) as table,
    ):
        chair = table.chair(_bearer(token))
        reply = await chair.submit(roll(live), fresh())
        first, second = await anext(table), await anext(table)
        live.fire()
        third = await anext(table)

        assert isinstance(reply, Accepted)
        assert [first.last_seq + 1, second.last_seq + 1] == [second.first_seq, third.first_seq]
        assert not table.has_waiting


def _bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)
