from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from libs.chassis.admission import Door
from libs.chassis.edge import Terms
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.roles import ANYONE, AllowList
from libs.chassis.sections import AuthSettings, ServerSettings
from libs.chassis.server import GrpcServer
from libs.kernel.clock import ManualClock
from tests.chassis import echo

NOW_MS = 1_800_000_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
def issuer(tmp_path: Path, clock: ManualClock) -> DevelopmentIssuer:
    return DevelopmentIssuer.open(tmp_path, AuthSettings(leeway_s=0), clock)


@pytest.fixture
def open_terms(clock: ManualClock) -> Terms:
    """Terms of a server that lets everybody in."""
    allowed = AllowList({f"{echo.NAME}/{name}": [ANYONE] for name in echo.METHODS})
    settings = ServerSettings(stream_grace_s=0)
    door = Door(allowed=allowed)
    return Terms(service="echo", door=door, settings=settings, clock=clock, version="1.2.3")


class Served:
    """A server that is open, its servicer, and a stub that calls it."""

    def __init__(self, server: GrpcServer, servicer: echo.Echo, channel: grpc.aio.Channel) -> None:
        self.server = server
        self.servicer = servicer
        self.channel = channel
        self.stub = echo.Stub(channel)


Serve = Callable[..., Any]


@pytest.fixture
async def serve(open_terms: Terms) -> AsyncIterator[Serve]:
    """Open servers on free ports: `await serve(terms)`, or with changes to the open terms."""
    async with AsyncExitStack() as stack:

        async def start(
            terms: Terms = open_terms, servicer: echo.Echo | None = None, **changes: Any
        ) -> Served:
            server = GrpcServer(replace(terms, **changes))
            servicer = servicer or echo.Echo()
            server.add(echo.register, servicer, echo.DESCRIPTOR)
            await stack.enter_async_context(server)
            channel = grpc.aio.insecure_channel(server.address)
            await stack.enter_async_context(channel)
            return Served(server, servicer, channel)

        yield start
