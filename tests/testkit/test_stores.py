"""The adapters in memory, and those in PostgreSQL, keep what they are given alike."""

from collections.abc import AsyncIterator

import pytest

from libs.store.connections import Connections
from services.bot_runner.ports import BotSeatStore
from services.bot_runner.store import BotSeats
from services.lobby.ports import Players
from services.lobby.store import PostgresPlayers
from services.testkit.memory import MemoryBotSeats, MemoryFollowedMatches, MemoryPlayers
from services.timer.learning import Store
from services.timer.store import FollowedMatches
from tests.testkit.contract import BotSeatStoreContract, FollowedStoreContract, PlayersContract


class TestMemory(BotSeatStoreContract, FollowedStoreContract, PlayersContract):
    @pytest.fixture
    def seats(self) -> BotSeatStore:
        return MemoryBotSeats()

    @pytest.fixture
    def followed(self) -> Store:
        return MemoryFollowedMatches()

    @pytest.fixture
    def players(self) -> Players:
        return MemoryPlayers()


@pytest.mark.postgres
class TestPostgres(BotSeatStoreContract, FollowedStoreContract, PlayersContract):
    @pytest.fixture
    async def connections(self, database: str) -> AsyncIterator[Connections]:
        connections = await Connections.open(database, name="opolyx test", size=2)
        yield connections
        await connections.close()

    @pytest.fixture
    def seats(self, connections: Connections) -> BotSeatStore:
        return BotSeats(connections)

    @pytest.fixture
    def followed(self, connections: Connections) -> Store:
        return FollowedMatches(connections)

    @pytest.fixture
    def players(self, connections: Connections) -> Players:
        return PostgresPlayers(connections)
