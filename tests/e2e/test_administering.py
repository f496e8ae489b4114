"""Operators and the people of the matches that they look after, through the whole system."""

from __future__ import annotations

from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.chance import commitment
from libs.kernel.ids import MatchId
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import open_deadlines
from libs.wire.chain import follow
from opolyx.admin.v1 import admin_service_pb2 as pb
from tests.e2e.rig import Refusal, Stage, Table, create_room, new_name, refusal
from tests.support.calling import Client, new_id, rest_of

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


async def ask(operator: Client, request: Any) -> Any:
    """Call the method of the administration that a request is for."""
    method = request.DESCRIPTOR.name.removesuffix("Request")
    return await operator.call(getattr(operator.admin, method), request)


def about(table: Table, method: str) -> Any:
    kind = getattr(pb, f"{method}Request")
    return kind(match_id=table.match_id, command_id=new_id(), reason="a complaint")


@pytest.fixture
def operator(stage: Stage) -> Client:
    return stage.person(new_name(), "operator")


async def test_an_auction_that_was_frozen_has_all_the_time_that_it_had(
    table: Table, operator: Client
) -> None:
    before = await table.reach(phases.AUCTION)
    due = {deadline.deadline_id: deadline.due for deadline in open_deadlines(before)}
    seat = before.pending_seats()[0]

    frozen = (await ask(operator, about(table, "FreezeMatch"))).done
    refused = await refusal(
        table.people[seat].submit(table.match_id, "pass"), StatusCode.FAILED_PRECONDITION
    )
    resumed = (await ask(operator, about(table, "ResumeMatch"))).done

    after = await table.state()
    paused_ms = resumed.at_ms - frozen.at_ms
    assert refused.reason == "MATCH_FROZEN"
    assert due
    assert {d.deadline_id: d.due - paused_ms for d in open_deadlines(after)} == due
    await table.submit(seat, c.Pass(seat))


async def test_the_people_of_an_aborted_match_are_free_and_know_its_seed(
    table: Table, operator: Client
) -> None:
    streams = [await person.play(table.match_id) for person in table.people]
    for stream in streams:
        await stream.read()

    done = (await ask(operator, about(table, "AbortMatch"))).done

    for stream in streams:
        last = (await rest_of(stream))[-1]
        assert (last.go_away.reason, last.go_away.last_sequence) == ("MATCH_ENDED", done.sequence)
    events = [event for record in follow(await table.records()) for event in record.events]
    created, revealed = events[0], events[-1]
    assert isinstance(created, e.MatchCreated)
    assert isinstance(revealed, e.SeedRevealed)
    assert commitment(MatchId(table.match_id), revealed.seed) == created.commitment
    for person in table.people:
        await create_room(person)


async def test_what_operators_do_is_written_down_whatever_comes_of_it(
    table: Table, operator: Client
) -> None:
    await ask(operator, about(table, "FreezeMatch"))
    await refusal(ask(operator, about(table, "FreezeMatch")), StatusCode.FAILED_PRECONDITION)
    stranger = await refusal(
        ask(table.people[0], about(table, "AbortMatch")), StatusCode.PERMISSION_DENIED
    )

    listed = await ask(operator, pb.ListAdminCallsRequest(match_id=table.match_id))

    assert stranger == Refusal("NOT_ALLOWED", {})
    assert [(call.method, call.outcome) for call in listed.calls if call.reason] == [
        ("FreezeMatch", "MATCH_FROZEN"),
        ("FreezeMatch", "OK"),
    ]


async def test_an_operator_plays_a_seat_like_anybody(stage: Stage) -> None:
    table = await stage.table(creator=new_name())
    boss = stage.person(table.names[0], "operator")

    shown = await table.match(boss)
    await boss.submit(table.match_id, "surrender")

    assert (shown.HasField("viewer_seat"), shown.viewer_seat) == (True, 0)
    assert (await table.state()).phase == phases.ENDED
