"""Profiles and cards as they are asked for by gRPC."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from libs.chassis.channels import on_behalf
from libs.kernel.reasons import Reason
from libs.rules.rewards import experience_needed
from libs.store.connections import Connections
from libs.wire.paging import next_page_token
from opolyx.engine.v1 import caller_pb2
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from tests.progression.asking import refusal
from tests.progression.played import played
from tests.progression.rig import ANN, BEN, NOBODY, Rig
from tests.progression.served import Served, person, serving
from tests.support.builders import CLASSIC_1, MATCH_ID

pytestmark = pytest.mark.postgres

COMMON, RARE, LEGENDARY = (
    record_pb.CollectionCard.RARITY_COMMON,
    record_pb.CollectionCard.RARITY_RARE,
    record_pb.CollectionCard.RARITY_LEGENDARY,
)


@pytest.fixture
async def served(emptied: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(emptied, tmp_path) as opened:
        yield opened


class TestAProfile:
    async def test_of_somebody_who_never_finished_a_match_is_empty(self, served: Served) -> None:
        profile = await served.profile(NOBODY)

        assert profile == type(profile)(
            player_id=NOBODY, level=1, rank="Newcomer", next_level_experience=100
        )

    async def test_has_what_somebody_earned(self, served: Served, rig: Rig) -> None:
        match = played(CLASSIC_1, 2, [ANN], lambda m: m.experience(0) == 200)
        await rig.read(match.table)

        profile = await served.profile(ANN)

        [reward] = profile.recent_rewards
        [card] = reward.cards
        assert (profile.sequence, profile.experience, profile.card_count) == (3, 200, 1)
        assert (profile.level, profile.rank) == (2, "Newcomer")
        assert (profile.level_experience, profile.next_level_experience) == (100, 300)
        assert (reward.match_id, reward.seat, reward.experience) == (match.match_id, 0, 200)
        assert card.match_id == match.match_id
        assert card.dropped_ms == reward.granted_ms == rig.clock.now_ms()

    async def test_is_the_callers_own_if_nobody_is_named(self, served: Served, rig: Rig) -> None:
        await rig.read(played(CLASSIC_1, 2, [ANN]).table)

        profile = await served.stub.GetProfile(pb.GetProfileRequest(), metadata=person(ANN))

        assert profile == await served.profile(ANN)
        assert profile.sequence > 0

    async def test_of_an_operator_is_a_persons_too(self, served: Served) -> None:
        caller = caller_pb2.Caller(operator_id=ANN)

        profile = await served.stub.GetProfile(
            pb.GetProfileRequest(), metadata=on_behalf(caller.SerializeToString())
        )

        assert profile.player_id == ANN

    async def test_of_somebody_else_may_be_looked_at(self, served: Served) -> None:
        profile = await served.stub.GetProfile(
            pb.GetProfileRequest(player_id=BEN), metadata=person(ANN)
        )

        assert profile.player_id == BEN

    @pytest.mark.parametrize(
        ("caller", "may_know"),
        [
            (caller_pb2.Caller(player_id=ANN), True),
            (caller_pb2.Caller(operator_id=BEN), True),
            (caller_pb2.Caller(player_id=BEN), False),
            (caller_pb2.Caller(), False),
        ],
        ids=["the person", "an operator", "another", "nobody"],
    )
    async def test_says_which_matches_were_played_to_the_person_and_operators_alone(
        self, served: Served, rig: Rig, caller: caller_pb2.Caller, *, may_know: bool
    ) -> None:
        """They may be private, and whoever had a reward of the same one was in it."""
        match = played(CLASSIC_1, 2, [ANN], lambda m: m.experience(0) == 200)
        await rig.read(match.table)
        metadata = on_behalf(caller.SerializeToString())

        profile = await served.stub.GetProfile(
            pb.GetProfileRequest(player_id=ANN), metadata=metadata
        )
        stream: Any = served.stub.WatchProfile(
            pb.WatchProfileRequest(player_id=ANN), metadata=metadata, timeout=10
        )
        followed = (await stream.read()).profile
        stream.cancel()
        listed = await served.stub.ListCards(pb.ListCardsRequest(player_id=ANN), metadata=metadata)

        told = [reward.match_id for reward in profile.recent_rewards]
        [card] = listed.cards
        assert (profile.experience, profile.card_count, followed) == (200, 1, profile)
        assert told == ([match.match_id] if may_know else [])
        assert card.card.square
        assert card.match_id == (match.match_id if may_know else "")
        assert bool(card.dropped_ms) == may_know

    async def test_at_the_last_level_has_no_next_one(
        self, served: Served, rig: Rig, connections: Connections
    ) -> None:
        await rig.read(played(CLASSIC_1, 2, [ANN]).table)
        most = experience_needed(60) + 1
        await connections.fetch("UPDATE progression.profile SET experience = $1", most)

        profile = await served.profile(ANN)

        assert (profile.level, profile.rank) == (60, "Tycoon")
        assert not profile.HasField("next_level_experience")


@pytest.fixture(params=["GetProfile", "ListCards"])
def ask(request: pytest.FixtureRequest, served: Served) -> Callable[..., Any]:
    """Return what asks for a profile or for cards, as both take the same about the player."""
    call = getattr(served.stub, request.param)
    kind = getattr(pb, f"{request.param}Request")
    return lambda metadata=(), **fields: call(kind(**fields), metadata=metadata)


class TestBoth:
    @pytest.mark.parametrize(
        "caller",
        [None, caller_pb2.Caller(), caller_pb2.Caller(bot_seat=1), caller_pb2.Caller(service="x")],
        ids=["none", "nobody", "a bot", "a service"],
    )
    async def test_need_a_player_where_the_caller_is_none(
        self, ask: Callable[..., Any], caller: caller_pb2.Caller | None
    ) -> None:
        metadata = on_behalf(caller.SerializeToString()) if caller is not None else ()

        code, reason, _ = await refusal(ask(metadata))

        assert (code, reason) == ("NOT_FOUND", Reason.PLAYER_NOT_FOUND)

    async def test_wait_for_a_sequence_by_being_refused_before_it(
        self, ask: Callable[..., Any], rig: Rig
    ) -> None:
        await rig.read(played(CLASSIC_1, 2, [ANN], lambda m: m.experience(0) == 200).table)

        code, reason, facts = await refusal(ask(player_id=ANN, min_sequence=4))

        assert (code, reason) == ("ABORTED", Reason.STALE_SEQUENCE)
        assert facts == {"asked": "4", "head": "3"}
        await ask(player_id=ANN, min_sequence=3)

    @pytest.mark.parametrize(
        ("fields", "wrong"),
        [
            ({"player_id": "ann"}, "player_id"),
            ({"player_id": ANN.upper()}, "player_id"),
            ({"player_id": ANN, "min_sequence": -1}, "min_sequence"),
            ({"player_id": "x", "min_sequence": -1}, "player_id,min_sequence"),
        ],
    )
    async def test_name_the_fields_that_are_wrong(
        self, ask: Callable[..., Any], fields: dict[str, object], wrong: str
    ) -> None:
        code, reason, facts = await refusal(ask(**fields))

        assert (code, reason) == ("INVALID_ARGUMENT", Reason.INVALID_REQUEST)
        assert facts["fields"] == wrong

    async def test_are_not_for_who_claims_to_call_for_what_can_not_be_read(
        self, ask: Callable[..., Any]
    ) -> None:
        code, reason, _ = await refusal(ask(on_behalf(b"\xff")))

        assert (code, reason) == ("PERMISSION_DENIED", Reason.NOT_ALLOWED)


@pytest.mark.parametrize("caller", ["gateway", "lobby"])
async def test_gateway_and_lobby_may_ask_for_others(
    emptied: str, tmp_path: Path, caller: str
) -> None:
    async with serving(emptied, tmp_path, caller=caller) as served:
        response = await served.stub.ListCards(pb.ListCardsRequest(), metadata=person(ANN))

    assert response == pb.ListCardsResponse()


@pytest.mark.parametrize("caller", ["timer", "bot_runner", "match_engine"])
async def test_no_other_service_may_ask(emptied: str, tmp_path: Path, caller: str) -> None:
    async with serving(emptied, tmp_path, caller=caller) as served:
        code, reason, _ = await refusal(served.stub.GetProfile(pb.GetProfileRequest(player_id=ANN)))

    assert (code, reason) == ("PERMISSION_DENIED", Reason.NOT_ALLOWED)


async def test_no_person_gets_in_directly(served: Served) -> None:
    token = served.foundation.issuer.issue("ann")
    async with grpc.aio.insecure_channel(served.address) as channel:
        stub = type(served.stub)(channel)
        code, reason, _ = await refusal(
            stub.GetProfile(
                pb.GetProfileRequest(player_id=ANN),
                metadata=(("authorization", f"Bearer {token}"),),
            )
        )

    assert (code, reason) == ("PERMISSION_DENIED", Reason.NOT_ALLOWED)


async def own(connections: Connections, player_id: str, *cards: tuple[int, int]) -> None:
    """Let somebody have cards, each a square and a rarity, dropped in this order."""
    key = f"{player_id}:0"
    await connections.fetch(
        "INSERT INTO progression.reward VALUES ($1, $2, 1, $3, 0, 0, 7)", key, player_id, MATCH_ID
    )
    await connections.fetch("INSERT INTO progression.profile VALUES ($1, 9)", player_id)
    for sequence, (square, rarity) in enumerate(cards, start=2):
        await connections.fetch(
            "INSERT INTO progression.card VALUES ($1, $2, $3, $4, $5, $6, $7)",
            player_id,
            square,
            rarity,
            sequence,
            key,
            MATCH_ID,
            sequence * 10,
        )


class TestCards:
    async def test_are_listed_by_square_and_the_best_first(
        self, served: Served, connections: Connections
    ) -> None:
        await own(connections, ANN, (39, COMMON), (1, COMMON), (1, LEGENDARY), (1, COMMON))
        await own(connections, BEN, (5, RARE))

        response = await served.stub.ListCards(pb.ListCardsRequest(player_id=ANN))

        listed = [(each.card.square, each.card.rarity, each.dropped_ms) for each in response.cards]
        assert listed == [
            (1, LEGENDARY, 40),
            (1, COMMON, 30),
            (1, COMMON, 50),
            (39, COMMON, 20),
        ]
        assert {each.match_id for each in response.cards} == {MATCH_ID}
        assert response.next_page_token == ""

    async def test_come_in_pages_without_a_gap_or_a_double(
        self, served: Served, connections: Connections
    ) -> None:
        cards = [(square, rarity) for square in (1, 3, 5) for rarity in (1, 1, 2, 5)]
        await own(connections, ANN, *cards)
        whole = await served.stub.ListCards(pb.ListCardsRequest(player_id=ANN))
        for size in (1, 3, 4, 5, 11, 12):
            pages, token = [], ""
            while True:
                page = await served.stub.ListCards(
                    pb.ListCardsRequest(player_id=ANN, page_size=size, page_token=token)
                )
                pages.append(list(page.cards))
                token = page.next_page_token
                if not token:
                    break

            assert [card for page in pages for card in page] == list(whole.cards)
            assert len(pages) == -(-len(cards) // size)

    async def test_are_fifty_to_a_page_and_never_over_two_hundred(
        self, served: Served, connections: Connections
    ) -> None:
        await own(connections, ANN, *[(1, COMMON)] * 250)

        sizes = [
            len((await served.stub.ListCards(request)).cards)
            for request in (
                pb.ListCardsRequest(player_id=ANN),
                pb.ListCardsRequest(player_id=ANN, page_size=200),
                pb.ListCardsRequest(player_id=ANN, page_size=1_000_000),
            )
        ]

        assert sizes == [50, 200, 200]

    async def test_of_nobody_are_none(self, served: Served) -> None:
        response = await served.stub.ListCards(pb.ListCardsRequest(player_id=NOBODY))

        assert response == pb.ListCardsResponse()

    @pytest.mark.parametrize("token", ["x", "AAAA", "_wAAAAAAAAAAAA", "\N{SNOWMAN}", "A" * 2_000])
    async def test_are_not_listed_by_a_token_that_was_never_given(
        self, served: Served, token: str
    ) -> None:
        call = served.stub.ListCards(pb.ListCardsRequest(player_id=ANN, page_token=token))

        code, reason, facts = await refusal(call)

        assert (code, reason) == ("INVALID_ARGUMENT", Reason.INVALID_REQUEST)
        assert facts["fields"] == "page_token"

    @pytest.mark.parametrize("position", ["1/1", "1/x/1", f"1/1/{10**18}", "-1/0/0"])
    async def test_are_not_listed_by_a_token_that_somebody_made_up(
        self, served: Served, position: str
    ) -> None:
        request = pb.ListCardsRequest(player_id=ANN)
        request.page_token = next_page_token(request, position)

        code, reason, _ = await refusal(served.stub.ListCards(request))

        assert (code, reason) == ("INVALID_ARGUMENT", Reason.INVALID_REQUEST)

    async def test_are_not_listed_in_pages_of_less_than_none(self, served: Served) -> None:
        call = served.stub.ListCards(pb.ListCardsRequest(player_id=ANN, page_size=-1))

        _, _, facts = await refusal(call)

        assert facts["fields"] == "page_size"
