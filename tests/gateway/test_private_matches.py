"""Private matches at the gateway, which follows each once for all who watch it."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from libs.chassis.status import Answer, answer_of
from libs.kernel.reasons import Reason
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_service_pb2 as pb
from tests.chassis.answers import answer
from tests.gateway.neighbours import PLAYERS
from tests.gateway.rig import Rig, go_on
from tests.support.calling import Client, new_id, next_of
from tests.support.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture
async def private(rig: Rig) -> Rig:
    """Return a gateway and a match of ann and bob to which nobody is invited, told by an engine."""
    rig.world.private[rig.live.match_id] = set()
    return rig


def callers(rig: Rig) -> dict[str, Client]:
    """Return people and others by what they are to the match of ann and bob."""
    return {
        "seat": rig.client("bob"),
        "seat of an operator": rig.client("ann", roles=["operator"]),
        "operator": rig.client("cem", roles=["operator"]),
        "stranger": rig.client("cem"),
        "spectator": rig.client("ann", roles=["spectator"]),
        "bot": rig.bot(1),
    }


async def followed(rig: Rig) -> Any:
    """Have ann watch the match, and its records come."""
    call = rig.client("ann").watch(rig.live.match_id, after=0)
    await next_of("record", call)
    await until(lambda: bool(rig.engine.follows))
    return call


async def refusal(client: Client, match_id: str, kind: str, after: int | None) -> Answer | None:
    """Open a stream, and return how it was refused; None if it tells something."""
    call = client.watch(match_id, after) if kind == "watch" else await client.play(match_id, after)
    try:
        await call.read()
    except grpc.aio.AioRpcError as error:
        return answer_of(error)
    return None


@pytest.mark.parametrize("kind", ["watch", "play"])
@pytest.mark.parametrize("after", [None, 0, "head"])
async def test_nobody_gets_in_through_a_match_that_others_watch(
    private: Rig, kind: str, after: Any
) -> None:
    rig, match_id = private, private.live.match_id
    await followed(rig)
    after_seq = rig.live.match.sequence if after == "head" else after
    unknown = new_id()

    told: dict[str, str | None] = {}
    for who, client in callers(rig).items():
        got = await refusal(client, match_id, kind, after_seq)
        told[who] = got.told.reason if got is not None and got.told is not None else None
        if told[who] == Reason.MATCH_NOT_FOUND:
            assert got == await refusal(client, unknown, kind, after_seq)

    not_found = {"stranger": Reason.MATCH_NOT_FOUND, "spectator": Reason.MATCH_NOT_FOUND}
    if kind == "play":
        not_found["spectator"] = Reason.NOT_ALLOWED
        not_found["operator"] = Reason.NOT_SEATED
    assert told == {who: not_found.get(who) for who in callers(rig)}


async def test_a_guest_gets_in_and_hears_all_of_it(private: Rig) -> None:
    rig, match_id = private, private.live.match_id
    rig.world.private[match_id].add(PLAYERS["cem"])
    await followed(rig)

    call = rig.client("cem").watch(match_id, after=rig.live.match.sequence)
    await call.read()
    go_on(rig.live)

    assert (await next_of("record", call)).last_seq == rig.live.match.sequence


async def test_seats_and_a_public_match_cost_no_further_call(rig: Rig) -> None:
    match_id, at = rig.live.match_id, rig.live.match.sequence
    await followed(rig)
    stranger = await rig.client("cem").watch(match_id, after=at).read()
    asked = len(rig.engine.callers)

    await rig.client("cem").watch(match_id, after=at).read()
    rig.world.private[match_id] = set()
    await rig.client("bob").watch(match_id, after=at).read()

    assert stranger is not grpc.aio.EOF
    assert len(rig.engine.callers) == asked


async def test_commands_and_reads_say_who_asks(private: Rig) -> None:
    rig, match_id = private, private.live.match_id
    operator, stranger = rig.client("cem", roles=["operator"]), rig.client("cem")
    request = pb.GetMatchRequest(match_id=match_id)

    shown = await operator.call(operator.match.GetMatch, request)
    got = await answer(stranger.call(stranger.match.GetMatch, request))
    submitted = await answer(stranger.submit(match_id, "roll"))

    assert shown.match_id == match_id
    assert [caller for _, caller in rig.engine.callers] == [
        Caller(operator_id=PLAYERS["cem"]),
        Caller(player_id=PLAYERS["cem"]),
    ]
    for each in (got, submitted):
        assert each.told is not None
        assert each.told.reason == Reason.MATCH_NOT_FOUND


async def test_an_operator_plays_a_seat_of_their_own(rig: Rig) -> None:
    ann = rig.client("ann", roles=["operator"])

    call = await ann.play(rig.live.match_id)
    snapshot = await next_of("snapshot", call)

    assert snapshot.match.viewer_seat == 0
