"""The limits that other services keep than the gateway, which tells of them: driven beyond."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import asyncpg
import grpc
from grpc import StatusCode

from libs.chassis.status import Answer, answer_of
from libs.store.embedded import serving
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from tests.chassis.answers import answer
from tests.e2e.rig import Stage, accept, change, create_room, invited
from tests.support.calling import new_id

HELD_S: Final = 2.0
"""How long a match is held up: less than its engine waits for the store."""


class Told(NamedTuple):
    """Why something was refused, whether it was said when to try again, and beyond which limit."""

    reason: str = ""
    says_when: bool = False
    limit: str = ""

    @classmethod
    def of(cls, got: Answer) -> Told:
        """Return what an answer says, which must be a refusal."""
        assert got.told is not None, got
        limit = got.told.metadata.get("limit", "")
        return cls(got.told.reason, got.retry_after_ms is not None, limit)


async def told(call: Awaitable[Any]) -> Told:
    return Told.of(await answer(call))


async def display_name_characters(stage: Stage, value: int) -> Told:
    person = stage.person()

    def call(length: int) -> Awaitable[Any]:
        request = lobby_pb.SetDisplayNameRequest(command_id=new_id(), display_name="n" * length)
        return person.call(person.lobby.SetDisplayName, request)

    await call(value)
    return await told(call(value + 1))


async def players_per_call(stage: Stage, value: int) -> Told:
    person = stage.person()

    def call(number: int) -> Awaitable[Any]:
        request = lobby_pb.BatchGetPlayersRequest(player_ids=[new_id() for _ in range(number)])
        return person.call(person.lobby.BatchGetPlayers, request)

    await call(value)
    return await told(call(value + 1))


async def page_size(stage: Stage, value: int) -> Told:
    person = stage.person()
    made = [new_id() for _ in range(value + 1)]
    async with serving(stage.system.settings.store_url) as url:
        connection = await asyncpg.connect(url)
        await connection.execute(
            "INSERT INTO progression.profile (player_id, sequence) SELECT unnest($1::uuid[]), 1",
            made,
        )
        request = progression_pb.GetLeaderboardRequest(page_size=value + 1)
        page = await person.call(person.progression.GetLeaderboard, request)
        await connection.execute(
            "DELETE FROM progression.profile WHERE player_id = ANY ($1::uuid[])", made
        )
        await connection.close()
    assert len(page.entries) == value
    assert page.next_page_token
    return Told()


async def rooms_per_person(stage: Stage, value: int) -> Told:
    assert value == 1
    person = stage.person()
    await create_room(person)
    return await told(create_room(person))


async def invites_per_room(stage: Stage, value: int) -> Told:
    person = stage.person()
    room = await create_room(person)
    for _ in range(value):
        await invited(person, room)
    reason = await told(invited(person, room))
    await change(person, "LeaveRoom", room)
    return reason


async def guests_per_room(stage: Stage, value: int) -> Told:
    person = stage.person()
    room = await create_room(person)
    code = await invited(person, room)
    for _ in range(value):
        await accept(stage.person(), code)
    reason = await told(accept(stage.person(), code))
    await change(person, "LeaveRoom", room)
    return reason


async def commands_waiting(stage: Stage, value: int) -> Told:
    """Hold the match up in the store: one command is at it, and then as many wait as may.

    Those of a match are answered in their order, so nobody hears anything before the first is done.
    """
    table = await stage.table()
    person = table.people[(await table.state()).turn]
    async with serving(stage.system.settings.store_url) as url:
        connection = await asyncpg.connect(url)
        async with connection.transaction():
            await connection.execute(
                "SELECT FROM match_engine.match_head WHERE match_id = $1 FOR UPDATE", table.match_id
            )
            calls = [
                asyncio.create_task(person.submit(table.match_id, "roll")) for _ in range(2 * value)
            ]
            done, _ = await asyncio.wait(calls, timeout=HELD_S)
        await connection.close()
        results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [answer_of(each) for each in results if isinstance(each, grpc.aio.AioRpcError)]
    beyond = [got for got in refused if got.code is StatusCode.RESOURCE_EXHAUSTED]
    assert not done
    assert 0 < len(beyond) < value
    [told] = {Told.of(got) for got in beyond}
    return told


KEPT: Final[dict[str, Callable[[Stage, int], Awaitable[Told]]]] = {
    "display_name_characters": display_name_characters,
    "players_per_call": players_per_call,
    "page_size": page_size,
    "rooms_per_person": rooms_per_person,
    "invites_per_room": invites_per_room,
    "guests_per_room": guests_per_room,
    "commands_waiting": commands_waiting,
}
"""What drives each of them beyond, in a system that runs; it returns what was answered."""
