from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.wire.record import StoredRecord
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import record_pb2
from services.match_engine import reading
from services.match_engine.live import RECENT_MAX
from tests.match_engine.edge_rig import (
    UNKNOWN,
    Edge,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
)
from tests.support.damage import leave_only

NO_TOKEN = "x"  # noqa: S105 - of a page


class TestReadEvents:
    @pytest.mark.parametrize("size", [1, 7, 0])
    async def test_pages_come_without_a_gap(self, edge: Edge, size: int) -> None:
        match_id = await edge.a_match(2 * RECENT_MAX)
        request = pb.ReadEventsRequest(match_id=match_id, page_size=size)
        found, pages, head = [], 0, await edge.head_of(match_id)
        while True:
            page = await edge.matches_as().ReadEvents(request)
            found += page.records
            pages += 1
            assert page.head_sequence == head
            if not page.next_page_token:
                break
            assert len(page.records) == size or size == 0
            request.page_token = page.next_page_token

        stored = await edge.store.records(match_id, 0)
        assert [StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in found] == stored
        assert pages == (-(-len(stored) // (size or 50)))

    async def test_a_page_has_200_at_most(self, edge: Edge) -> None:
        match_id = await edge.a_match(210)
        request = pb.ReadEventsRequest(match_id=match_id, page_size=5_000)

        assert len((await edge.matches_as().ReadEvents(request)).records) == 200

    async def test_only_what_begins_in_between_is_read(self, edge: Edge) -> None:
        match_id = await edge.a_match(2 * RECENT_MAX)
        records = await edge.store.records(match_id, 0)
        # From inside the fourth record to inside the hundredth.
        longest = next(r for r in records[90:] if r.last_seq > r.first_seq)
        request = pb.ReadEventsRequest(
            match_id=match_id,
            after_sequence=records[3].last_seq - 1,
            last_sequence=longest.first_seq,
            page_size=60,
        )
        first = await edge.matches_as().ReadEvents(request)
        request.page_token = first.next_page_token
        second = await edge.matches_as().ReadEvents(request)

        got = [record.first_seq for record in (*first.records, *second.records)]
        last = records.index(longest)
        assert got == [record.first_seq for record in records[3 : last + 1]]
        assert not second.next_page_token

    async def test_behind_the_head_there_is_nothing_and_beyond_it_it_is_stale(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await edge.a_match(2)
        head, stub = await edge.head_of(match_id), edge.matches_as()

        none = await stub.ReadEvents(pb.ReadEventsRequest(match_id=match_id, after_sequence=head))
        beyond = await refusal(
            stub.ReadEvents(pb.ReadEventsRequest(match_id=match_id, after_sequence=head + 1))
        )

        assert (list(none.records), none.next_page_token) == ([], "")
        assert none.head_sequence == head
        assert beyond[1] == Reason.STALE_SEQUENCE

    async def test_records_are_decoded_for_people(self, edge: Edge) -> None:
        match_id = await edge.a_match(3)
        plain = await edge.matches_as().ReadEvents(pb.ReadEventsRequest(match_id=match_id))
        request = pb.ReadEventsRequest(match_id=match_id, decode=True)

        got = await edge.matches_as().ReadEvents(request)

        assert not plain.decoded
        assert list(got.records) == list(plain.records)
        assert list(got.decoded) == [record_pb2.Record.FromString(r.data) for r in got.records]

    @pytest.mark.parametrize("is_decoded", [False, True])
    async def test_a_page_ends_before_it_is_too_large(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, *, is_decoded: bool
    ) -> None:
        match_id = await edge.a_match(30)
        monkeypatch.setattr(reading, "PAGE_BYTES_MAX", 2_000)
        request = pb.ReadEventsRequest(match_id=match_id, decode=is_decoded)
        found, sizes = [], []
        while True:
            page = await edge.matches_as().ReadEvents(request)
            found += page.records
            page_token, page.next_page_token = page.next_page_token, ""
            sizes.append((len(page.records), page.ByteSize()))
            if not page_token:
                break
            request.page_token = page_token

        stored = await edge.store.records(match_id, 0)
        assert [record.first_seq for record in found] == [record.first_seq for record in stored]
        assert all(size <= 2_100 or count == 1 for count, size in sizes)
        assert len(sizes) > 2

    async def test_one_record_comes_however_large_it_is(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        match_id = await edge.a_match(3)
        monkeypatch.setattr(reading, "PAGE_BYTES_MAX", 1)
        request = pb.ReadEventsRequest(match_id=match_id)

        page = await edge.matches_as().ReadEvents(request)

        assert len(page.records) == 1
        assert page.next_page_token

    def test_a_page_with_all_about_it_is_below_one_mebibyte(self) -> None:
        assert reading.PAGE_BYTES_MAX < 1024 * 1024

    @pytest.mark.parametrize(
        ("changes", "fields"),
        [
            ({"after_sequence": -1}, "after_sequence"),
            ({"last_sequence": -1}, "last_sequence"),
            ({"page_size": -1}, "page_size"),
            ({"page_token": "x"}, "page_token"),
        ],
    )
    async def test_what_makes_no_sense_is_told_by_field(
        self, edge: Edge, changes: dict[str, Any], fields: str
    ) -> None:
        request = pb.ReadEventsRequest(match_id=UNKNOWN, **changes)

        _, reason, facts = await refusal(edge.matches_as().ReadEvents(request))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": fields})

    async def test_a_token_is_good_for_its_own_request(self, edge: Edge) -> None:
        match_id, other = await edge.a_match(5), await edge.a_match(5)
        stub = edge.matches_as()
        page = await stub.ReadEvents(pb.ReadEventsRequest(match_id=match_id, page_size=1))
        stolen = pb.ReadEventsRequest(match_id=other, page_token=page.next_page_token)

        assert (await refusal(stub.ReadEvents(stolen)))[1] == Reason.INVALID_REQUEST


class TestReadEventsOfAMatchInQuarantine:
    """Its records are needed most when it cannot be played."""

    async def test_operators_read_what_is_stored_and_nobody_else(self, edge: Edge) -> None:
        match_id = await edge.a_match(20)
        stored = await edge.store.records(match_id, 0)
        wanted = [stored[0]._replace(data=b"\xff no record"), *stored[1:9], *stored[10:]]
        await quarantine(edge, match_id, wanted)
        stub, request = edge.matches_as(), pb.ReadEventsRequest(match_id=match_id, page_size=4)
        request.decode = True
        for caller in (as_nobody(), as_person(a_player()), as_bot(0)):
            code, reason, _ = await refusal(stub.ReadEvents(request, metadata=caller))
            assert (code, reason) == (StatusCode.FAILED_PRECONDITION, Reason.MATCH_QUARANTINED)

        operator, found = as_operator(a_player()), []
        while True:
            page = await stub.ReadEvents(request, metadata=operator)
            found += page.records
            assert page.head_sequence == stored[-1].last_seq
            assert not page.decoded
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token

        assert [StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in found] == wanted

    async def test_a_record_that_is_missing_at_the_end_ends_the_pages(self, edge: Edge) -> None:
        match_id = await edge.a_match(20)
        stored = await edge.store.records(match_id, 0)
        await quarantine(edge, match_id, stored[:8])
        stub, operator = edge.matches_as(), as_operator(a_player())
        request = pb.ReadEventsRequest(match_id=match_id, page_size=8)

        first = await stub.ReadEvents(request, metadata=operator)
        request.page_token = first.next_page_token
        second = await stub.ReadEvents(request, metadata=operator)

        assert len(first.records) == 8
        assert (list(second.records), second.next_page_token) == ([], "")

    async def test_operators_are_told_nothing_else_of_it(self, edge: Edge) -> None:
        match_id = await edge.a_match(3)
        await quarantine(edge, match_id, await edge.store.records(match_id, 0))
        stub, operator = edge.matches_as(), as_operator(a_player())

        for call in (
            stub.GetMatch(pb.GetMatchRequest(match_id=match_id), metadata=operator),
            stub.GetHead(pb.GetHeadRequest(match_id=match_id), metadata=operator),
        ):
            assert (await refusal(call))[1] == Reason.MATCH_QUARANTINED


async def quarantine(edge: Edge, match_id: MatchId, records: list[StoredRecord]) -> None:
    """Have a match be found in quarantine, with these records in the store."""
    leave_only(edge.store._streams[match_id], records)
    await edge.store.quarantine(match_id, "a test")
    edge.matches.drop(match_id, Reason.MATCH_QUARANTINED)
