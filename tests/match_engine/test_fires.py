import asyncio
from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.command_ids import fire_id
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.clocks import next_deadline
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.firing import UNANSWERED_MAX
from tests.match_engine.edge_rig import (
    NOW_MS,
    UNKNOWN,
    Edge,
    EdgeStore,
    a_bot,
    refusal,
)
from tests.support.waiting import until

VERSION_4 = "0190a000-0000-4000-8000-000000000000"
VERSION_5 = "0190a000-0000-5000-8000-000000000000"

Done, Stale, NotDue = 1, 2, 3


async def a_deadline(edge: Edge, match_id: MatchId) -> tuple[str, int]:
    deadline = next_deadline((await edge.decider.read(match_id)).match)
    assert deadline is not None
    return deadline.deadline_id, deadline.due


def a_fire(match_id: str, deadline_id: str, **changes: Any) -> pb.FireDeadlineRequest:
    values: dict[str, Any] = {
        "match_id": match_id,
        "deadline_id": deadline_id,
        "command_id": fire_id(MatchId(match_id), deadline_id) if len(match_id) == 36 else "",
        **changes,
    }
    return pb.FireDeadlineRequest(**values)


class TestFireDeadline:
    async def test_it_is_not_due_then_done_for_ever_and_others_are_stale(self, edge: Edge) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        deadline_id, due_ms = await a_deadline(edge, match_id)
        stub, asked = edge.matches_as("timer"), a_fire(match_id, deadline_id)

        early = await stub.FireDeadline(asked)
        edge.clock.advance(early.due_ms - NOW_MS)
        done = await stub.FireDeadline(asked)
        again = await stub.FireDeadline(asked)
        stale = await stub.FireDeadline(a_fire(match_id, "roll:0:999"))

        head = (await edge.decider.read(match_id)).chain
        assert early.outcome == NotDue
        assert early.due_ms >= due_ms
        assert (done.outcome, done.sequence, done.chain_hash) == (
            Done,
            head.last_seq,
            head.last_hash,
        )
        assert again == done
        assert (stale.outcome, stale.sequence, stale.chain_hash) == (Stale, 0, b"")

    @pytest.mark.parametrize(
        ("asked", "fields"),
        [
            (a_fire("x", "roll:0:1"), "match_id"),
            (a_fire(UNKNOWN, ""), "deadline_id"),
            (a_fire(UNKNOWN, "roll:0:1", command_id=""), "command_id"),
            (a_fire(UNKNOWN, "roll:0:1", command_id=VERSION_5), "command_id"),
        ],
    )
    async def test_what_makes_no_sense_is_told_by_field(
        self, edge: Edge, asked: pb.FireDeadlineRequest, fields: str
    ) -> None:
        _, reason, facts = await refusal(edge.matches_as("timer").FireDeadline(asked))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": fields})

    async def test_an_unknown_match_is_not_found(self, edge: Edge) -> None:
        call = edge.matches_as("timer").FireDeadline(a_fire(UNKNOWN, "roll:0:1"))

        assert (await refusal(call))[1] == Reason.MATCH_NOT_FOUND


async def read(call: Any) -> pb.FireResponse:
    async with asyncio.timeout(20):
        response = await call.read()
    assert isinstance(response, pb.FireResponse), response
    return response


class TestFire:
    async def test_every_message_is_answered_by_its_own(self, edge: Edge) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        deadline_id, _ = await a_deadline(edge, match_id)
        call = edge.matches_as("timer").Fire()
        for asked in (
            a_fire(match_id, deadline_id),
            a_fire(UNKNOWN, "roll:0:1"),
            a_fire(match_id, "roll:0:999"),
            a_fire("x", "roll:0:1"),
        ):
            await call.write(pb.FireRequest(deadline=asked))
        answers = [await read(call) for _ in range(4)]
        await call.done_writing()

        told = {(each.match_id, each.deadline_id): each for each in answers}
        assert told[match_id, deadline_id].fired.outcome == NotDue
        assert told[match_id, "roll:0:999"].fired.outcome == Stale
        assert told[UNKNOWN, "roll:0:1"].refused.reason == Reason.MATCH_NOT_FOUND
        assert told["x", "roll:0:1"].refused.reason == Reason.INVALID_REQUEST
        assert not isinstance(await call.read(), pb.FireResponse)
        assert await call.code() is StatusCode.OK

    async def test_a_slow_match_holds_up_no_other(self, edge: Edge, store: EdgeStore) -> None:
        slow, other = [await edge.create([a_bot(), a_bot()]) for _ in range(2)]
        deadlines = {each: await a_deadline(edge, each) for each in (slow, other)}
        edge.clock.advance(1_000_000)
        store.hold("append")
        call = edge.matches_as("timer").Fire()
        await call.write(pb.FireRequest(deadline=a_fire(slow, deadlines[slow][0])))
        await until(store.called("append", 1))
        await call.write(pb.FireRequest(deadline=a_fire(other, "roll:0:999")))
        first = await read(call)
        store.let_go("append")

        assert first.match_id == other
        assert (await read(call)).fired.outcome == Done

    async def test_no_more_are_taken_than_may_be_unanswered(
        self, edge: Edge, store: EdgeStore
    ) -> None:
        slow = await edge.create([a_bot(), a_bot()])
        ids = [await edge.create([a_bot(), a_bot()]) for _ in range(10)]
        deadlines = {each: (await a_deadline(edge, each))[0] for each in (slow, *ids)}
        edge.clock.advance(1_000_000)
        store.hold("append")
        call = edge.matches_as("timer").Fire()
        asked = [slow, *ids] * (UNANSWERED_MAX // 8)
        for each in asked:
            await call.write(pb.FireRequest(deadline=a_fire(each, deadlines[each])))
        await until(store.called("append", 11))
        await until(lambda: _under_way(edge) == UNANSWERED_MAX)
        other = edge.matches_as("timer").Fire()  # by which time more would have been taken
        await other.write(pb.FireRequest(deadline=a_fire(UNKNOWN, "roll:0:1")))
        await read(other)
        under_way = _under_way(edge)
        store.let_go("append")
        answers = [await read(call) for _ in asked]

        assert under_way == UNANSWERED_MAX
        assert {each.fired.outcome for each in answers} == {Done}

    async def test_a_bug_is_told_as_one_and_hurts_no_other(
        self, edge: Edge, store: EdgeStore
    ) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        asked = pb.FireRequest(deadline=a_fire(match_id, (await a_deadline(edge, match_id))[0]))
        edge.clock.advance(1_000_000)
        store.has_bug = True
        call = edge.matches_as("timer").Fire()
        await call.write(asked)
        broken = await read(call)
        store.has_bug = False
        await call.write(asked)

        assert broken.refused.reason == "INTERNAL"
        assert (await read(call)).fired.outcome == Done

    async def test_an_engine_that_stops_answers_what_it_has(
        self, edge: Edge, store: EdgeStore
    ) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        deadline_id, _ = await a_deadline(edge, match_id)
        edge.clock.advance(1_000_000)
        store.hold("append")
        call = edge.matches_as("timer").Fire()
        await call.write(pb.FireRequest(deadline=a_fire(match_id, deadline_id)))
        await until(store.called("append", 1))
        edge.server.draining.set()
        store.let_go("append")
        done = await read(call)

        assert done.fired.outcome == Done
        assert (await refusal(call.read()))[1] == Reason.GOING_AWAY


def _under_way(edge: Edge) -> int:
    """Return how many fires have their turn, or wait for it."""
    turns = edge.decider._turns
    return len(turns._running) + sum(queue.waiting for queue in turns._queues.values())
