"""Lists, and what is served beside matches: rules, keys, profiles, health and reflection.

Cited: XP-2.
"""

from __future__ import annotations

from typing import Any, Final, cast

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules.rule_sets import BOARDS, RULE_SETS
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.match_pb2 import MatchSummary
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from tests.chassis.answers import failure
from tests.e2e.methods import PUBLIC
from tests.e2e.rig import Refusal, Stage, create_room, new_name, refusal
from tests.support.calling import Client, new_id
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

INVALID: Final = StatusCode.INVALID_ARGUMENT


async def pages(person: Client, call: Any, request: Any, size: int) -> list[list[Any]]:
    """Read a list to its end, and return its pages."""
    found, request.page_size = [], size
    while True:
        page = await person.call(call, request)
        request.page_token = page.next_page_token
        found.append(list(getattr(page, page.DESCRIPTOR.fields[0].name)))
        if not page.next_page_token:
            return found


async def test_matches_are_listed_newest_first_and_by_what_they_are(stage: Stage) -> None:
    name = new_name()
    person = stage.person(name)
    tables = []
    for _ in range(3):
        tables.append(await stage.table(creator=name))
        if len(tables) < 3:
            await tables[-1].submit(0, c.Surrender(0))
    mine = pb.ListMatchesRequest(mine=True)
    over = pb.ListMatchesRequest(mine=True, status=MatchSummary.STATUS_ENDED)
    running = pb.ListMatchesRequest(mine=True, status=MatchSummary.STATUS_RUNNING)
    listed = await pages(person, person.match.ListMatches, mine, 2)
    ended = await pages(person, person.match.ListMatches, over, 1)
    [[now]] = await pages(person, person.match.ListMatches, running, 200)

    ids = [table.match_id for table in reversed(tables)]
    assert [[match.match_id for match in page] for page in listed] == [ids[:2], ids[2:]]
    assert [[match.match_id for match in page] for page in ended] == [ids[1:2], ids[2:]]
    assert now == listed[0][0]
    assert (now.match_id, now.sequence) == (ids[0], (await tables[2].head()).sequence)
    everybody = await pages(person, person.match.ListMatches, pb.ListMatchesRequest(), 3)
    all_ids = [match.match_id for page in everybody for match in page]
    assert all_ids == sorted(set(all_ids), reverse=True)
    assert set(ids) <= set(all_ids)


async def test_rules_boards_and_keys_need_no_token(stage: Stage) -> None:
    nobody = stage.nobody()
    listed = await pages(nobody, nobody.match.ListRuleSets, pb.ListRuleSetsRequest(), 2)
    rule_sets = [rule_set for page in listed for rule_set in page]
    [keys] = await pages(nobody, nobody.match.ListKeys, pb.ListKeysRequest(), 0)

    assert [rule_set.rule_set_id for rule_set in rule_sets] == list(RULE_SETS)
    assert len(keys) == 1
    assert len(keys[0].public_key) == 32
    for rule_set in rule_sets:
        request = pb.GetRuleSetRequest(rule_set_id=rule_set.rule_set_id)
        assert await nobody.call(nobody.match.GetRuleSet, request) == rule_set
    for board_id in BOARDS:
        board = await nobody.call(nobody.match.GetBoard, pb.GetBoardRequest(board_id=board_id))
        assert len(board.squares) == 40


async def test_bots_are_listed_from_the_weakest_up(stage: Stage) -> None:
    person = stage.person()
    listed = await pages(person, person.bots.ListBots, bot_pb.ListBotsRequest(), 1)

    assert [[bot.strength for bot in page] for page in listed] == [[name] for name in STRENGTHS]


async def test_rooms_are_listed_newest_first(stage: Stage) -> None:
    person, rule_set = stage.person(), "opolyx.speed@1"
    made = [await create_room(stage.person(), rule_set) for _ in range(3)]
    request = lobby_pb.ListRoomsRequest(rule_set=rule_set)
    listed = await pages(person, person.lobby.ListRooms, request, 2)

    assert [room for page in listed for room in page] == list(reversed(made))


LISTS: Final = {
    "matches": ("match", "ListMatches", pb.ListMatchesRequest),
    "rule sets": ("match", "ListRuleSets", pb.ListRuleSetsRequest),
    "keys": ("match", "ListKeys", pb.ListKeysRequest),
    "rooms": ("lobby", "ListRooms", lobby_pb.ListRoomsRequest),
    "cards": ("progression", "ListCards", progression_pb.ListCardsRequest),
    "bots": ("bots", "ListBots", bot_pb.ListBotsRequest),
}


@pytest.mark.parametrize("name", LISTS)
async def test_a_page_that_there_is_not_is_refused(stage: Stage, name: str) -> None:
    service, method, request = LISTS[name]
    person = stage.person()
    call = getattr(getattr(person, service), method)
    for token in ("x", "AAAAAAAAAAAAAAAAAAAAAAAA", "é", "x" * 2_000):
        told = await refusal(person.call(call, request(page_token=token)), INVALID)

        assert told == Refusal("INVALID_REQUEST", {"fields": "page_token"}, ("page_token",))
    told = await refusal(person.call(call, request(page_size=-1)), INVALID)
    assert told == Refusal("INVALID_REQUEST", {"fields": "page_size"}, ("page_size",))


