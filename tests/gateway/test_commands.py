"""Commands by themselves: brought to whoever owns the match, and carried out once."""

import asyncio
from functools import partial

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from tests.chassis.answers import answer
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig, go_on, turn_of
from tests.support.calling import new_id, next_of, played
from tests.support.waiting import until


async def test_an_accepted_command_is_answered_with_its_record(rig: Rig) -> None:
    name = turn_of(rig)
    seat = rig.live.match.turn

    reply = await rig.client(name).submit(rig.live.match_id, "roll")

    last = rig.live.records[-1]
    assert (reply.first_sequence, reply.sequence) == (last.first_seq, last.last_seq)
    assert reply.chain_hash == last.hash
    [frame] = rig.engine.commands
    assert frame.caller.player_id == rig.live.match.specs[seat].player
    assert 0 < frame.timeout_ms <= 10_100  # gRPC sends the caller's 10 s in tenths, rounded up


async def test_a_refusal_is_told_with_its_rule_and_its_facts(rig: Rig) -> None:
    name = {"ann": "bob", "bob": "ann"}[turn_of(rig)]

    got = await answer(rig.client(name).submit(rig.live.match_id, "roll"))

    assert got.code is StatusCode.FAILED_PRECONDITION
    assert got.told is not None
    assert got.told.reason == Reason.NOT_YOUR_TURN
    assert got.told.metadata["rule"]


async def test_a_stale_sequence_is_aborted(rig: Rig) -> None:
    name = turn_of(rig)

    got = await answer(rig.client(name).submit(rig.live.match_id, "roll", expected_sequence=1))

    assert got.code is StatusCode.ABORTED
    assert rig.engine.commands[0].expected_sequence == 1


async def test_a_repeated_command_gets_the_same_reply(rig: Rig) -> None:
    client, command_id = rig.client(turn_of(rig)), new_id()

    first = await client.submit(rig.live.match_id, "roll", command_id=command_id)
    again = await client.submit(rig.live.match_id, "roll", command_id=command_id)

    assert again == first


@pytest.mark.parametrize("where", ["breaks_before", "breaks_after"])
async def test_a_command_whose_stream_breaks_off_is_carried_out_once(rig: Rig, where: str) -> None:
    client, before = rig.client(turn_of(rig)), len(rig.live.records)
    setattr(rig.engine, where, 2)

    reply = await client.submit(rig.live.match_id, "roll")

    assert len({frame.command_id for frame in rig.engine.commands}) == 1
    assert len(rig.engine.commands) == 3
    assert len(rig.live.records) == before + 1
    assert reply.sequence == rig.live.records[-1].last_seq


async def test_a_command_goes_to_the_engine_that_owns_the_match_now(rig: Rig) -> None:
    client = rig.client(turn_of(rig))
    await answer(client.submit(rig.live.match_id, "buy"))  # the gateway has a stream to the first

    rig.world.move(rig.other)
    await client.submit(rig.live.match_id, "roll")

    assert [frame.command.WhichOneof("command") for frame in rig.other.commands] == ["roll"]


async def test_an_engine_that_owns_the_match_no_more_says_so_and_the_next_is_asked(
    rig: Rig,
) -> None:
    client = rig.client(turn_of(rig))
    await answer(client.submit(rig.live.match_id, "buy"))
    rig.world.owner = rig.other.address  # which nobody has been told yet

    reply = await client.submit(rig.live.match_id, "roll")

    assert reply.sequence == rig.live.match.sequence
    assert len(rig.engine.commands) > 1
    assert len(rig.other.commands) == 1


async def test_nobody_owns_the_match_and_the_caller_is_told_in_time(rig: Rig) -> None:
    client = rig.client(turn_of(rig))
    rig.world.owner = "127.0.0.1:1"
    rig.world.epoch += 1

    got = await answer(client.submit(rig.live.match_id, "roll", timeout_s=1))

    assert got.told is None or got.told.reason == Reason.NOT_OWNER_OF_SHARD
    assert got.code in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED)


