"""`AdminService` at the engine: who may call it, what it does, and what it writes down first."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from grpc import StatusCode

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import open_deadlines
from libs.store.ports import Status
from libs.wire.chain import follow
from libs.wire.request_hash import operator_actor
from opolyx.admin.v1 import admin_service_pb2 as pb
from tests.match_engine.admin_rig import (
    ABOUT_ONE,
    ACTING,
    BOSS,
    METHODS,
    a_request,
    ask,
    calls,
    state,
)
from tests.match_engine.edge_rig import (
    UNKNOWN,
    Edge,
    a_bot,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
)


class TestWhoMayCall:
    @pytest.mark.parametrize("method", METHODS)
    async def test_operators_alone_whoever_lets_others_through(
        self, edge: Edge, method: str
    ) -> None:
        match_id = await edge.a_match(3)
        others = [as_person(BOSS), as_bot(0), as_nobody(), (), as_operator(""), as_operator("x")]
        before = await edge.head_of(match_id)

        for metadata in others:
            code, reason, _ = await refusal(ask(edge, a_request(method, match_id), metadata))
            assert (code, reason) == (StatusCode.PERMISSION_DENIED, Reason.NOT_ALLOWED)

        assert await edge.head_of(match_id) == before
        assert await calls(edge) == []

    @pytest.mark.parametrize("service", ["lobby", "timer", "progression", "bot_runner"])
    async def test_by_the_gateway_alone(self, edge: Edge, service: str) -> None:
        for method in METHODS:
            call = getattr(edge.admin_as(service), method)(a_request(method))

            assert (await refusal(call))[1] == Reason.NOT_ALLOWED


class TestWhatMakesNoSense:
    @pytest.mark.parametrize(
        ("request_of", "fields"),
        [
            *(
                (lambda m=m: getattr(pb, f"{m}Request")(), "command_id,match_id,reason")
                for m in ACTING
            ),
            (pb.ReleaseMatchRequest, "match_id,reason"),
            (lambda: a_request("FreezeMatch", reason="x" * 201), "reason"),
            (lambda: a_request("AbortMatch", reason="a\0b"), "reason"),
            (lambda: a_request("FreezeMatch", command_id=DERIVED), "command_id"),
            (lambda: pb.FindMatchesRequest(match_id="x", player_id="y"), "match_id,player_id"),
            (lambda: pb.FindMatchesRequest(rule_set="\0", page_size=-1), "page_size,rule_set"),
            (lambda: pb.FindMatchesRequest(rule_set="x" * 65), "rule_set"),
            (lambda: pb.FindMatchesRequest.FromString(b"\x20\x63"), "status"),
            (lambda: pb.ListQuarantinedMatchesRequest(page_token=NO_TOKEN), "page_token"),
            (
                lambda: pb.ListAdminCallsRequest(match_id="x", operator_id="y"),
                "match_id,operator_id",
            ),
        ],
    )
    async def test_it_is_told_by_field_and_not_written_down(
        self, edge: Edge, request_of: Callable[[], Any], fields: str
    ) -> None:
        _, reason, facts = await refusal(ask(edge, request_of()))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": fields})
        assert await calls(edge) == []


NO_TOKEN: Final = "x"  # noqa: S105 - of a page
DERIVED: Final = "74738ff5-5367-5958-9aee-98fffdcd1876"


class TestFreezing:
    async def test_a_frozen_match_stands_and_goes_on_with_every_clock_as_it_was(
        self, edge: Edge
    ) -> None:
        match_id = await an_auction(edge)
        before = {d.deadline_id: d.due for d in open_deadlines(await state(edge, match_id))}
        edge.clock.advance(1_234)
        left = {name: due - edge.clock.now_ms() for name, due in before.items()}

        frozen = await ask(edge, a_request("FreezeMatch", match_id))
        edge.clock.advance(3_600_001)
        in_between = await state(edge, match_id)
        resumed = await ask(edge, a_request("ResumeMatch", match_id))

        after = await state(edge, match_id)
        assert before
        assert in_between.frozen_at == frozen.done.at_ms
        assert after.phase == phases.AUCTION
        assert {d.deadline_id: d.due - resumed.done.at_ms for d in open_deadlines(after)} == left
        assert resumed.done.sequence == await edge.head_of(match_id)
        await edge.submit(match_id, edge.first_choice(after))

    async def test_the_record_says_who_and_why(self, edge: Edge) -> None:
        match_id = await edge.a_match(3)

        done = (await ask(edge, a_request("FreezeMatch", match_id, reason="a quarrel"))).done

        record = list(follow(await edge.store.records(match_id, 0)))[-1]
        (event,) = record.events
        assert record.actor == operator_actor(BOSS)
        assert isinstance(event, e.MatchFrozen)
        assert (event.reason, event.actor) == ("a quarrel", operator_actor(BOSS))
        assert (done.sequence, done.chain_hash) == (record.first_seq, await hash_of(edge, match_id))

    async def test_the_same_again_is_done_once_and_has_one_reply(self, edge: Edge) -> None:
        match_id = await edge.a_match(3)
        request = a_request("FreezeMatch", match_id)

        first = await ask(edge, request)
        await ask(edge, a_request("ResumeMatch", match_id))
        again = await ask(edge, request)

        assert again == first
        assert (await state(edge, match_id)).frozen_at < 0
        another = a_request("FreezeMatch", match_id, command_id=request.command_id, reason="?")
        assert (await refusal(ask(edge, another)))[1] == Reason.COMMAND_ID_REUSED
        of_others = ask(edge, request, as_operator(a_player()))
        assert (await refusal(of_others))[1] == Reason.COMMAND_ID_REUSED

    async def test_what_cannot_be_done_is_refused_and_written_down(self, edge: Edge) -> None:
        running, frozen, ended, broken = [await edge.a_match(2) for _ in range(4)]
        await ask(edge, a_request("FreezeMatch", frozen))
        await ask(edge, a_request("AbortMatch", ended))
        edge.matches.drop(broken, Reason.NOT_OWNER_OF_SHARD)
        await edge.store.quarantine(broken, "a test")
        cases = [
            ("ResumeMatch", running, Reason.MATCH_NOT_FROZEN),
            ("ReleaseMatch", running, Reason.MATCH_NOT_QUARANTINED),
            ("FreezeMatch", frozen, Reason.MATCH_FROZEN),
            *((method, ended, Reason.MATCH_ENDED) for method in ACTING),
            *((method, broken, Reason.MATCH_QUARANTINED) for method in ACTING),
            *((method, UNKNOWN, Reason.MATCH_NOT_FOUND) for method in ABOUT_ONE),
        ]

        for method, match_id, expected in cases:
            _, reason, _ = await refusal(ask(edge, a_request(method, match_id)))

            assert reason == expected
            assert (await calls(edge))[0] == (method, match_id, expected)


class TestAborting:
    async def test_a_match_ends_without_a_winner_and_reveals_its_seed(self, edge: Edge) -> None:
        match_id = await edge.a_match(5)
        await ask(edge, a_request("FreezeMatch", match_id))

        done = (await ask(edge, a_request("AbortMatch", match_id))).done

        head = await edge.store.head(match_id)
        aborted, revealed = list(follow(await edge.store.records(match_id, 0)))[-1].events
        assert isinstance(aborted, e.MatchAborted)
        assert isinstance(revealed, e.SeedRevealed)
        assert head is not None
        assert (head.status, head.seq) == (Status.ABORTED, done.sequence)
        assert head.signed is not None
        assert (await state(edge, match_id)).winners == ()


async def hash_of(edge: Edge, match_id: MatchId) -> bytes:
    return (await edge.decider.read(match_id)).chain.last_hash


async def an_auction(edge: Edge) -> MatchId:
    """Make a match, and play it until something is up for auction."""
    match_id = await edge.create([a_bot(), a_bot(), a_bot()])
    while (match := await state(edge, match_id)).phase != phases.AUCTION:
        edge.clock.advance(100)
        if match.phase == phases.BUY:
            await edge.submit(match_id, c.Decline(match.turn))
        else:
            await edge.submit(match_id, edge.first_choice(match))
    return match_id
