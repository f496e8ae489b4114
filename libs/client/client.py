"""The way to a gateway: its services, and tables at which to play or watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import grpc

from libs.chassis.channels import TIMEOUT_S, Channel, open_channel
from libs.client import news, rooms, tokens
from libs.client.calls import PATIENCE_S, patiently
from libs.client.signs import Signs
from libs.client.stream import Metadata
from libs.client.table import Table
from libs.kernel.ids import MatchId
from opolyx.admin.v1.admin_service_pb2_grpc import AdminServiceStub
from opolyx.bot.v1.bot_service_pb2_grpc import BotServiceStub
from opolyx.gateway.v1.gateway_service_pb2_grpc import GatewayServiceStub
from opolyx.lobby.v1.lobby_service_pb2 import WatchRoomsResponse
from opolyx.lobby.v1.lobby_service_pb2_grpc import LobbyServiceStub
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.match_service_pb2_grpc import MatchServiceStub
from opolyx.progression.v1.profile_pb2 import Profile
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub

T = TypeVar("T")

CLASSIC: Final = "opolyx.classic@2"

WAIT_S: Final = 60.0
"""How long others are waited for; bots come sooner than that."""


class Client:
    """Calls a gateway as somebody, while it is open: `async with Client.connect(...) as client:`.

    Attributes:
        lobby, match, progression, bots, gateway, admin: the public services, the last of them for
            operators alone. Their unary calls have a deadline, are tried again where that is safe,
            and raise `grpc.aio.AioRpcError`; by `call` they raise what is typed.

    """

    def __init__(self, channel: Channel) -> None:
        """Call through *channel*, which is closed with the client."""
        self._channel = channel
        self.lobby = LobbyServiceStub(channel)
        self.match = MatchServiceStub(channel)
        self.progression = ProgressionServiceStub(channel)
        self.bots = BotServiceStub(channel)
        self.gateway = GatewayServiceStub(channel)
        self.admin = AdminServiceStub(channel)

    @classmethod
    def connect(
        cls,
        target: str,
        token: tokens.Token | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> Self:
        """Return a client of the gateway at *target*, host and port; it connects when it must.

        *token* is a bearer token, a `Path` of a file with one, or what returns the one that is good
        now: files and functions are asked for each call. *timeout_s* is the deadline of unary calls
        that say nothing else.
        """
        asked = tokens.asked(token)
        return cls(open_channel(target, token=asked, timeout_s=timeout_s, credentials=credentials))

    async def call(
        self, method: Callable[..., Awaitable[T]], request: Any, *, timeout_s: float = PATIENCE_S
    ) -> T:
        """Call a unary method, such as `client.match.GetMatch`, until there is an answer.

        It is the same request each time, so what has a `command_id` happens once. Refusals that
        pass, such as `RATE_LIMITED`, are waited out.

        Raises:
            RefusedError: it is refused, or refused for the moment until *timeout_s* is over.
            ConnectionLostError: there was no answer in *timeout_s*, or none of a server of ours.

        """
        return await patiently(method, request, timeout_s=timeout_s)

    async def start_match(
        self, rule_set: str = CLASSIC, bots: Sequence[str] = ("steady",)
    ) -> MatchId:
        """Open a private room, seat *bots* beside the caller, start, and return the match.

        *bots* are strengths (`BotService.ListBots`), one for each seat but the caller's, which is
        seat 0. Everybody who knows the match may watch it. What is refused leaves no room behind.

        Raises:
            RefusedError: such as `ALREADY_IN_MATCH`, whose metadata names the `match_id` in which
                the caller has yet to play.
            ConnectionLostError: there was no answer; the match may have been started.

        """
        return await rooms.start_match(self.lobby, rule_set, bots)

    async def quick_match(
        self, rule_set: str = CLASSIC, seats: int = 4, *, timeout_s: float = WAIT_S
    ) -> MatchId:
        """Find others for a match, and return it once it has started.

        Bots take the seats for which nobody comes. Whoever stops waiting, or waits for longer than
        *timeout_s*, is taken out again.

        Raises:
            RefusedError: such as `ALREADY_IN_MATCH`, or `ROOM_CLOSED` if nothing came of it.
            ConnectionLostError: no match has started in time.

        """
        return await rooms.quick_match(self.lobby, rule_set, seats, timeout_s)

    def watch_room(self, room_id: str, signs: Signs | None = None) -> AsyncGenerator[Room]:
        """Go through a room as it is and as it becomes, until its match is there or it is closed.

        Streams that break off are opened again, and several changes may come as one; *signs* tell
        how the way to the server is. Here and in `watch_rooms` and `watch_profile`, close what you
        do not hear to its end: `async with aclosing(client.watch_room(...)) as told:`.

        Raises:
            RefusedError: the caller may not see the room, or not any more.
            ConnectionLostError: nobody has answered for `PATIENCE_S`.

        """
        return news.of_room(self.lobby, room_id, signs)

    def watch_rooms(
        self, rule_set: str = "", signs: Signs | None = None
    ) -> AsyncGenerator[WatchRoomsResponse]:
        """Go through what happens to the rooms that everybody sees, of one rule set or of all.

        Where a message has `rooms`, they replace all that was told before; that is so first, and
        for each new stream. Raises as `watch_room`.
        """
        return news.of_rooms(self.lobby, rule_set, signs)

    def watch_profile(
        self, player_id: str = "", signs: Signs | None = None
    ) -> AsyncGenerator[Profile]:
        """Go through a profile as it is and as it becomes; the caller's own where nobody is named.

        Raises as `watch_room`.
        """
        return news.of_profile(self.progression, player_id, signs)

    def play(self, match_id: str, metadata: Metadata = ()) -> Table:
        """Return a table at which the caller plays its seat, to be opened."""
        return Table.to_play(self.match, MatchId(match_id), metadata)

    def watch(self, match_id: str, metadata: Metadata = ()) -> Table:
        """Return a table at which the caller watches, to be opened."""
        return Table.to_watch(self.match, MatchId(match_id), metadata)

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