async def test_no_more_commands_are_sent_than_the_engine_has_room_for(rig: Rig) -> None:
    client = rig.client(turn_of(rig))
    rig.engine.credit = 2
    rig.engine.gate.clear()

    submit = partial(client.submit, rig.live.match_id, "roll", expected_sequence=1)
    calls = [asyncio.create_task(answer(submit())) for _ in range(5)]
    await until(lambda: len(rig.engine.commands) == 2)
    go_on(rig.live)
    assert len(rig.engine.commands) == 2

    rig.engine.gate.set()
    await asyncio.gather(*calls)
    assert len(rig.engine.commands) == 5


async def test_a_command_for_which_there_is_no_room_is_refused_in_time(open_rig: OpenRig) -> None:
    rig = await open_rig(command_timeout_s=0.3)
    rig.engine.credit = 0
    client = rig.client(turn_of(rig))
    call = await client.play(rig.live.match_id)
    command_id = new_id()
    await call.write(played("roll", command_id))

    result = await next_of("result", call)

    assert result.command_id == command_id
    assert result.refused.reason == Reason.OVERLOADED
    assert result.refused.retry_after_ms > 0


async def test_what_is_unanswered_when_an_engine_leaves_still_gets_its_result(rig: Rig) -> None:
    client = rig.client(turn_of(rig))
    rig.engine.gate.clear()
    call = asyncio.create_task(client.submit(rig.live.match_id, "roll"))
    await until(lambda: bool(rig.engine.commands))

    rig.engine.leaving.set()
    rig.world.move(rig.other)
    await until(lambda: bool(rig.world.owner == rig.other.address))
    rig.engine.gate.set()

    assert (await call).sequence == rig.live.match.sequence
    assert not rig.other.commands


@pytest.mark.slow
async def test_an_engine_that_falls_silent_is_taken_for_lost(rig: Rig) -> None:
    client = rig.client(turn_of(rig))
    rig.engine.is_mute = True
    call = asyncio.create_task(client.submit(rig.live.match_id, "roll"))
    await until(lambda: bool(rig.engine.streams))
    rig.world.move(rig.other)

    reply = await call

    assert reply.sequence == rig.live.match.sequence
    assert len(rig.other.commands) == 1


@pytest.mark.parametrize("name", ["cem", "eve"])
async def test_who_has_no_seat_gives_no_commands(rig: Rig, name: str) -> None:
    roles = ["spectator"] if name == "eve" else []

    got = await answer(rig.client(name, roles=roles).submit(rig.live.match_id, "roll"))

    assert got.code is StatusCode.PERMISSION_DENIED
    assert got.told is not None
    assert got.told.reason == (Reason.NOT_ALLOWED if roles else Reason.NOT_SEATED)


@pytest.mark.parametrize(
    ("match_id", "command_id", "field"),
    [
        ("", new_id(), "match_id"),
        ("é" * 36, new_id(), "match_id"),
        ("01920000-0000-7000-8000-000000000000", "x", "command_id"),
    ],
    ids=["no match", "no ASCII", "no command id"],
)
async def test_ids_that_are_none_are_named(
    rig: Rig, match_id: str, command_id: str, field: str
) -> None:
    got = await answer(rig.client().submit(match_id, "roll", command_id=command_id))

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert [violation.field for violation in got.told.violations] == [field]


async def test_who_gives_commands_too_often_is_told_when_to_go_on(open_rig: OpenRig) -> None:
    rig = await open_rig(command_rate={"per_s": 0.1, "burst": 1})
    client = rig.client(turn_of(rig))
    await client.submit(rig.live.match_id, "roll")

    got = await answer(client.submit(rig.live.match_id, "roll"))

    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.RATE_LIMITED
    assert got.retry_after_ms
