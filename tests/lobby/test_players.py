"""Who a token's subject is."""

import asyncio

import pytest

from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from tests.chassis.answers import answer
from tests.lobby.rig import Rig

pytestmark = pytest.mark.postgres


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


async def test_a_name_may_be_empty_and_has_64_characters_at_most(rig: Rig) -> None:
    nameless = await rig.stub.ResolvePlayer(asking("a", ""))
    longest = await rig.stub.ResolvePlayer(asking("b", "ß" * 64))
    refusal = await answer(rig.stub.ResolvePlayer(asking("c", "ß" * 65)))

    assert nameless.display_name == ""
    assert longest.display_name == "ß" * 64
    assert refusal.told is not None
    assert refusal.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in refusal.told.violations] == ["display_name"]


async def test_a_name_holds_nothing_that_cannot_be_seen(rig: Rig) -> None:
    player = await rig.stub.ResolvePlayer(asking(name=" An\x00n\x1b[2J\u202e क्\u200dष\n"))

    assert player.display_name == "Ann[2J क्\u200dष"


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
