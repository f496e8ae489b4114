"""A match in which somebody has to roll, and commands for it: as calls, and on a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from opolyx.match.v1 import command_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from tests.e2e.rig import Head, Table
from tests.support.calling import Client, new_id, next_of

Command = command_pb2.Command
Given = pb.PlayMatchRequest.PlayedCommand

ROLL: Final = Command(roll=command_pb2.Roll())


class Scene(NamedTuple):
    """A match that waits for a roll: whose, and where it stands."""

    table: Table
    turn: int
    head: Head

    @property
    def on_turn(self) -> Client:
        return self.table.people[self.turn]

    @property
    def off_turn(self) -> Client:
        return self.table.people[1 - self.turn]


def of(command: Command, **fields: Any) -> Given:
    return Given(**{"command_id": new_id(), "command": command, **fields})


@asynccontextmanager
async def unchanged(scene: Scene) -> AsyncIterator[None]:
    """See that the match stands where it stood, to the byte."""
    yield
    assert await scene.table.head() == scene.head


async def submit(person: Client, match_id: str, given: Given) -> pb.SubmitCommandResponse:
    request = pb.SubmitCommandRequest(
        match_id=match_id, command_id=given.command_id, command=given.command
    )
    if given.HasField("expected_sequence"):
        request.expected_sequence = given.expected_sequence
    response = await person.call(person.match.SubmitCommand, request)
    assert isinstance(response, pb.SubmitCommandResponse)
    return response


async def give(stream: Any, given: Given) -> pb.CommandResult:
    await stream.write(pb.PlayMatchRequest(command=given))
    result = await next_of("result", stream)
    assert isinstance(result, pb.CommandResult)
    assert result.command_id == given.command_id
    return result
