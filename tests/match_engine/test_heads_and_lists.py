from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.board import SQUARES
from libs.rules.rule_sets import BOARDS, RULE_SETS
from libs.store.memory import Fault
from libs.wire.heads import SigningKey, head_message
from opolyx.match.v1 import match_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.live import RECENT_MAX
from tests.match_engine.edge_rig import (
    NOW_MS,
    Edge,
    EdgeStore,
    a_bot,
    a_person,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
)

NO_TOKEN = "x"  # noqa: S105 - of a page

Running = match_pb2.MatchSummary.STATUS_RUNNING
Ended = match_pb2.MatchSummary.STATUS_ENDED
Frozen = match_pb2.MatchSummary.STATUS_FROZEN
Quarantined = match_pb2.MatchSummary.STATUS_QUARANTINED


def is_signed(edge: Edge, head: match_pb2.SignedHead) -> bool:
    """Tell whether a head has a signature that is good."""
    (key,) = [key.public_key for key in edge.keys.public() if key.key_id == head.key_id]
    message = head_message(MatchId(head.match_id), head.sequence, head.chain_hash, ended=head.ended)
    Ed25519PublicKey.from_public_bytes(key).verify(head.signature, message)
    return True


class TestGetHead:
    async def test_it_is_signed_wherever_a_record_ends(self, edge: Edge) -> None:
        match_id = await edge.a_match(RECENT_MAX + 5)
        records = await edge.store.records(match_id, 0)
        stub = edge.matches_as()
        last = await stub.GetHead(pb.GetHeadRequest(match_id=match_id))

        heads = [
            await stub.GetHead(pb.GetHeadRequest(match_id=match_id, sequence=stored.last_seq))
            for stored in records
        ]

        assert [(head.sequence, head.chain_hash) for head in heads] == [
            (stored.last_seq, stored.hash) for stored in records
        ]
        assert all(is_signed(edge, head) and not head.ended for head in heads)
        assert heads[-1] == last

    async def test_inside_a_record_it_is_invalid(self, edge: Edge) -> None:
        match_id = await edge.a_match(5)
        inside = next(
            record.first_seq
            for record in await edge.store.records(match_id, 0)
            if record.last_seq > record.first_seq
        )
        request = pb.GetHeadRequest(match_id=match_id, sequence=inside)

        _, reason, facts = await refusal(edge.matches_as().GetHead(request))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "sequence"})

    async def test_of_a_match_that_is_over_it_is_the_stored_one(self, edge: Edge) -> None:
        match_id = await edge.a_match(5)
        before = await edge.head_of(match_id)
        await edge.play_to_the_end(match_id)
        stub, head = edge.matches_as(), await edge.store.head(match_id)
        old, edge.keys._signing = edge.keys._signing, SigningKey(bytes(32), "a-newer-key")

        last = await stub.GetHead(pb.GetHeadRequest(match_id=match_id))
        earlier = await stub.GetHead(pb.GetHeadRequest(match_id=match_id, sequence=before))

        assert head is not None
        assert head.signed is not None
        assert (last.signature, last.key_id) == (head.signed.signature, head.signed.key_id)
        assert (last.ended, last.key_id) == (True, old.key_id)
        assert is_signed(edge, last)
        assert (earlier.ended, earlier.key_id) == (False, "a-newer-key")


