"""The way to a gateway: its services, and tables at which to play or watch."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import grpc

from libs.chassis.channels import TIMEOUT_S, Channel, open_channel
from libs.client.stream import Metadata
from libs.client.table import Table
from libs.kernel.ids import MatchId
from opolyx.bot.v1.bot_service_pb2_grpc import BotServiceStub
from opolyx.lobby.v1.lobby_service_pb2_grpc import LobbyServiceStub
from opolyx.match.v1.match_service_pb2_grpc import MatchServiceStub
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub


class Client:
    """Calls a gateway as somebody, while it is open: `async with Client.connect(...) as client:`.

    Attributes:
        lobby, match, progression, bots: the public services. Their unary calls have a deadline, are
            tried again where that is safe, and raise `grpc.aio.AioRpcError`, whose refusal
            `libs.chassis.status.answer_of` reads.

    """

    def __init__(self, channel: Channel) -> None:
        """Call through *channel*, which is closed with the client."""
        self._channel = channel
        self.lobby = LobbyServiceStub(channel)
        self.match = MatchServiceStub(channel)
        self.progression = ProgressionServiceStub(channel)
        self.bots = BotServiceStub(channel)

    @classmethod
    def connect(
        cls,
        target: str,
        token: Callable[[], str] | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> Self:
        """Return a client of the gateway at *target*, host and port; it connects when it must.

        *token* returns the bearer token that is good now; it is asked for each call. *timeout_s* is
        the deadline of unary calls that say nothing else.
        """
        return cls(open_channel(target, token=token, timeout_s=timeout_s, credentials=credentials))

    def play(self, match_id: MatchId, metadata: Metadata = ()) -> Table:
        """Return a table at which the caller plays its seat, to be opened."""
        return Table.to_play(self.match, match_id, metadata)

    def watch(self, match_id: MatchId, metadata: Metadata = ()) -> Table:
        """Return a table at which the caller watches, to be opened."""
        return Table.to_watch(self.match, match_id, metadata)

    async def close(self) -> None:
        """Let go of the gateway. Calls that are going on end at once."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        """Give itself, to be closed at the end of the block."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()
