"""Playing on one stream: results in the order of the commands, beside all that a watcher gets."""

import asyncio

import grpc
import pytest
from grpc import StatusCode

from libs.kernel.command_ids import bot_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from opolyx.match.v1 import match_service_pb2 as pb
from tests.chassis.answers import answer
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig, go_on, match_of, turn_of
from tests.support.calling import new_id, next_of, played, rest_of
from tests.support.waiting import until


async def test_a_command_gets_its_result_and_its_record_comes_too(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)
    snapshot = (await call.read()).snapshot
    command_id = new_id()

    await call.write(played("roll", command_id, expected_sequence=snapshot.sequence))

    found = {"result": await next_of("result", call)}
    assert found["result"].command_id == command_id
    assert found["result"].accepted.chain_hash == rig.live.records[-1].hash
    again = await rig.client("bob").play(rig.live.match_id, after=snapshot.sequence)
    assert (await next_of("record", again)).hash == rig.live.records[-1].hash


async def test_a_refusal_is_a_message_and_ends_nothing(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)

    await call.write(played("buy"))
    refused = (await next_of("result", call)).refused
    await call.write(played("roll"))
    accepted = (await next_of("result", call)).accepted

    assert refused.reason == Reason.WRONG_PHASE
    assert refused.metadata["rule"]
    assert refused.text
    assert accepted.sequence


async def test_results_come_in_the_order_of_the_commands(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)
    ids = [new_id() for _ in range(16)]

    for command_id in ids:
        await call.write(played("roll", command_id, expected_sequence=1))

    assert [(await next_of("result", call)).command_id for _ in ids] == ids


async def test_more_than_sixteen_unanswered_commands_are_too_many(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)
    await call.read()
    rig.engine.gate.clear()
    for _ in range(20):
        await call.write(played("roll", expected_sequence=1))
    await until(lambda: bool(rig.engine.commands))
    rig.engine.gate.set()

    results = [(await next_of("result", call)).refused for _ in range(20)]

    reasons = [refused.reason for refused in results]
    assert reasons[:16] == [Reason.STALE_SEQUENCE] * 16
    assert reasons[-1] == Reason.OVERLOADED
    assert results[-1].retry_after_ms > 0
    assert len(rig.engine.commands) < 20


async def test_a_command_that_makes_no_sense_is_refused_like_any_other(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)

    await call.write(played("roll", "no id"))

    refused = (await next_of("result", call)).refused
    assert refused.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refused.violations] == ["command_id"]


async def test_commands_on_a_stream_are_limited_as_others_are(open_rig: OpenRig) -> None:
    rig = await open_rig(command_rate={"per_s": 0.1, "burst": 2})
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)

    for _ in range(3):
        await call.write(played("roll", expected_sequence=1))

    results = [(await next_of("result", call)).refused for _ in range(3)]
    assert [refused.reason for refused in results[1:]] == [
        Reason.STALE_SEQUENCE,
        Reason.RATE_LIMITED,
    ]
    assert results[2].retry_after_ms > 1_000


async def test_the_bot_runner_plays_a_seat_of_a_bot_and_is_not_limited(open_rig: OpenRig) -> None:
    rig = await open_rig(command_rate={"per_s": 0.1, "burst": 1})
    while rig.live.match.turn != 1 or rig.live.match.deadline.seat != 1:  # type: ignore[union-attr]
        go_on(rig.live)
    sequence = rig.live.match.sequence
    call = await rig.bot(1).play(rig.live.match_id)
    command_id = bot_id(rig.live.match_id, sequence, 1)

    for _ in range(3):
        await call.write(played("surrender", command_id))

    results = [await next_of("result", call) for _ in range(3)]
    assert {result.accepted.first_sequence for result in results} == {sequence + 1}


