"""Who calls too often, or gives too many commands, is told when to come back."""

import asyncio

import grpc
import pytest
from grpc import StatusCode

from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from tests.chassis.answers import failure
from tests.e2e.rig import Refusal, Stage, refusal_in, refusal_of
from tests.support.calling import next_of, played

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


def limited(name: str) -> Refusal:
    """Return how somebody is refused who is beyond the limit of that name."""
    return Refusal("RATE_LIMITED", {"limit": name}, (), may_retry=True)


async def test_who_calls_too_often_is_told_when_to_come_back(mortal: Stage) -> None:
    person = mortal.person()
    calls = (person.call(person.bots.ListBots, bot_pb.ListBotsRequest()) for _ in range(180))
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [each for each in results if isinstance(each, grpc.aio.AioRpcError)]
    told = [refusal_of(error, StatusCode.RESOURCE_EXHAUSTED) for error in refused]

    assert told == [limited("calls_per_second")] * len(refused)
    assert 0 < len(refused) <= 30
    other = mortal.person()
    await other.call(other.bots.ListBots, bot_pb.ListBotsRequest())


async def test_commands_count_alike_on_a_stream_and_as_calls(mortal: Stage) -> None:
    table = await mortal.table()
    match = await table.state()
    person = table.people[1 - match.turn]
    stream = await person.play(table.match_id)
    told = []
    for _ in range(100):
        await stream.write(played("roll"))
        told.append(refusal_in((await next_of("result", stream)).refused))
        if told[-1].reason == "RATE_LIMITED":
            break
    error = await failure(person.submit(table.match_id, "roll"))

    assert told[-1] == refusal_of(error, StatusCode.RESOURCE_EXHAUSTED)
    assert told[-1] == limited("commands_per_second")
    assert {each.reason for each in told[:-1]} == {"NOT_YOUR_TURN"}