class TestListMatches:
    async def ids(self, edge: Edge, metadata: Any = (), **asked: Any) -> list[str]:
        """Return the ids of all pages."""
        request, found = pb.ListMatchesRequest(**asked), []
        while True:
            page = await edge.matches_as().ListMatches(request, metadata=metadata)
            found += [summary.match_id for summary in page.matches]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def test_the_newest_come_first_with_what_they_are(self, edge: Edge) -> None:
        player = a_player()
        older = await edge.create([a_person(player), a_bot()])
        edge.clock.advance(1000)
        newer = await edge.create([a_bot(), a_bot(), a_bot()], "opolyx.speed@2")
        await edge.play(newer, 2)

        page = await edge.matches_as().ListMatches(pb.ListMatchesRequest())

        first, second = page.matches
        assert (first.match_id, second.match_id) == (newer, older)
        assert (first.rule_set, second.rule_set) == ("opolyx.speed@2", "opolyx.classic@2")
        assert (first.created_ms, second.created_ms) == (NOW_MS + 1000, NOW_MS)
        assert first.sequence == await edge.head_of(newer)
        assert [len(first.seats), len(second.seats)] == [3, 2]
        assert second.seats[0].player == player

    async def test_collection_cards_are_left_out(self, edge: Edge) -> None:
        await edge.create([e.SeatSpec(e.PERSON, a_player(), "", ((1, "rare"),)), a_bot()])

        page = await edge.matches_as().ListMatches(pb.ListMatchesRequest())

        assert not page.matches[0].seats[0].cards

    async def test_they_are_listed_by_how_far_they_are(self, edge: Edge) -> None:
        running, frozen, ended, broken = [await edge.a_match(1) for _ in range(4)]
        await edge.submit(frozen, c.Freeze("a test", f"operator:{a_player()}"))
        await edge.play_to_the_end(ended)
        await edge.store.quarantine(broken, "a test")

        by_status = {
            status: await self.ids(edge, status=status)
            for status in (Running, Frozen, Ended, Quarantined)
        }

        assert by_status == {
            Running: [running],
            Frozen: [frozen],
            Ended: [ended],
            Quarantined: [broken],
        }
        assert len(await self.ids(edge)) == 4

    @pytest.mark.parametrize("size", [1, 2, 3, 200])
    async def test_pages_come_without_a_gap(self, edge: Edge, size: int) -> None:
        made = [await edge.create([a_bot(), a_bot()]) for _ in range(5)]

        assert await self.ids(edge, page_size=size) == sorted(made, reverse=True)

    async def test_one_lists_ones_own(self, edge: Edge) -> None:
        player = a_player()
        mine = []
        for n in range(9):
            edge.clock.advance(1)
            if n % 4 == 0:
                mine.append(await edge.create([a_bot(), a_person(player)]))
            else:
                await edge.create([a_person(), a_bot()])
        first = await edge.matches_as().ListMatches(
            pb.ListMatchesRequest(mine=True, page_size=1), metadata=as_person(player)
        )

        assert await self.ids(edge, as_person(player), mine=True) == mine[::-1]
        assert await self.ids(edge, as_operator(player), mine=True) == mine[::-1]
        assert [summary.match_id for summary in first.matches] == mine[-1:]
        assert first.next_page_token
        for nobody in (as_person(a_player()), as_person(""), as_bot(0), as_nobody()):
            assert await self.ids(edge, nobody, mine=True) == []

    async def test_it_is_told_by_field_what_makes_no_sense(self, edge: Edge) -> None:
        request = pb.ListMatchesRequest(page_size=-1, page_token=NO_TOKEN)
        request.MergeFrom(pb.ListMatchesRequest.FromString(b"\x08\x63"))  # a status of 99

        _, reason, facts = await refusal(edge.matches_as().ListMatches(request))

        assert reason == Reason.INVALID_REQUEST
        assert facts == {"fields": "page_size,status,page_token"}

    async def test_a_store_that_is_away_is_told(self, edge: Edge, store: EdgeStore) -> None:
        store.fault = Fault.UNAVAILABLE
        call = edge.matches_as().ListMatches(pb.ListMatchesRequest())

        assert (await refusal(call))[1] == Reason.STORE_UNAVAILABLE


class TestTheSameForAll:
    async def test_rule_sets_are_listed_in_pages_and_found(self, edge: Edge) -> None:
        request, found = pb.ListRuleSetsRequest(page_size=2), []
        while True:
            page = await edge.matches_as().ListRuleSets(request)
            found += page.rule_sets
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        asked = [pb.GetRuleSetRequest(rule_set_id=name) for name in RULE_SETS]

        assert [rules.rule_set_id for rules in found] == list(RULE_SETS)
        assert [await edge.matches_as().GetRuleSet(each) for each in asked] == found

    async def test_a_board_is_found(self, edge: Edge) -> None:
        (board_id,) = BOARDS
        board = await edge.matches_as().GetBoard(pb.GetBoardRequest(board_id=board_id))

        assert board.board_id == board_id
        assert len(board.squares) == SQUARES

    async def test_what_is_not_known_is_invalid(self, edge: Edge) -> None:
        stub = edge.matches_as()
        rules = await refusal(stub.GetRuleSet(pb.GetRuleSetRequest(rule_set_id="x")))
        board = await refusal(stub.GetBoard(pb.GetBoardRequest()))

        assert rules[1:] == (Reason.INVALID_REQUEST, {"fields": "rule_set_id"})
        assert board[1:] == (Reason.INVALID_REQUEST, {"fields": "board_id"})

    async def test_keys_are_listed(self, edge: Edge) -> None:
        got = await edge.matches_as().ListKeys(pb.ListKeysRequest())

        assert [(key.key_id, key.public_key) for key in got.keys] == list(edge.keys.public())
        assert got.keys
        assert not got.next_page_token

    @pytest.mark.parametrize("name", ["ListRuleSets", "ListKeys"])
    async def test_what_is_no_page_is_invalid(self, edge: Edge, name: str) -> None:
        kind = getattr(pb, f"{name}Request")
        call = getattr(edge.matches_as(), name)

        _, reason, facts = await refusal(call(kind(page_size=-1, page_token=NO_TOKEN)))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "page_size,page_token"})
