"""The administration at the gateway: for operators alone, each call at an engine that can do it."""

from __future__ import annotations

from typing import Any

import pytest
from grpc import StatusCode

from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from opolyx.admin.v1 import admin_service_pb2 as pb
from opolyx.engine.v1.caller_pb2 import Caller
from services.gateway.allowed import ADMIN_SERVICE
from tests.chassis.answers import answer
from tests.gateway.neighbours import PLAYERS
from tests.gateway.rig import Rig

pytestmark = pytest.mark.slow

METHODS = [method.name for method in ADMIN_SERVICE.methods]
AT_ANY = {"FindMatches", "ListQuarantinedMatches", "ListAdminCalls"}


def a_request(method: str, match_id: str) -> Any:
    request = getattr(pb, f"{method}Request")()
    if "match_id" in request.DESCRIPTOR.fields_by_name:
        request.match_id = match_id
    return request


async def ask(rig: Rig, request: Any, *roles: str) -> Any:
    """Call the method of a request as cem, who has these roles."""
    client = rig.client("cem", roles=list(roles))
    method = request.DESCRIPTOR.name.removesuffix("Request")
    return await client.call(getattr(client.admin, method), request)


@pytest.mark.parametrize("method", METHODS)
async def test_it_is_passed_on_for_an_operator_and_for_nobody_else(rig: Rig, method: str) -> None:
    request = a_request(method, rig.live.match_id)

    await ask(rig, request, "operator")
    others = [
        await answer(ask(rig, request)),
        await answer(ask(rig, request, "spectator")),
        await answer(ask(rig, request, "operator", "spectator")),
    ]

    operator = Caller(operator_id=PLAYERS["cem"])
    assert rig.engine.administered == [(method, request, operator)]
    assert {got.code for got in others} == {StatusCode.PERMISSION_DENIED}


@pytest.mark.parametrize("method", METHODS)
async def test_what_is_about_one_match_is_for_its_owner(rig: Rig, method: str) -> None:
    rig.world.move(rig.other)

    await ask(rig, a_request(method, rig.live.match_id), "operator")

    asked = [n for n, each in enumerate((rig.engine, rig.other)) for _ in each.administered]
    assert len(asked) == 1
    assert method in AT_ANY or asked == [1]


async def test_a_refusal_and_a_reply_come_through_as_they_are(rig: Rig) -> None:
    done = pb.Done(sequence=7, chain_hash=bytes(32), at_ms=9)
    rig.engine.says = pb.FreezeMatchResponse(done=done)
    replied = await ask(rig, a_request("FreezeMatch", rig.live.match_id), "operator")
    rig.engine.says = refused(Reason.MATCH_QUARANTINED, cause="a broken chain")

    got = await answer(ask(rig, a_request("ReleaseMatch", rig.live.match_id), "operator"))

    assert replied.done == done
    assert got.told is not None
    assert got.told.metadata == {"cause": "a broken chain"}


async def test_a_match_that_is_none_is_told_by_field(rig: Rig) -> None:
    got = await answer(ask(rig, a_request("AbortMatch", "x"), "operator"))

    assert got.told is not None
    assert (got.told.reason, got.told.metadata) == (Reason.INVALID_REQUEST, {"fields": "match_id"})
    assert not rig.engine.administered


async def test_whoever_owns_the_match_then_is_asked_again(rig: Rig) -> None:
    rig.engine.says = refused(Reason.NOT_OWNER_OF_SHARD)
    rig.engine.on_administered = lambda: rig.world.move(rig.other)

    await ask(rig, a_request("FreezeMatch", rig.live.match_id), "operator")

    assert len(rig.other.administered) == 1
