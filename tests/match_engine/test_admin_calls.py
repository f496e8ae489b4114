"""What operators ask for is written down before it is done."""

from grpc import StatusCode

from libs.kernel.reasons import Reason
from libs.store.memory import Fault
from opolyx.admin.v1 import admin_service_pb2 as pb
from tests.match_engine.admin_rig import ABOUT_ONE, BOSS, a_request, ask, calls, state
from tests.match_engine.edge_rig import Edge, EdgeStore, a_player, as_operator, refusal
from tests.support.waiting import until


class TestTheJournal:
    async def test_nothing_is_done_that_cannot_be_written_down(
        self, edge: Edge, store: EdgeStore
    ) -> None:
        match_id = await edge.a_match(3)
        before = await edge.head_of(match_id)
        for method in ABOUT_ONE:
            store.fault = Fault.UNAVAILABLE
            told = await refusal(ask(edge, a_request(method, match_id)))
            store.fault = None

            assert told[:2] == (StatusCode.UNAVAILABLE, Reason.STORE_UNAVAILABLE)
        assert await edge.head_of(match_id) == before
        assert await calls(edge) == []

    async def test_it_is_written_down_before_it_is_done(self, edge: Edge, store: EdgeStore) -> None:
        match_id = await edge.a_match(3)
        store.hold("append")
        call = ask(edge, a_request("FreezeMatch", match_id))
        await until(store.called("append", store.count("append") + 1))

        assert await calls(edge) == [("FreezeMatch", match_id, "")]
        call.cancel()
        store.let_go("append")
        await until(store.called("settle_call", 1))
        assert await calls(edge) == [("FreezeMatch", match_id, "OK")]
        assert (await state(edge, match_id)).frozen_at >= 0

    async def test_an_outcome_that_cannot_be_written_stays_open(
        self, edge: Edge, store: EdgeStore
    ) -> None:
        match_id = await edge.a_match(3)
        store.hold("settle_call")
        call = ask(edge, a_request("FreezeMatch", match_id))
        await until(store.called("settle_call", 1))
        store.fault = Fault.UNAVAILABLE
        store.let_go("settle_call")

        assert (await call).done.sequence > 0
        store.fault = None
        assert await calls(edge) == [("FreezeMatch", match_id, "")]

    async def test_who_does_not_own_the_match_writes_nothing(self, edge: Edge) -> None:
        match_id = await edge.a_match(3)
        edge.is_ours = False

        told = await refusal(ask(edge, a_request("FreezeMatch", match_id)))

        assert told[1] == Reason.NOT_OWNER_OF_SHARD
        assert await calls(edge) == []

    async def test_who_only_looks_is_written_down_too(self, edge: Edge) -> None:
        match_id = await edge.a_match(1)
        await ask(edge, pb.FindMatchesRequest(match_id=match_id))
        await ask(edge, pb.ListQuarantinedMatchesRequest())
        await ask(edge, pb.ListAdminCallsRequest(match_id=match_id))

        listed = await ask(edge, pb.ListAdminCallsRequest(operator_id=BOSS))
        assert [(call.method, call.match_id, call.outcome) for call in listed.calls] == [
            ("ListAdminCalls", match_id, "OK"),
            ("ListQuarantinedMatches", "", "OK"),
            ("FindMatches", match_id, "OK"),
        ]

    async def test_nobody_sees_what_cannot_be_written_down(
        self, edge: Edge, store: EdgeStore
    ) -> None:
        match_id = await edge.a_match(1)
        store.hold("note_call")
        call = ask(edge, pb.FindMatchesRequest(match_id=match_id))
        await until(store.called("note_call", 1))
        store.fault = Fault.UNAVAILABLE
        store.let_go("note_call")

        assert (await refusal(call))[1] == Reason.STORE_UNAVAILABLE
        store.fault = None

    async def test_calls_are_listed_by_match_and_by_operator_in_pages(self, edge: Edge) -> None:
        one, two = await edge.a_match(1), await edge.a_match(1)
        other = a_player()
        await ask(edge, a_request("FreezeMatch", one))
        await ask(edge, a_request("FreezeMatch", two))
        await ask(edge, a_request("ResumeMatch", one), as_operator(other))
        request, found = pb.ListAdminCallsRequest(page_size=1), []
        while True:
            page = await ask(edge, request)
            found += page.calls
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token

        # What was asked for meanwhile is in none of the pages that follow.
        assert [(call.operator_id, call.match_id) for call in found] == [
            (other, one),
            (BOSS, two),
            (BOSS, one),
        ]
        assert [call.number for call in found] == [3, 2, 1]
        assert all((call.reason, call.at_ms > 0) == ("a complaint", True) for call in found)
        assert len(await calls(edge, match_id=one)) == 2
        assert len(await calls(edge, operator_id=other)) == 1
        assert len(await calls(edge, operator_id=other, match_id=two)) == 0
