"""Who may ask, and what cannot be understood."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from grpc import StatusCode

from libs.chassis.channels import on_behalf
from libs.kernel.ids import MatchId, derived_command_id
from libs.kernel.reasons import Reason
from opolyx.engine.v1 import caller_pb2
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from tests.chassis.answers import answer
from tests.lobby.rig import Person, Rig, new_id

pytestmark = pytest.mark.postgres

ROOM_ID = "01890000-0000-7000-8000-000000000000"


@pytest.mark.parametrize("name", ["match_engine", "bot_runner", "lobby"])
async def test_the_gateway_alone_may_call(rig: Rig, name: str) -> None:
    stub = await rig.stub_of(rig.address, name)
    listing = await answer(stub.ListRooms(pb.ListRoomsRequest()))
    resolving = await answer(stub.ResolvePlayer(pb.ResolvePlayerRequest(issuer="i", subject="s")))

    assert listing.code is resolving.code is StatusCode.PERMISSION_DENIED


async def test_no_person_may_call_by_themselves(rig: Rig) -> None:
    token = rig.foundation.issuer.issue("ann")
    metadata = (("authorization", f"Bearer {token}"),)
    stub = await rig.stub_without_token()
    refused = await answer(stub.ListRooms(pb.ListRoomsRequest(), metadata=metadata))
    nobody = await answer(stub.ListRooms(pb.ListRoomsRequest()))

    assert refused.code is StatusCode.PERMISSION_DENIED
    assert nobody.code is StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(
    "caller",
    [
        b"",
        caller_pb2.Caller(bot_seat=1).SerializeToString(),
        caller_pb2.Caller(service="timer").SerializeToString(),
        caller_pb2.Caller(player_id="ann").SerializeToString(),
        b"\xff\xff",
    ],
    ids=["nobody", "a bot", "a service", "no player id", "nonsense"],
)
async def test_only_a_person_sits_down(rig: Rig, caller: bytes) -> None:
    request = pb.CreateRoomRequest(command_id=new_id(), rule_set="opolyx.classic@1", seat_count=2)
    refused = await answer(rig.stub.CreateRoom(request, metadata=on_behalf(caller)))

    assert refused.code is StatusCode.PERMISSION_DENIED
    assert refused.told is not None
    assert refused.told.reason == Reason.NOT_ALLOWED


async def test_an_operator_is_a_person_too(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    caller = caller_pb2.Caller(operator_id=ann.player_id)
    ann.metadata = on_behalf(caller.SerializeToString())

    assert (await ann.create()).creator_id == ann.player_id


Do = Callable[[Person], Awaitable[Any]]

MALFORMED: dict[str, tuple[Do, list[str]]] = {
    "no ids": (lambda p: p.join("", command_id=""), ["room_id", "command_id"]),
    "no uuid": (lambda p: p.leave("room"), ["room_id"]),
    "upper case": (lambda p: p.leave(ROOM_ID, command_id=new_id().upper()), ["command_id"]),
    "a service's id": (
        lambda p: p.leave(ROOM_ID, command_id=derived_command_id(MatchId(ROOM_ID), "x")),
        ["command_id"],
    ),
    "a sequence below zero": (
        lambda p: p.start(ROOM_ID, expected_sequence=-1),
        ["expected_sequence"],
    ),
    "a seat below zero": (lambda p: p.join(ROOM_ID, seat=-1), ["seat"]),
    "a bot's seat below zero": (lambda p: p.add_bot(ROOM_ID, seat=-1), ["seat"]),
    "no rule set": (lambda p: p.create(""), ["rule_set"]),
    "an unknown rule set": (lambda p: p.create("opolyx.classic@9"), ["rule_set"]),
    "too many seats": (lambda p: p.create(seat_count=7), ["seat_count"]),
    "seats that teams have not": (lambda p: p.create("opolyx.teams@2", 5), ["seat_count"]),
    "an unknown visibility": (lambda p: p.create(visibility=9), ["visibility"]),
    "an unknown strength": (lambda p: p.add_bot(ROOM_ID, "genius"), ["strength"]),
    "an unknown usual bot": (lambda p: p.create(bot_strength="genius"), ["bot_strength"]),
    "unknown watching": (lambda p: p.create(watching=9), ["watching"]),
    "no room": (lambda p: p.get(""), ["room_id"]),
    "a least sequence below zero": (lambda p: p.get(ROOM_ID, min_sequence=-1), ["min_sequence"]),
}


@pytest.mark.parametrize(("do", "fields"), MALFORMED.values(), ids=MALFORMED)
async def test_what_cannot_be_understood_names_its_fields(
    rig: Rig, do: Do, fields: list[str]
) -> None:
    (ann,) = await rig.people("Ann")
    refused = await answer(do(ann))

    assert refused.code is StatusCode.INVALID_ARGUMENT
    assert refused.told is not None
    assert refused.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refused.told.violations] == fields
