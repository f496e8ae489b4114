"""Every family of RPCs of a system, sent nonsense; those who look on must not be touched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import MethodDescriptor

from opolyx.lobby.v1.room_pb2 import Room
from tests.e2e.methods import PUBLIC, Metadata
from tests.e2e.rig import HASTY, Head, Stage, Table, create_room, get_room
from tests.fuzz.families import KINDS, Nonsensical, Outcome, fuzz
from tests.support.calling import Client

SETTINGS: Final[dict[str, Any]] = {
    **HASTY,
    "OPOLYX_GATEWAY__COMMAND_RATE__PER_S": "100000",
    "OPOLYX_GATEWAY__COMMAND_RATE__BURST": "100000",
}
"""Of a system that nobody is too quick for: what is tried is not its patience."""

FAMILIES: Final[dict[str, list[MethodDescriptor]]] = {
    name: list(methods)
    for name, methods in groupby(PUBLIC, lambda method: method.containing_service.name)
}
"""The methods of each service, by its name."""

ADMIN: Final = "AdminService"


class Found(NamedTuple):
    """What was found in one family: its service, what was sent, and what came of it."""

    family: str
    kind: str
    outcome: Outcome


class Onlookers(NamedTuple):
    """Two people in a match that is frozen, and one in a private room."""

    table: Table
    head: Head
    host: Client
    room: Room

    async def check(self, family: str) -> None:
        """See that nothing has changed, to the byte."""
        assert await self.table.head() == self.head, f"{family}: the match has changed"
        assert await get_room(self.host, self.room) == self.room, f"{family}: the room has changed"


async def fuzz_all(
    stage: Stage, count: int, seed: int, families: Sequence[str] = tuple(FAMILIES)
) -> AsyncIterator[Found]:
    """Send *count* messages of each kind to each family, and yield what became of them.

    Strangers send them, and an operator what is for operators, who is told of another match.

    Raises:
        AssertionError: somebody was touched.

    """
    onlookers, other = await _onlookers(stage), await stage.table()
    player_id = (await onlookers.table.match()).seats[0].spec.player
    ids = {
        "match_id": onlookers.table.match_id,
        "player_id": player_id,
        "room_id": onlookers.room.room_id,
    }
    strangers: list[Metadata] = [stage.person().metadata for _ in range(4)]
    for name in families:
        callers, known = strangers, ids
        if name == ADMIN:
            callers = [stage.person("fuzzer", "operator").metadata]
            known = {**ids, "match_id": other.match_id}
        for kind in KINDS:
            what = Nonsensical(kind=kind, count=count, seed=seed, callers=callers, ids=known)
            yield Found(name, kind, await fuzz(stage.channel, FAMILIES[name], what))
            await onlookers.check(name)


async def _onlookers(stage: Stage) -> Onlookers:
    table, host = await stage.table(), stage.person()
    await stage.freeze(table.match_id)
    room = await create_room(host, seats=3, visibility=Room.VISIBILITY_PRIVATE)
    return Onlookers(table, await table.head(), host, room)
