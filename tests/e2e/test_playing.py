"""How a stream for playing is opened, and what it answers."""

from __future__ import annotations

import grpc
import pytest
from grpc import StatusCode

from opolyx.match.v1 import match_service_pb2 as pb
from tests.chassis.answers import failure
from tests.e2e.giving import ROLL, Scene, of, submit, unchanged
from tests.e2e.rig import Refusal, Stage, refusal_in, refusal_of
from tests.support.calling import Client, new_id, next_of, rest_of

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


async def test_a_stream_answers_every_command_in_order(scene: Scene) -> None:
    stream = await scene.off_turn.play(scene.table.match_id)
    given = [of(ROLL) for _ in range(64)]
    async with unchanged(scene):
        for each in given:
            await stream.write(pb.PlayMatchRequest(command=each))
        results = [await next_of("result", stream) for _ in given]

        assert [result.command_id for result in results] == [each.command_id for each in given]
        # More than 16 at once are too much, if the machine is slow enough to notice.
        for told in (refusal_in(result.refused) for result in results):
            limits = {"limit": "unanswered_commands"}
            is_limit = told == Refusal("OVERLOADED", limits, (), may_retry=True)
            assert is_limit or told.reason == "NOT_YOUR_TURN"


async def test_who_gives_no_more_commands_hears_what_became_of_them_and_of_the_match(
    scene: Scene,
) -> None:
    stream = await scene.off_turn.play(scene.table.match_id)
    given = of(ROLL)
    await stream.write(pb.PlayMatchRequest(command=given))
    await stream.done_writing()
    result = await next_of("result", stream)
    reply = await submit(scene.on_turn, scene.table.match_id, of(ROLL))
    record = await next_of("record", stream)

    assert (result.command_id, result.refused.reason) == (given.command_id, "NOT_YOUR_TURN")
    assert (record.last_seq, record.hash) == (reply.sequence, reply.chain_hash)


def opening(match_id: str, after: int | None = None) -> pb.PlayMatchRequest:
    return pb.PlayMatchRequest(
        open=pb.PlayMatchRequest.Open(match_id=match_id, after_sequence=after)
    )


async def end_of(person: Client, *requests: pb.PlayMatchRequest) -> grpc.aio.AioRpcError:
    """Return how a stream ends that is begun so."""
    stream = person.match.PlayMatch(metadata=person.metadata, timeout=10)
    for request in requests:
        await stream.write(request)
    return await failure(rest_of(stream))


async def test_a_stream_is_opened_once_and_first(scene: Scene) -> None:
    well = opening(scene.table.match_id)
    command = pb.PlayMatchRequest(command=of(ROLL))
    cases = {
        "command": ([command], "open"),
        "nothing": ([pb.PlayMatchRequest()], "open"),
        "twice": ([well, well], "open"),
        "empty": ([well, pb.PlayMatchRequest()], "command"),
        "before the first": ([opening(scene.table.match_id, -1)], "after_sequence"),
        "without a match": ([opening("")], "match_id"),
    }
    async with unchanged(scene):
        for requests, wrong in cases.values():
            error = await end_of(scene.on_turn, *requests)

            told = Refusal("INVALID_REQUEST", {"fields": wrong}, (wrong,))
            assert refusal_of(error, StatusCode.INVALID_ARGUMENT) == told


async def test_a_stream_is_for_a_seat_of_a_match_that_there_is(scene: Scene, stage: Stage) -> None:
    beyond = scene.head.sequence + 1
    cases = [
        (scene.on_turn, opening(new_id()), StatusCode.NOT_FOUND, "MATCH_NOT_FOUND"),
        (
            stage.person(),
            opening(scene.table.match_id),
            StatusCode.PERMISSION_DENIED,
            "NOT_SEATED",
        ),
        (
            scene.on_turn,
            opening(scene.table.match_id, beyond),
            StatusCode.ABORTED,
            "STALE_SEQUENCE",
        ),
    ]
    for person, request, code, reason in cases:
        assert refusal_of(await end_of(person, request), code).reason == reason
