"""Tokens that are no good, seats of others, and requests that cannot be read: all told in so many
words. Who may call what is in `test_matrix.py`, and requests that make no sense in `tests/fuzz`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from grpc import StatusCode

from libs.chassis.channels import on_behalf
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as pb
from tests.e2e.matrix import OF_ALL
from tests.e2e.methods import PUBLIC, Metadata, knocked, past_the_gateway, sent
from tests.e2e.rig import Refusal, Stage, Table, refusal, refusal_of
from tests.support.calling import Client

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

FOR_PEOPLE: Final = [
    method for method in PUBLIC if OF_ALL.get(method.name, {}).get("other") != "NOT_ALLOWED"
]

NOT_ALLOWED: Final = Refusal("NOT_ALLOWED", {})
UNREADABLE: Final = Refusal("INVALID_REQUEST", {}, ("",))


async def at_the_door(
    stage: Stage, client: Client, methods: Iterable[MethodDescriptor], code: StatusCode
) -> dict[str, Refusal]:
    """Call methods, and return how those are refused that are refused with this code."""
    found = {}
    for method in methods:
        error = await knocked(stage.channel, method, client.metadata)
        if error is not None and error.code() is code:
            found[method.name] = refusal_of(error, code)
    return found


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("Bearer x", Refusal("TOKEN_INVALID", {"check": "token"})),
        ("Basic eDp4", Refusal("TOKEN_INVALID", {"check": "scheme"})),
        ("Bearer {expired}", Refusal("TOKEN_EXPIRED", {})),
        ("Bearer {forged}", Refusal("TOKEN_INVALID", {"check": "signature"})),
    ],
    ids=["garbage", "another scheme", "expired", "forged"],
)
async def test_a_token_that_is_no_good_is_good_for_nothing(
    stage: Stage, token: str, told: Refusal
) -> None:
    good = stage.token("somebody")
    tokens = {"expired": stage.token("somebody", ttl_ms=-2_000), "forged": good[:-8] + "AAAAAAAA"}
    client = stage.bearer(token.format(**tokens))

    refused = await at_the_door(stage, client, PUBLIC, StatusCode.UNAUTHENTICATED)

    assert refused == dict.fromkeys((method.name for method in PUBLIC), told)


async def test_a_spectator_has_no_seat_whatever_else_the_account_has(
    stage: Stage, table: Table
) -> None:
    shown = await table.match(stage.person(table.names[0], "spectator"))

    assert not shown.HasField("viewer_seat")
    assert (await table.match()).viewer_seat == 0


async def test_the_other_services_know_no_people(stage: Stage) -> None:
    nobody, boss = stage.nobody().metadata, stage.person("boss", "operator").metadata
    for address, methods in past_the_gateway(stage.system.settings.peers).items():
        async with grpc.aio.insecure_channel(address) as channel:
            for method in methods:
                unknown = await knocked(channel, method, nobody)
                known = await knocked(channel, method, boss)

                assert unknown is not None
                missing = refusal_of(unknown, StatusCode.UNAUTHENTICATED)
                assert missing == Refusal("TOKEN_MISSING", {})
                assert known is not None
                assert refusal_of(known, StatusCode.PERMISSION_DENIED) == NOT_ALLOWED


async def test_nobody_plays_a_seat_of_somebody_else(stage: Stage, table: Table) -> None:
    head = await table.head()
    seat_0 = on_behalf(Caller(bot_seat=0).SerializeToString())
    player_id = (await table.match()).seats[0].spec.player
    ann = on_behalf(Caller(player_id=player_id).SerializeToString())
    person = table.people[0].metadata
    not_seated = Refusal("NOT_SEATED", {"seats": "2"})
    cases: list[tuple[Metadata, Refusal]] = [
        (stage.person().metadata, not_seated),
        (stage.person("boss", "operator").metadata, not_seated),
        ((*person, *seat_0), NOT_ALLOWED),
        ((*stage.person().metadata, *ann), NOT_ALLOWED),
        (stage.service("bot_runner", Caller(bot_seat=0)).metadata, not_seated),
        (stage.service("bot_runner", Caller(bot_seat=9)).metadata, not_seated),
        (stage.service("bot_runner").metadata, NOT_ALLOWED),
        ((*stage.service("bot_runner").metadata, *ann), NOT_ALLOWED),
        (stage.service("timer", Caller(bot_seat=0)).metadata, NOT_ALLOWED),
    ]
    for metadata, told in cases:
        client = Client(stage.channel, metadata)
        submitted = client.submit(table.match_id, "surrender")

        assert await refusal(submitted, StatusCode.PERMISSION_DENIED) == told
        stream = client.match.PlayMatch(metadata=metadata, timeout=10)
        if told == not_seated:
            opened = pb.PlayMatchRequest.Open(match_id=table.match_id)
            await stream.write(pb.PlayMatchRequest(open=opened))
        assert await refusal(stream.read(), StatusCode.PERMISSION_DENIED) == told
    assert await table.head() == head


# What is sent.


async def test_what_is_no_message_is_refused_as_such(stage: Stage) -> None:
    person = stage.person()
    unknown = Refusal("INVALID_REQUEST", {"fields": "#99"}, ("#99",))
    cases = {b"\xff": UNREADABLE, b"\x0a\xff": UNREADABLE, b"\x98\x06\x01": unknown}
    for method in FOR_PEOPLE:
        for data, told in cases.items():
            error = await sent(stage.channel, method, person.metadata, data)

            assert error is not None
            assert refusal_of(error, StatusCode.INVALID_ARGUMENT) == told


async def test_what_is_too_large_is_refused_as_such(stage: Stage) -> None:
    person = stage.person()
    for method in FOR_PEOPLE:
        for size in (4 * 1024 + 1, 1024 * 1024):
            # A text that is too long for any, or else a field that there is not.
            text = lobby_pb.GetRoomRequest(room_id="x" * size).SerializeToString()
            error = await sent(stage.channel, method, person.metadata, text)

            assert error is not None
            assert refusal_of(error, StatusCode.INVALID_ARGUMENT) == UNREADABLE


async def test_what_is_larger_than_any_message_costs_its_sender_the_call_alone(
    stage: Stage,
) -> None:
    person, method = stage.person(), PUBLIC[0]
    error = await sent(stage.channel, method, person.metadata, bytes(5 * 1024 * 1024))

    # grpc's own, which does not even read it.
    assert error is not None
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    await person.call(person.match.ListMatches, pb.ListMatchesRequest())