async def test_a_page_is_of_the_list_that_it_was_given_for(stage: Stage) -> None:
    person = stage.person()
    first = pb.ListRuleSetsRequest(page_size=1)
    token = (await person.call(person.match.ListRuleSets, first)).next_page_token
    keys = person.call(person.match.ListKeys, pb.ListKeysRequest(page_token=token))
    mine = pb.ListMatchesRequest(mine=True, page_token=token)
    matches = person.call(person.match.ListMatches, mine)

    assert (await refusal(keys, INVALID)).fields == ("page_token",)
    assert (await refusal(matches, INVALID)).fields == ("page_token",)


@pytest.mark.parametrize("unknown", ["", "opolyx.classic@9", "\0"])
async def test_rules_that_there_are_not_are_refused(stage: Stage, unknown: str) -> None:
    nobody = stage.nobody()
    rule_set = nobody.call(nobody.match.GetRuleSet, pb.GetRuleSetRequest(rule_set_id=unknown))
    board = nobody.call(nobody.match.GetBoard, pb.GetBoardRequest(board_id=unknown))

    assert (await refusal(rule_set, INVALID)).fields == ("rule_set_id",)
    assert (await refusal(board, INVALID)).fields == ("board_id",)


# What people have earned.


async def test_a_match_is_rewarded_once_and_everybody_may_look(stage: Stage) -> None:
    """XP-2."""
    table = await stage.table()
    ann, bob = table.people
    await table.submit(1, c.Surrender(1))
    player_id = (await table.match()).seats[0].spec.player
    own = progression_pb.GetProfileRequest()

    async def is_rewarded() -> bool:
        return bool((await ann.call(ann.progression.GetProfile, own)).recent_rewards)

    await until(is_rewarded)
    profile = await ann.call(ann.progression.GetProfile, own)
    named = progression_pb.GetProfileRequest(player_id=player_id, min_sequence=profile.sequence)
    seen = await stage.person("", "spectator").call(bob.progression.GetProfile, named)
    listed = await pages(ann, ann.progression.ListCards, progression_pb.ListCardsRequest(), 200)

    assert (seen.player_id, seen.experience) == (player_id, profile.experience)
    # Which match it was is for her to know.
    assert not seen.recent_rewards
    assert [reward.match_id for reward in profile.recent_rewards] == [table.match_id]
    assert profile.experience == profile.recent_rewards[0].experience
    assert sum(map(len, listed)) == profile.card_count


async def test_who_has_finished_nothing_has_nothing(stage: Stage) -> None:
    person, nobody = stage.person(), stage.person("", "spectator")
    profile = await person.call(person.progression.GetProfile, progression_pb.GetProfileRequest())
    own = nobody.call(nobody.progression.GetProfile, progression_pb.GetProfileRequest())
    later = progression_pb.GetProfileRequest(player_id=new_id(), min_sequence=1)
    stale = person.call(person.progression.GetProfile, later)
    wrong = progression_pb.ListCardsRequest(player_id="x", min_sequence=-1)
    unclear = person.call(person.progression.ListCards, wrong)

    assert (profile.sequence, profile.experience, profile.level) == (0, 0, 1)
    assert await refusal(own, StatusCode.NOT_FOUND) == Refusal("PLAYER_NOT_FOUND", {})
    told = Refusal("STALE_SEQUENCE", {"asked": "1", "head": "0"})
    assert await refusal(stale, StatusCode.ABORTED) == told
    assert (await refusal(unclear, INVALID)).fields == ("player_id", "min_sequence")


# Infrastructure.


async def test_every_service_says_that_it_serves(stage: Stage) -> None:
    stub: Any = health_pb2_grpc.HealthStub(stage.channel)
    services = {method.containing_service.full_name for method in PUBLIC}
    for name in ("", *services):
        response = await stub.Check(health_pb2.HealthCheckRequest(service=name))
        assert response.status == health_pb2.HealthCheckResponse.SERVING
    error = await failure(stub.Check(health_pb2.HealthCheckRequest(service="casino")))

    assert error.code() is StatusCode.NOT_FOUND


async def test_who_knows_no_protos_can_learn_them(stage: Stage) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(cast("Any", stage.channel))
    services = {method.containing_service.full_name for method in PUBLIC}
    call = stub.ServerReflectionInfo()
    for name in services:
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=name)
        await call.write(request)
        response = await call.read()
        files = response.file_descriptor_response.file_descriptor_proto
        described = {
            f"{file.package}.{service.name}": [method.name for method in service.method]
            for file in map(FileDescriptorProto.FromString, files)
            for service in file.service
        }
        methods = [m.name for m in PUBLIC if m.containing_service.full_name == name]

        assert described[name] == methods
    call.cancel()
