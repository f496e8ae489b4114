"""What is passed on to others: as whom, to whom, and what comes back."""

import asyncio

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from tests.chassis.answers import answer
from tests.gateway.neighbours import PLAYERS
from tests.gateway.rig import Rig
from tests.support.waiting import until

JOIN = lobby_pb.JoinRoomRequest(room_id="r")


async def test_a_person_is_a_player_id_inside(rig: Rig) -> None:
    ann = rig.client("ann")

    await ann.call(ann.lobby.JoinRoom, JOIN)

    assert rig.neighbours.asked == [("JoinRoom", Caller(player_id=PLAYERS["ann"]))]
    [resolved] = rig.neighbours.resolved
    assert (resolved.issuer, resolved.subject) == (rig.settings.auth.issuer, "ann")
    assert resolved.display_name == "ann"


async def test_who_somebody_is_is_asked_once_however_many_calls_come_at_once(rig: Rig) -> None:
    ann, bob = rig.client("ann"), rig.client("bob")
    rig.neighbours.gate.clear()
    calls = [asyncio.create_task(ann.call(ann.lobby.JoinRoom, JOIN)) for _ in range(5)]
    await until(lambda: bool(rig.neighbours.resolved))
    calls[0].cancel()  # the others wait for what it began
    rig.neighbours.gate.set()
    await asyncio.gather(*calls[1:])
    await bob.call(bob.lobby.JoinRoom, JOIN)
    await ann.call(ann.lobby.JoinRoom, JOIN)

    assert [request.subject for request in rig.neighbours.resolved] == ["ann", "bob"]


async def test_an_operator_is_a_person_too(rig: Rig) -> None:
    operator = rig.client("ann", roles=["operator"])

    await operator.call(operator.lobby.JoinRoom, JOIN)

    assert rig.neighbours.asked[0][1] == Caller(operator_id=PLAYERS["ann"])


async def test_a_spectator_looks_as_nobody_and_neither_sits_nor_plays(rig: Rig) -> None:
    spectator = rig.client("ann", roles=["spectator"])
    rooms = await spectator.call(spectator.lobby.ListRooms, lobby_pb.ListRoomsRequest())

    got = await answer(spectator.call(spectator.lobby.JoinRoom, JOIN))

    assert rooms == lobby_pb.ListRoomsResponse()
    assert rig.neighbours.asked == [("ListRooms", Caller())]
    assert not rig.neighbours.resolved
    assert got.code is StatusCode.PERMISSION_DENIED


async def test_a_refusal_of_another_service_is_passed_on_as_it_is(rig: Rig) -> None:
    rig.neighbours.says = Reason.ROOM_CLOSED
    ann = rig.client("ann")

    got = await answer(ann.call(ann.lobby.JoinRoom, JOIN))

    assert got.code is StatusCode.FAILED_PRECONDITION
    assert got.told is not None
    assert (got.told.reason, got.told.metadata) == (Reason.ROOM_CLOSED, {"room": "r"})


async def test_progression_and_the_bot_runner_are_asked_as_the_caller(rig: Rig) -> None:
    ann = rig.client("ann")

    await ann.call(ann.progression.GetProfile, progression_pb.GetProfileRequest())
    bots = await ann.call(ann.bots.ListBots, bot_pb.ListBotsRequest())

    assert [bot.strength for bot in bots.bots] == ["steady"]
    assert rig.neighbours.asked == [
        ("GetProfile", Caller(player_id=PLAYERS["ann"])),
        ("ListBots", Caller(player_id=PLAYERS["ann"])),
    ]


async def test_a_match_is_asked_at_its_owner_as_the_caller(rig: Rig) -> None:
    bob = rig.client("bob")
    request = match_pb.GetMatchRequest(match_id=rig.live.match_id)

    match = await bob.call(bob.match.GetMatch, request)

    assert match.viewer_seat == 2
    assert rig.engine.callers == [("GetMatch", Caller(player_id=PLAYERS["bob"]))]


async def test_a_match_that_has_moved_is_asked_at_its_new_owner(rig: Rig) -> None:
    ann = rig.client("ann")
    rig.world.move(rig.other)

    request = match_pb.ListLegalCommandsRequest(match_id=rig.live.match_id)
    legal = await ann.call(ann.match.ListLegalCommands, request)

    assert legal.sequence == rig.live.match.sequence
    assert rig.other.callers


async def test_a_stale_read_and_an_unknown_match_are_refused_by_the_engine(rig: Rig) -> None:
    ann = rig.client("ann")
    stale = match_pb.GetMatchRequest(match_id=rig.live.match_id, min_sequence=10_000)
    unknown = match_pb.GetMatchRequest(match_id="01920000-0000-7000-8000-0000000000ff")

    answers = [await answer(ann.call(ann.match.GetMatch, each)) for each in (stale, unknown)]

    assert [got.told and got.told.reason for got in answers] == [
        Reason.STALE_SEQUENCE,
        Reason.MATCH_NOT_FOUND,
    ]


async def test_an_id_that_is_none_is_named(rig: Rig) -> None:
    ann = rig.client("ann")

    got = await answer(ann.call(ann.match.GetMatch, match_pb.GetMatchRequest(match_id="é" * 36)))

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert got.told.violations[0].field == "match_id"


async def test_what_all_engines_know_any_of_them_is_asked(rig: Rig) -> None:
    ann, nobody = rig.client("ann"), rig.nobody()
    rig.world.move(rig.other)

    rule_set = await nobody.call(
        nobody.match.GetRuleSet, match_pb.GetRuleSetRequest(rule_set_id="opolyx.classic@2")
    )
    matches = await ann.call(ann.match.ListMatches, match_pb.ListMatchesRequest())

    assert rule_set.rule_set_id == "opolyx.classic@2"
    assert matches.next_page_token == "more"  # noqa: S105 - of pages
    asked = sorted(rig.engine.callers + rig.other.callers, key=lambda each: each[0])
    assert asked == [
        ("GetRuleSet", Caller()),
        ("ListMatches", Caller(player_id=PLAYERS["ann"])),
    ]


@pytest.mark.parametrize("service", ["lobby", "progression"])
async def test_a_service_that_is_away_is_unavailable(rig: Rig, service: str) -> None:
    ann = rig.client("ann")
    await ann.call(ann.bots.ListBots, bot_pb.ListBotsRequest())  # who she is is known by now
    await rig.stop_neighbours()
    method, request = {
        "lobby": (ann.lobby.JoinRoom, JOIN),
        "progression": (ann.progression.GetProfile, progression_pb.GetProfileRequest()),
    }[service]

    got = await answer(ann.call(method, request))

    assert got.code is StatusCode.UNAVAILABLE
    assert got.told is not None
    assert got.told.reason == Reason.STORE_UNAVAILABLE


async def test_who_is_known_plays_on_while_the_lobby_is_away(rig: Rig) -> None:
    ann = rig.client("ann")
    await ann.call(ann.bots.ListBots, bot_pb.ListBotsRequest())
    await rig.stop_neighbours()

    request = match_pb.GetMatchRequest(match_id=rig.live.match_id)

    assert (await ann.call(ann.match.GetMatch, request)).viewer_seat == 0
