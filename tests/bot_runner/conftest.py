from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from libs.chassis.channels import open_channel
from libs.chassis.issuing import DevelopmentIssuer, ServiceToken
from libs.chassis.sections import AuthSettings
from libs.client.client import Client
from libs.eventlog import postgres
from libs.kernel.clock import SystemClock
from libs.store.migrate import migrate, read_migrations
from tests.support.gateway import BOT_RUNNER, FakeGateway, serving_gateway
from tests.support.postgres import postgres_server, shared_database

__all__ = ["postgres_server", "shared_database"]


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    return DevelopmentIssuer.open(tmp_path, AuthSettings(), SystemClock())


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
async def client(gateway: FakeGateway, issuer: DevelopmentIssuer) -> AsyncIterator[Client]:
    """The way of the bot runner to the gateway."""
    token = ServiceToken(BOT_RUNNER, issuer.issue_for_service, SystemClock())
    async with (
        serving_gateway(gateway, issuer) as server,
        Client(open_channel(server.address, token=token)) as client,
    ):
        yield client


_EMPTY = """
    TRUNCATE bot_runner.played_match, bot_runner.bot_seat, bot_runner.match_position,
        event_log.entry, event_log.partition_end, event_log.group_position
"""


@pytest.fixture
async def prepared(shared_database: str) -> str:
    """Return the URL of a database where no bot plays and nothing was logged."""
    connection = await asyncpg.connect(shared_database)
    await migrate(connection, postgres.SCHEMA, read_migrations(postgres.MIGRATIONS))
    await connection.execute(_EMPTY)
    await connection.close()
    return shared_database
