"""Who a token's subject is."""

import asyncio

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Player
from tests.chassis.answers import answer
from tests.lobby.rig import Person, Rig, new_id

pytestmark = pytest.mark.postgres

NOBODY = "01920000-0000-7000-8000-0000000000ff"


def asking(
    subject: str = "ann", name: str = "Ann", issuer: str = "tests"
) -> pb.ResolvePlayerRequest:
    return pb.ResolvePlayerRequest(issuer=issuer, subject=subject, display_name=name)


async def test_a_subject_becomes_a_player_at_the_first_call_and_stays_the_same(rig: Rig) -> None:
    first = await rig.stub.ResolvePlayer(asking())
    again = await rig.stub.ResolvePlayer(asking(name="Another name"))

    assert first.display_name == "Ann"
    assert first.player_id[14] == "7"
    assert again == first


async def test_subjects_of_two_issuers_are_two_people(rig: Rig) -> None:
    ann = await rig.stub.ResolvePlayer(asking())
    other = await rig.stub.ResolvePlayer(asking(issuer="others"))
    bob = await rig.stub.ResolvePlayer(asking(subject="bob"))

    assert len({ann.player_id, other.player_id, bob.player_id}) == 3


async def test_concurrent_first_calls_give_one_player(rig: Rig) -> None:
    second = await rig.open_lobby()
    stubs = [rig.stub, second] * 10
    players = await asyncio.gather(*(stub.ResolvePlayer(asking()) for stub in stubs))

    assert len({player.player_id for player in players}) == 1


async def test_the_name_of_a_token_may_be_empty_and_has_64_characters_at_most(rig: Rig) -> None:
    nameless = await rig.stub.ResolvePlayer(asking("a", ""))
    longest = await rig.stub.ResolvePlayer(asking("b", "ß" * 64))
    refusal = await answer(rig.stub.ResolvePlayer(asking("c", "ß" * 65)))

    assert nameless.display_name == ""
    assert longest.display_name == "ß" * 32
    assert refusal.told is not None
    assert refusal.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refusal.told.violations] == ["display_name"]


async def test_the_name_of_a_token_is_kept_as_far_as_it_can_be_seen(rig: Rig) -> None:
    player = await rig.stub.ResolvePlayer(asking(name=" An\x00n\x1b[2J\u202e क्\u200dष\n"))

    assert player.display_name == "Ann[2J क्\u200dष"


async def test_people_give_themselves_a_name_that_everybody_sees(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room = await ann.create()
    named = await ann.set_name("Anna Zoe\u0308")
    (seat, *_) = (await bob.get(room.room_id)).seats

    assert named == Player(player_id=ann.player_id, display_name="Anna Zoë")
    assert seat.player == named
    assert await ann.set_name("Anna Zoe\u0308") == named
    assert await bob.player(ann.player_id) == named
    assert (await rig.person("Ann")).player_id == ann.player_id


async def test_a_name_that_cannot_be_shown_changes_nothing(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    refusal = await answer(ann.set_name("\u202eAnn", command_id="no id"))

    assert refusal.told is not None
    assert refusal.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refusal.told.violations] == [
        "command_id",
        "display_name",
    ]
    assert (await ann.player()).display_name == "Ann"


async def test_whoever_names_nobody_is_told_of_themselves(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")

    assert await ann.player() == Player(player_id=ann.player_id, display_name="Ann")
    assert await ann.player(bob.player_id) == Player(player_id=bob.player_id, display_name="Bob")


async def test_who_is_not_known_and_who_is_nobody_is_not_found(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    stranger, spectator = Person(rig.stub, new_id()), Person(rig.stub, "")
    calls = [
        ann.player(new_id()),
        stranger.player(),
        stranger.set_name("Who"),
        spectator.player(),
    ]

    for call in calls:
        refusal = await answer(call)
        assert refusal.code is StatusCode.NOT_FOUND
        assert refusal.told is not None
        assert refusal.told.reason == Reason.PLAYER_NOT_FOUND
    assert (await spectator.player(ann.player_id)).display_name == "Ann"


async def test_people_are_returned_in_the_order_asked_for_and_once(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    wanted = [cem.player_id, new_id(), ann.player_id, cem.player_id, bob.player_id]
    request = pb.BatchGetPlayersRequest(player_ids=wanted)
    batch = await rig.stub.BatchGetPlayers(request, metadata=ann.metadata)

    assert [player.display_name for player in batch.players] == ["Cem", "Ann", "Bob"]


@pytest.mark.parametrize(
    ("wanted", "field"),
    [([], "player_ids"), ([NOBODY] * 51, "player_ids"), ([NOBODY, "x"], "player_ids[1]")],
    ids=["none", "too many", "no id"],
)
async def test_a_batch_of_people_is_some_ids_and_not_too_many(
    rig: Rig, wanted: list[str], field: str
) -> None:
    request = pb.BatchGetPlayersRequest(player_ids=wanted)
    refusal = await answer(rig.stub.BatchGetPlayers(request))

    assert refusal.told is not None
    assert [violation.field for violation in refusal.told.violations] == [field]


@pytest.mark.parametrize(
    ("issuer", "subject", "field"),
    [
        ("", "ann", "issuer"),
        ("tests", "", "subject"),
        ("i" * 201, "ann", "issuer"),
        ("tests", "s" * 256, "subject"),
        ("te\x00sts", "ann", "issuer"),
        ("tests", "an\x00n", "subject"),
    ],
)
async def test_a_subject_is_one_that_can_be_kept(
    rig: Rig, issuer: str, subject: str, field: str
) -> None:
    refusal = await answer(rig.stub.ResolvePlayer(asking(subject, issuer=issuer)))

    assert refusal.told is not None
    assert [violation.field for violation in refusal.told.violations] == [field]


async def test_the_longest_subject_in_the_widest_characters_can_be_kept(rig: Rig) -> None:
    # Many different ones, or the index would hold them in a few bytes.
    wide = "".join(map(chr, range(0x1F300, 0x1F300 + 255)))
    request = asking(wide, issuer=wide[:200])

    assert (await rig.stub.ResolvePlayer(request)) == (await rig.stub.ResolvePlayer(request))
