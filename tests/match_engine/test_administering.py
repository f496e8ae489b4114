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
from libs.rules.match import Match
from libs.store.memory import Fault
from libs.store.ports import Status
from libs.wire.chain import follow
from libs.wire.request_hash import operator_actor
from opolyx.admin.v1 import admin_service_pb2 as pb
from opolyx.match.v1 import access_pb2, match_pb2
from services.match_engine.allowed import ADMIN_SERVICE
from tests.match_engine.edge_rig import (
    UNKNOWN,
    Edge,
    EdgeStore,
    a_bot,
    a_command,
    a_person,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
)
from tests.match_engine.test_private_matches import create, watched_by
from tests.support.waiting import until

NO_TOKEN: Final = "x"  # noqa: S105 - of a page
BOSS: Final = a_player()

ACTING: Final = ("FreezeMatch", "ResumeMatch", "AbortMatch")
ABOUT_ONE: Final = (*ACTING, "ReleaseMatch")
METHODS: Final = [method.name for method in ADMIN_SERVICE.methods]


def a_request(method: str, match_id: str = UNKNOWN, **fields: Any) -> Any:
    """Return a request that is in order."""
    if method in ACTING:
        fields = {"command_id": a_command(), **fields}
    if method in ABOUT_ONE:
        fields = {"match_id": match_id, "reason": "a complaint", **fields}
    return getattr(pb, f"{method}Request")(**fields)


def ask(edge: Edge, request: Any, metadata: Any = None) -> Any:
    """Call the method of a request, as an operator unless it is said who."""
    method = request.DESCRIPTOR.name.removesuffix("Request")
    behalf = as_operator(BOSS) if metadata is None else metadata
    return getattr(edge.admin_as(), method)(request, metadata=behalf)


async def calls(edge: Edge, **asked: Any) -> list[tuple[str, str, str]]:
    """Return what was written down: methods, matches and outcomes, the latest first."""
    listed = await ask(edge, pb.ListAdminCallsRequest(**asked))
    return [(call.method, call.match_id, call.outcome) for call in listed.calls]


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


class TestFindMatches:
    async def ids(self, edge: Edge, **asked: Any) -> list[str]:
        request, found = pb.FindMatchesRequest(page_size=2, **asked), []
        while True:
            page = await ask(edge, request)
            found += [each.summary.match_id for each in page.matches]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def test_matches_are_found_by_all_that_is_asked(self, edge: Edge) -> None:
        player = a_player()
        made = []
        for n in range(5):
            edge.clock.advance(1)
            rule_set = "opolyx.speed@2" if n % 2 else "opolyx.classic@2"
            made.append(await edge.create([a_person(player), a_bot()], rule_set))
        await ask(edge, a_request("FreezeMatch", made[0]))
        await ask(edge, a_request("AbortMatch", made[1]))
        await edge.store.quarantine(made[2], "a test")
        statuses = match_pb2.MatchSummary.Status

        assert await self.ids(edge) == made[::-1]
        assert await self.ids(edge, player_id=player) == made[::-1]
        assert await self.ids(edge, player_id=a_player()) == []
        assert await self.ids(edge, rule_set="opolyx.speed@2") == [made[3], made[1]]
        assert await self.ids(edge, match_id=made[4]) == [made[4]]
        assert await self.ids(edge, match_id=UNKNOWN) == []
        assert await self.ids(edge, status=statuses.STATUS_FROZEN) == [made[0]]
        assert await self.ids(edge, status=statuses.STATUS_ENDED) == [made[1]]
        assert await self.ids(edge, status=statuses.STATUS_QUARANTINED) == [made[2]]
        assert await self.ids(edge, status=statuses.STATUS_RUNNING) == [made[4], made[3]]
        both = {"status": statuses.STATUS_RUNNING, "rule_set": "opolyx.speed@2"}
        assert await self.ids(edge, **both, player_id=player) == [made[3]]

    async def test_private_ones_too_and_it_is_said_how_private(self, edge: Edge) -> None:
        made = {await create(edge, watched_by(n)): n for n in (1, 2, 3)}

        found = (await ask(edge, pb.FindMatchesRequest())).matches

        assert {each.summary.match_id: each.watching for each in found} == made
        assert access_pb2.Access.WATCHING_SEATS in made.values()


class TestQuarantine:
    async def test_what_is_in_is_listed_by_id_with_what_is_wrong(self, edge: Edge) -> None:
        made = sorted([await edge.a_match(2) for _ in range(3)])
        for n, match_id in enumerate(made):
            await edge.store.quarantine(match_id, f"fault {n}")
        first = await ask(edge, pb.ListQuarantinedMatchesRequest(page_size=2))
        request = pb.ListQuarantinedMatchesRequest(page_token=first.next_page_token)
        second = await ask(edge, request)

        found = [*first.matches, *second.matches]
        assert len(first.matches) == 2
        assert not second.next_page_token
        assert [(each.match_id, each.cause) for each in found] == [
            (match_id, f"fault {n}") for n, match_id in enumerate(made)
        ]
        assert [each.sequence for each in found] == [await edge.head_of(each) for each in made]
        assert {each.since_ms for each in found} == {edge.clock.now_ms()}

    async def test_it_is_lifted_if_all_checks_out_and_stays_if_not(self, edge: Edge) -> None:
        match_id = await edge.a_match(20)
        records = edge.store._streams[match_id]._records
        good = records[7]
        edge.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
        records[7] = good._replace(data=good.data + b"\0")
        await refusal(ask(edge, a_request("FreezeMatch", match_id)))

        _, reason, facts = await refusal(ask(edge, a_request("ReleaseMatch", match_id)))
        still = (await ask(edge, pb.ListQuarantinedMatchesRequest())).matches
        records[7] = good
        released = await ask(edge, a_request("ReleaseMatch", match_id))

        assert reason == Reason.MATCH_QUARANTINED
        assert facts == {"cause": still[0].cause}
        assert [each.match_id for each in still] == [match_id]
        assert released.sequence == await edge.head_of(match_id)
        assert not (await ask(edge, pb.ListQuarantinedMatchesRequest())).matches
        await edge.play(match_id, 3)
        assert [outcome for *_, outcome in await calls(edge)] == [
            "OK",
            Reason.MATCH_QUARANTINED,
            Reason.MATCH_QUARANTINED,
        ]


async def state(edge: Edge, match_id: MatchId) -> Match:
    return (await edge.decider.read(match_id)).match


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