@pytest.mark.parametrize("who", ["cem", "a bot's name for a person's seat", "no such seat"])
async def test_who_has_no_seat_does_not_play(rig: Rig, who: str) -> None:
    client = {"cem": rig.client("cem"), "no such seat": rig.bot(9)}.get(who, rig.bot(0))

    call = await client.play(rig.live.match_id)

    got = await answer(call.read())
    assert got.code is StatusCode.PERMISSION_DENIED
    assert got.told is not None
    assert got.told.reason == Reason.NOT_SEATED


async def test_a_stream_begins_with_its_opening(rig: Rig) -> None:
    client = rig.client()
    call = client.match.PlayMatch(metadata=client.metadata, timeout=10)
    await call.write(played("roll"))

    got = await answer(call.read())

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert got.told.violations[0].field == "open"


async def test_a_second_opening_ends_the_stream(rig: Rig) -> None:
    call = await rig.client().play(rig.live.match_id)
    opening = pb.PlayMatchRequest.Open(match_id=rig.live.match_id)

    await call.write(pb.PlayMatchRequest(open=opening))

    assert (await next_of("go_away", call)).reason == Reason.INVALID_REQUEST
    got = await answer(call.read())
    assert got.told is not None
    assert got.told.violations[0].field == "open"


async def test_what_was_sent_before_the_end_of_a_stream_is_answered_first(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)
    await call.read()
    rig.engine.gate.clear()
    ids = [new_id() for _ in range(3)]
    await call.write(played("roll", ids[0]))
    for command_id in ids[1:]:
        await call.write(played("roll", command_id, expected_sequence=1))
    opening = pb.PlayMatchRequest.Open(match_id=rig.live.match_id)
    await call.write(pb.PlayMatchRequest(open=opening))
    await until(lambda: bool(rig.engine.commands))
    rig.engine.gate.set()

    news = [await call.read()]
    while news[-1].WhichOneof("response") != "go_away":
        news.append(await call.read())

    results = [each.result for each in news if each.HasField("result")]
    assert [result.command_id for result in results] == ids
    assert results[0].HasField("accepted")
    assert news[-1].go_away.reason == Reason.INVALID_REQUEST
    assert (await answer(call.read())).code is StatusCode.INVALID_ARGUMENT


async def test_the_last_result_comes_before_the_end_of_the_match(rig: Rig) -> None:
    live = rig.world.add(match_of("ann", None, seed=5))
    call = await rig.client("ann").play(live.match_id)
    await call.read()
    rig.engine.gate.clear()
    await call.write(played("surrender"))
    assert await next_of("record", call)
    rig.engine.gate.set()

    news = await rest_of(call)

    kinds = [each.WhichOneof("response") for each in news if not each.HasField("presence")]
    assert kinds == ["result", "go_away"]
    assert live.has_ended
    assert await call.code() is StatusCode.OK


async def test_a_client_that_gives_no_more_commands_goes_on_watching(rig: Rig) -> None:
    call = await rig.client().play(rig.live.match_id)
    await call.read()
    await call.done_writing()

    live = rig.live
    live.play(c.Surrender(2), "seat:2")

    assert (await next_of("record", call)).hash == live.records[-1].hash


async def test_a_command_is_carried_out_though_its_sender_goes_away(rig: Rig) -> None:
    call = await rig.client(turn_of(rig)).play(rig.live.match_id)
    await call.read()
    before = len(rig.live.records)
    rig.engine.gate.clear()
    await call.write(played("roll"))
    await until(lambda: len(rig.live.records) > before)

    call.cancel()
    rig.engine.gate.set()

    # The room that it took is given back by its result: sixty-four more find some.
    results = [
        answer(rig.client("cem").submit(rig.live.match_id, "roll", expected_sequence=1))
        for _ in range(rig.engine.credit)
    ]
    assert {got.told and got.told.reason for got in await asyncio.gather(*results)} == {
        Reason.NOT_SEATED
    }
    with pytest.raises(asyncio.CancelledError):
        await call.read()
    assert isinstance(call, grpc.aio.Call)
