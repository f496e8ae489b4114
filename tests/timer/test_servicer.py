"""Engines arm deadlines over one long-lived stream (T2)."""

from collections.abc import AsyncIterator

import grpc
import pytest

from libs.chassis.channels import Channel
from libs.chassis.foundation import Foundation
from libs.chassis.server import GrpcServer
from libs.chassis.status import answer_of
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.timer.armed import Armed
from services.timer.servicer import ALLOWED, MATCHES_MAX, TimerServicer
from services.timer.settings import TimerSection
from tests.timer.rig import MATCH, OTHER


@pytest.fixture
def armed() -> Armed:
    return Armed()


@pytest.fixture
async def address(foundation: Foundation, armed: Armed) -> AsyncIterator[str]:
    settings = TimerSection(port=0)
    server = GrpcServer(foundation.terms("timer", settings, ALLOWED))
    descriptor = pb.DESCRIPTOR.services_by_name["TimerService"]
    server.add(pb_grpc.add_TimerServiceServicer_to_server, TimerServicer(armed), descriptor)
    async with server:
        yield server.address


@pytest.fixture
async def channel(foundation: Foundation, address: str) -> AsyncIterator[Channel]:
    async with foundation.channel("match_engine", address) as opened:
        yield opened


def named(name: str) -> pb.ArmRequest.ArmedMatch:
    deadline = pb.ArmRequest.Deadline(deadline_id=name, fire_ms=1)
    return pb.ArmRequest.ArmedMatch(match_id=MATCH, sequence=1, deadlines=[deadline])


def match(match_id: str = MATCH, sequence: int = 1, **deadlines: int) -> pb.ArmRequest.ArmedMatch:
    return pb.ArmRequest.ArmedMatch(
        match_id=match_id,
        sequence=sequence,
        deadlines=[
            pb.ArmRequest.Deadline(deadline_id=name, fire_ms=ms) for name, ms in deadlines.items()
        ],
    )


async def answers(channel: Channel, *requests: pb.ArmRequest) -> list[int]:
    stream = pb_grpc.TimerServiceStub(channel).Arm(iter(requests), timeout=10)
    return [answer.batch async for answer in stream]


async def refusal(channel: Channel, *requests: pb.ArmRequest) -> tuple[str, str]:
    """Return why the stream was ended, and the fields that were wrong."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await answers(channel, *requests)
    told = answer_of(caught.value).told
    assert told is not None
    return told.reason, told.metadata.get("fields", "")


async def test_batches_are_armed_and_answered_by_their_numbers(
    channel: Channel, armed: Armed
) -> None:
    given = await answers(
        channel,
        pb.ArmRequest(batch=1, matches=[match(roll=100), match(OTHER, buy=50)]),
        pb.ArmRequest(batch=2, matches=[match(sequence=2, roll=300)]),
    )

    due = [(shot.match_id, shot.deadline_id) for shot in armed.take_due(1_000, 10)]
    assert given == [1, 2]
    assert due == [(OTHER, "buy"), (MATCH, "roll")]
    assert len(armed) == 2


async def test_a_batch_may_be_empty(channel: Channel, armed: Armed) -> None:
    assert await answers(channel, pb.ArmRequest(batch=1)) == [1]
    assert len(armed) == 0


async def test_a_batch_may_hold_a_thousand_matches(channel: Channel, armed: Armed) -> None:
    ids = [f"0190a000-0000-7000-8000-{number:012}" for number in range(MATCHES_MAX)]
    matches = [
        match(match_id, 9_999, **{f"auction:3:{n}": 10**13 for n in range(4)}) for match_id in ids
    ]

    assert await answers(channel, pb.ArmRequest(batch=1, matches=matches)) == [1]
    assert len(armed) == 4 * MATCHES_MAX


async def test_a_batch_too_large_is_refused_and_not_armed(channel: Channel, armed: Armed) -> None:
    ids = [f"0190a000-0000-7000-8000-{number:012}" for number in range(MATCHES_MAX + 1)]
    request = pb.ArmRequest(batch=1, matches=[match(match_id, roll=1) for match_id in ids])

    assert await refusal(channel, request) == (Reason.INVALID_REQUEST, "matches")
    assert len(armed) == 0


@pytest.mark.parametrize("batch", [0, 2, -1])
async def test_batches_are_numbered_from_one(channel: Channel, batch: int) -> None:
    reason, fields = await refusal(channel, pb.ArmRequest(batch=batch))

    assert (reason, fields) == (Reason.INVALID_REQUEST, "batch")


async def test_a_batch_out_of_order_is_refused(channel: Channel) -> None:
    requests = pb.ArmRequest(batch=1), pb.ArmRequest(batch=3)

    assert await refusal(channel, *requests) == (Reason.INVALID_REQUEST, "batch")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (match("nobody", roll=1), "matches[1].match_id"),
        (match(sequence=0, roll=1), "matches[1].sequence"),
        (named(""), "matches[1].deadlines[0].deadline_id"),
        (named("x" * 65), "matches[1].deadlines[0].deadline_id"),
        (match(roll=-1), "matches[1].deadlines[0].fire_ms"),
    ],
    ids=["match_id", "sequence", "no name", "a long name", "fire_ms"],
)
async def test_a_batch_that_cannot_be_understood_is_refused_whole(
    channel: Channel, armed: Armed, wrong: pb.ArmRequest.ArmedMatch, field: str
) -> None:
    request = pb.ArmRequest(batch=1, matches=[match(OTHER, roll=1), wrong])

    assert await refusal(channel, request) == (Reason.INVALID_REQUEST, field)
    assert len(armed) == 0


async def test_a_name_is_there_once(channel: Channel) -> None:
    twice = match(roll=1)
    twice.deadlines.add(deadline_id="roll", fire_ms=2)

    reason, fields = await refusal(channel, pb.ArmRequest(batch=1, matches=[twice]))

    assert (reason, fields) == (Reason.INVALID_REQUEST, "matches[0].deadlines")


@pytest.mark.parametrize("caller", ["gateway", "lobby", "timer", "bot_runner"])
async def test_engines_alone_arm(foundation: Foundation, address: str, caller: str) -> None:
    async with foundation.channel(caller, address) as opened:
        reason, _ = await refusal(opened, pb.ArmRequest(batch=1))

    assert reason == Reason.NOT_ALLOWED


async def test_what_is_armed_outlives_its_stream(
    foundation: Foundation, address: str, armed: Armed
) -> None:
    match_id = MatchId(MATCH)
    for sequence in (2, 1):
        async with foundation.channel("match_engine", address) as opened:
            told = match(match_id, sequence, **{f"roll:0:{sequence}": 1})
            await answers(opened, pb.ArmRequest(batch=1, matches=[told]))

    assert [shot.deadline_id for shot in armed.take_due(10, 10)] == ["roll:0:2"]
