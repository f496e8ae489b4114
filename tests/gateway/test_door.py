"""Who may call what, how large, and how often."""

from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import StatusCode

from libs.chassis.channels import on_behalf
from libs.chassis.foundation import Foundation
from libs.chassis.sections import AuthSettings
from libs.chassis.settings import SettingsError, load
from libs.chassis.status import answer_of
from libs.kernel.reasons import Reason
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.gateway.allowed import (
    ADMIN_SERVICE,
    BOT_SERVICE,
    GATEWAY_SERVICE,
    LOBBY_SERVICE,
    MATCH_SERVICE,
    PROGRESSION_SERVICE,
)
from services.gateway.bootstrap import service
from services.gateway.settings import GatewaySection, GatewaySettings
from tests.chassis.answers import answer
from tests.gateway.conftest import OpenRig
from tests.gateway.rig import Rig
from tests.support.calling import Client

pytestmark = pytest.mark.slow

PUBLIC = {"ListRuleSets", "GetRuleSet", "GetBoard", "ListKeys", "GetServerInfo"}
INSIDE = {"CreateMatch", "AdmitGuest", "FireDeadline", "Fire", "ResolvePlayer", "SeatBots"}
DOING = {
    *("SubmitCommand", "PlayMatch", "ListLegalCommands", "WhyNot", "CreateRoom", "JoinRoom"),
    *("TakeSeat", "LeaveRoom", "AddBot", "RemoveBot", "KickSeat", "HandOverRoom", "SetReady"),
    *("StartMatch", "Rematch", "QuickMatch", "CancelQuickMatch", "CreateInvite", "AcceptInvite"),
    *("ListMyMatches", "SetDisplayName"),
}
OPERATING = {
    *("FindMatches", "FreezeMatch", "ResumeMatch", "AbortMatch", "ListQuarantinedMatches"),
    *("ReleaseMatch", "ListAdminCalls"),
}
SERVICES = (
    MATCH_SERVICE,
    LOBBY_SERVICE,
    PROGRESSION_SERVICE,
    BOT_SERVICE,
    GATEWAY_SERVICE,
    ADMIN_SERVICE,
)
METHODS = [
    (described.full_name, method.name) for described in SERVICES for method in described.methods
]
ASKING_IN_STREAMS = {
    method.name for described in SERVICES for method in described.methods if method.client_streaming
}


async def reason_of(rig: Rig, client: Client, method: tuple[str, str]) -> str | None:
    """Call a method with an empty message; return why it was refused, None if nobody did."""
    path = f"/{method[0]}/{method[1]}"
    begin: Any = rig.channel.unary_stream(path)
    if method[1] in ASKING_IN_STREAMS:
        # Nothing is sent: grpc's client forgets why it was refused if it is sending just then.
        call: Any = rig.channel.stream_stream(path)(metadata=client.metadata)
    else:
        call = begin(b"", metadata=client.metadata)
    try:
        await call.read()
    except grpc.aio.AioRpcError as error:
        told = answer_of(error).told
        return told.reason if told is not None else None
    finally:
        call.cancel()
    return None


@pytest.fixture
async def patient(open_rig: OpenRig) -> Rig:
    """Return a gateway that limits nobody."""
    return await open_rig(rate={"per_s": 1_000, "burst": 1_000})


async def test_nobody_needs_a_token_for_the_rules_and_the_keys_alone(patient: Rig) -> None:
    told = {m[1]: await reason_of(patient, patient.nobody(), m) for m in METHODS}

    missing = {name for name, reason in told.items() if reason == Reason.TOKEN_MISSING}
    assert missing == {name for _, name in METHODS} - PUBLIC


async def test_what_is_for_services_no_client_may_call(patient: Rig) -> None:
    clients = [
        patient.client("ann", roles=["operator"]),
        patient.bot(),
        patient.service("lobby"),
        patient.service("timer"),
    ]

    for client in clients:
        told = {m: await reason_of(patient, client, m) for m in METHODS if m[1] in INSIDE}
        assert set(told.values()) == {Reason.NOT_ALLOWED}


async def test_a_spectator_looks_at_everything_and_does_nothing(patient: Rig) -> None:
    spectator = patient.client("ann", roles=["spectator"])

    told = {m[1]: await reason_of(patient, spectator, m) for m in METHODS}

    refused = {name for name, reason in told.items() if reason == Reason.NOT_ALLOWED}
    assert refused == DOING | INSIDE | OPERATING


async def test_only_an_operator_looks_after_matches(patient: Rig) -> None:
    clients = [patient.client("ann"), patient.bot(), patient.service("lobby")]
    operator = patient.client("ann", roles=["operator"])
    methods = [m for m in METHODS if m[1] in OPERATING]

    for client in clients:
        told = {await reason_of(patient, client, m) for m in methods}
        assert told == {Reason.NOT_ALLOWED}
    told = {await reason_of(patient, operator, m) for m in methods}
    assert Reason.NOT_ALLOWED not in told


