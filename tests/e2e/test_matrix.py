"""Who may call what: every RPC that there is by every kind of caller, in so many words."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.access_pb2 import Access
from services.console.fleet import SERVICES
from tests.e2e.matrix import (
    KINDS,
    MAY_CALL,
    OF_ALL,
    OF_PRIVATE,
    OF_PUBLIC,
    request_for,
    told,
)
from tests.e2e.methods import INSIDE, PUBLIC, Metadata, knocked, past_the_gateway, sent
from tests.e2e.rig import Stage, change, create_room, new_name, start_match
from tests.support.calling import Client, new_id

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


class Cast:
    """One caller of each kind, beside somebody who sits there."""

    def __init__(self, stage: Stage, seated: Client) -> None:
        bearer = f"Bearer {stage.token('yesterday', ttl_ms=-60_000)}"
        self.callers: dict[str, Metadata] = {
            "nobody": (),
            "expired": stage.bearer(bearer).metadata,
            "other": stage.person().metadata,
            "spectator": stage.person(new_name(), "spectator").metadata,
            "seat": seated.metadata,
            "bot": stage.service("bot_runner", Caller(bot_seat=1)).metadata,
            "service": stage.service("lobby").metadata,
            "operator": stage.person(new_name(), "operator").metadata,
        }


async def private_room(person: Client, watching: Access.Watching.ValueType) -> Room:
    """Have a person make a room with a bot in it that others are not to know of."""
    room = await create_room(person, visibility=Room.VISIBILITY_PRIVATE, watching=watching)
    return await change(person, "AddBot", room, strength="steady")


async def answers(
    stage: Stage, method: MethodDescriptor, cast: Cast, given: Mapping[str, Any]
) -> dict[str, str]:
    """Have everybody call a method, whoever sits there last, and return what each was told."""
    found = {}
    for kind in sorted(KINDS, key=lambda kind: kind == "seat"):
        request = request_for(method, given)
        error = await sent(stage.channel, method, cast.callers[kind], request)
        found[kind] = told(error)
    return found


def test_every_rpc_has_its_rows() -> None:
    names = [method.name for method in PUBLIC]
    inside = {method.name for method in INSIDE}

    assert len(names) == len(set(names)), "rows are by name: two services have the same"
    assert set(names) == {*OF_ALL, *OF_PUBLIC}
    assert OF_PUBLIC.keys() == OF_PRIVATE.keys()
    assert set(MAY_CALL) == {*names, *inside} - {"GetServerInfo"}


@pytest.mark.parametrize("method", [m for m in PUBLIC if m.name in OF_ALL], ids=lambda m: m.name)
async def test_who_may_call_what_is_about_no_match(stage: Stage, method: MethodDescriptor) -> None:
    host = stage.person()
    room = await private_room(host, Access.WATCHING_SEATS)
    spare = await stage.table()
    me = await host.call(host.lobby.GetPlayer, lobby_pb.GetPlayerRequest())
    given = {"room_id": room.room_id, "match_id": spare.match_id, "player_id": me.player_id}

    assert await answers(stage, method, Cast(stage, host), given) == OF_ALL[method.name]


@pytest.mark.parametrize(
    ("watching", "rows"),
    [(Access.WATCHING_EVERYBODY, OF_PUBLIC), (Access.WATCHING_SEATS, OF_PRIVATE)],
    ids=["public", "private"],
)
async def test_who_may_do_what_in_a_match(
    stage: Stage, watching: Access.Watching.ValueType, rows: dict[str, dict[str, str]]
) -> None:
    person = stage.person()
    match_id = await start_match(person, await private_room(person, watching))
    await stage.freeze(match_id)
    cast = Cast(stage, person)
    found = {
        method.name: await answers(stage, method, cast, {"match_id": match_id})
        for method in PUBLIC
        if method.name in rows
    }

    assert found == rows


async def test_which_services_may_call_which(stage: Stage) -> None:
    admitted: dict[str, list[str]] = {}
    person = Caller(player_id=new_id())
    for address, methods in past_the_gateway(stage.system.settings.peers).items():
        async with grpc.aio.insecure_channel(address) as channel:
            for method, name in product(methods, SERVICES):
                # The gateway calls for somebody; whoever else said that would be refused for it.
                behalf = person if name == "gateway" else None
                error = await knocked(channel, method, stage.service(name, behalf).metadata)
                allowed = admitted.setdefault(method.name, [])
                if told(error) != "NOT_ALLOWED":
                    allowed.append(name)

    assert {name: sorted(services) for name, services in admitted.items()} == {
        name: sorted(services) for name, services in MAY_CALL.items()
    }
