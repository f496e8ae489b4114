from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.sections import AuthSettings
from libs.client.client import Client
from libs.kernel.clock import SystemClock
from tests.support.gateway import FakeGateway, LiveMatch, serving_gateway


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    return DevelopmentIssuer.open(tmp_path, AuthSettings(), SystemClock())


@pytest.fixture
def live() -> LiveMatch:
    return LiveMatch.of_bots("steady", "steady")


@pytest.fixture
def gateway(live: LiveMatch) -> FakeGateway:
    return FakeGateway(live)


@pytest.fixture
async def client(gateway: FakeGateway, issuer: DevelopmentIssuer) -> AsyncIterator[Client]:
    """A client of whoever begins, in seat 0 or 1."""
    [live] = gateway.matches.values()
    token = issuer.issue(f"seat-{live.match.turn}")
    async with (
        serving_gateway(gateway, issuer) as server,
        Client.connect(server.address, lambda: token) as client,
    ):
        yield client
