"""What is followed is told as it is and becomes, over streams that break, until it ends."""

# ruff: noqa: N802 - the signatures are gRPC's

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from libs.chassis.admission import Door
from libs.chassis.edge import Terms
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.roles import PERSON, AllowList
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.chassis.status import RefusedError, refused
from libs.client import Client
from libs.client.signs import Signs
from libs.kernel.clock import SystemClock
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.lobby_service_pb2_grpc import (
    LobbyServiceServicer,
    add_LobbyServiceServicer_to_server,
)
from opolyx.lobby.v1.room_pb2 import Room

ROOM = "01900000-0000-7000-8000-00000000000a"

Part = pb.WatchRoomResponse | Exception


class Lobby(LobbyServiceServicer):
    """A lobby whose streams tell what each is to tell, one after the other, and end so."""

    def __init__(self, streams: Sequence[Sequence[Part]]) -> None:
        self._streams = list(streams)
        self.tokens: list[str] = []

    async def WatchRoom(
        self, request: pb.WatchRoomRequest, context: Any
    ) -> AsyncIterator[pb.WatchRoomResponse]:
        assert request.room_id == ROOM
        self.tokens.append(dict(context.invocation_metadata())["authorization"])
        for part in self._streams.pop(0):
            if isinstance(part, Exception):
                raise part
            yield part


def seen(sequence: int) -> pb.WatchRoomResponse:
    return pb.WatchRoomResponse(room=Room(room_id=ROOM, sequence=sequence))


ALIVE = pb.WatchRoomResponse(server_time_ms=1_750_000_000_000)
UNKNOWN = pb.WatchRoomResponse()
"""As what is newer than this client."""


def lobby_of(*streams: Sequence[Part]) -> Lobby:
    # What is not asked for here answers UNIMPLEMENTED, as grpc's own servicers do.
    return Lobby(streams)  # type: ignore[abstract]


async def follow(lobby: Lobby, issuer: DevelopmentIssuer, signs: Signs | None = None) -> list[int]:
    """Return the sequences that a client is told, to the end."""
    descriptor = pb.DESCRIPTOR.services_by_name["LobbyService"]
    allowed = AllowList({f"{descriptor.full_name}/{m.name}": [PERSON] for m in descriptor.methods})
    door = Door(allowed=allowed, people=issuer.people(), services=issuer.services(), believed=set())
    terms = Terms(
        service="gateway",
        door=door,
        settings=ServerSettings(port=0, stream_grace_s=0),
        clock=SystemClock(),
        version="1.2.3",
    )
    server = GrpcServer(terms)
    server.add(add_LobbyServiceServicer_to_server, lobby, descriptor)
    names = iter("abcdefgh")
    async with (
        asyncio.timeout(20),
        server,
        Client.connect(server.address, lambda: issuer.issue(next(names))) as client,
        aclosing(client.watch_room(ROOM, signs)) as told,
    ):
        return [room.sequence async for room in told]


async def test_it_is_told_as_it_is_and_becomes_until_there_is_no_more(
    issuer: DevelopmentIssuer,
) -> None:
    lobby = lobby_of([seen(1), ALIVE, UNKNOWN, seen(3)])

    assert await follow(lobby, issuer) == [1, 3]
    assert len(lobby.tokens) == 1


@pytest.mark.parametrize(
    "reason", [Reason.GOING_AWAY, Reason.SLOW_READER, Reason.TOKEN_EXPIRED, Reason.RATE_LIMITED]
)
async def test_a_stream_that_breaks_off_is_opened_again_with_a_token_of_its_own(
    issuer: DevelopmentIssuer, reason: Reason
) -> None:
    lobby = lobby_of([seen(1), refused(reason, retry_after_ms=1)], [seen(4), seen(5)])
    signs = Signs()

    assert await follow(lobby, issuer, signs) == [1, 4, 5]
    assert len(set(lobby.tokens)) == 2
    assert signs.opened.is_set()


async def test_the_clock_of_the_server_is_known_once_it_was_told(
    issuer: DevelopmentIssuer,
) -> None:
    early, late = Signs(), Signs()
    await follow(lobby_of([seen(1)]), issuer, early)
    await follow(lobby_of([seen(1), ALIVE]), issuer, late)

    assert early.server_ms() == 0
    assert late.server_ms() >= ALIVE.server_time_ms


@pytest.mark.parametrize(
    ("streams", "reason"),
    [
        ([[seen(1), refused(Reason.ROOM_NOT_FOUND)]], Reason.ROOM_NOT_FOUND),
        # What a new token cannot mend.
        ([[refused(Reason.TOKEN_EXPIRED)]], Reason.TOKEN_EXPIRED),
    ],
    ids=["gone", "expired"],
)
async def test_what_is_refused_for_good_is_raised(
    issuer: DevelopmentIssuer, streams: list[list[Part]], reason: Reason
) -> None:
    with pytest.raises(RefusedError) as error:
        await follow(lobby_of(*streams), issuer)

    assert error.value.reason == reason