async def test_an_unknown_token_and_an_old_one_are_told_apart(rig: Rig) -> None:
    old = rig.client("ann", ttl_ms=-int(AuthSettings().leeway_s * 1000))
    bad = Client(rig.channel, (("authorization", "Bearer x"),))
    listing = (BOT_SERVICE.full_name, "ListBots")

    assert await reason_of(rig, old, listing) == Reason.TOKEN_EXPIRED
    assert await reason_of(rig, bad, listing) == Reason.TOKEN_INVALID


@pytest.mark.parametrize(
    "said",
    [None, Caller(), Caller(player_id="p"), Caller(operator_id="p"), Caller(service="timer")],
    ids=["nobody", "nobody in particular", "a person", "an operator", "a service"],
)
async def test_the_bot_runner_acts_for_seats_of_bots_alone(rig: Rig, said: Caller | None) -> None:
    client = rig.service("bot_runner", said)
    request = match_pb.GetMatchRequest(match_id=rig.live.match_id)

    got = await answer(client.call(client.match.GetMatch, request))

    assert got.code is StatusCode.PERMISSION_DENIED
    assert not rig.engine.callers


async def test_the_bot_runner_is_believed_to_be_a_bots_seat(rig: Rig) -> None:
    bot = rig.bot(1)

    match = await bot.call(bot.match.GetMatch, match_pb.GetMatchRequest(match_id=rig.live.match_id))

    assert match.viewer_seat == 1
    assert rig.engine.callers == [("GetMatch", Caller(bot_seat=1))]


async def test_a_caller_that_is_no_message_is_not_believed(rig: Rig) -> None:
    bot = rig.service("bot_runner")
    bot.metadata = (*bot.metadata, *on_behalf(b"\xff"))

    request = match_pb.GetMatchRequest(match_id=rig.live.match_id)
    got = await answer(bot.call(bot.match.GetMatch, request))

    assert got.code is StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("who", ["a person", "another service"])
async def test_nobody_else_may_say_who_calls(rig: Rig, who: str) -> None:
    client = rig.client("ann") if who == "a person" else rig.service("lobby")
    client.metadata = (*client.metadata, *on_behalf(Caller(bot_seat=1).SerializeToString()))

    got = await answer(client.call(client.bots.ListBots, bot_pb.ListBotsRequest()))

    assert got.code is StatusCode.PERMISSION_DENIED
    assert not rig.neighbours.asked


async def test_a_message_that_is_too_large_is_refused_with_a_reason(rig: Rig) -> None:
    ann = rig.client("ann")

    got = await answer(ann.call(ann.lobby.JoinRoom, lobby_pb.JoinRoomRequest(room_id="r" * 5_000)))

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert got.told.reason == Reason.INVALID_REQUEST


@pytest.mark.parametrize("data", [b"\xff\xff", b"\xfa\x7f\x00"], ids=["no message", "a new field"])
async def test_what_cannot_be_understood_is_refused_with_a_reason(rig: Rig, data: bytes) -> None:
    ann = rig.client("ann")
    method: Any = rig.channel.unary_unary("/opolyx.lobby.v1.LobbyService/JoinRoom")

    got = await answer(method(data, metadata=ann.metadata))

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert got.told.reason == Reason.INVALID_REQUEST
    assert not rig.neighbours.asked


async def test_who_calls_too_often_is_told_when_to_come_back(open_rig: OpenRig) -> None:
    rig = await open_rig(rate={"per_s": 0.5, "burst": 3})
    ann, bob = rig.client("ann"), rig.client("bob")
    get = progression_pb.GetProfileRequest()
    for _ in range(3):
        await ann.call(ann.progression.GetProfile, get)

    got = await answer(ann.call(ann.progression.GetProfile, get))

    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.RATE_LIMITED
    assert got.retry_after_ms is not None
    assert 1_000 < got.retry_after_ms <= 2_000
    await bob.call(bob.progression.GetProfile, get)


def test_development_tokens_are_for_this_machine(tmp_path: Path) -> None:
    settings = GatewaySettings(data_folder=tmp_path, gateway=GatewaySection(host="0.0.0.0"))  # noqa: S104

    with pytest.raises(SettingsError, match="OPOLYX_AUTH__MODE"):
        service(settings, Foundation(settings))


def test_rates_are_settings() -> None:
    given = {"OPOLYX_GATEWAY__COMMAND_RATE__PER_S": "7", "OPOLYX_GATEWAY__RATE__BURST": "9"}

    settings = load(GatewaySettings, given)

    assert settings.gateway.command_rate.per_s == 7
    assert settings.gateway.rate.burst == 9
