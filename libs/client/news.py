"""Rooms and profiles as they change: streams that are opened again whenever they break off.

Each stream begins with all that is so, and goes on with what changes: whoever hears a new one has
missed nothing that still matters.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

import grpc

from libs.chassis.status import answer_of
from libs.client.calls import PATIENCE_S, ConnectionLostError, error_of, may_pass
from libs.client.hearing import SILENCE_S
from libs.client.signs import Signs
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as lobby_grpc
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1 import progression_service_pb2_grpc as progression_grpc
from opolyx.progression.v1.profile_pb2 import Profile

_PAUSE_S: Final = 0.1
_PAUSE_MAX_S: Final = 5.0


async def of_room(
    lobby: lobby_grpc.LobbyServiceAsyncStub, room_id: str, signs: Signs | None = None
) -> AsyncGenerator[Room]:
    """Go through a room as it is and becomes. See `Client.watch_room`."""
    request = lobby_pb.WatchRoomRequest(room_id=room_id)
    async with aclosing(_news(lobby.WatchRoom, request, signs)) as told:
        async for message in told:
            if message.HasField("room"):
                yield message.room


async def of_rooms(
    lobby: lobby_grpc.LobbyServiceAsyncStub, rule_set: str, signs: Signs | None = None
) -> AsyncGenerator[lobby_pb.WatchRoomsResponse]:
    """Go through what happens to the list of rooms. See `Client.watch_rooms`."""
    request = lobby_pb.WatchRoomsRequest(rule_set=rule_set)
    async with aclosing(_news(lobby.WatchRooms, request, signs)) as told:
        async for message in told:
            if message.WhichOneof("response") is not None:
                yield message


async def of_profile(
    progression: progression_grpc.ProgressionServiceAsyncStub,
    player_id: str,
    signs: Signs | None = None,
) -> AsyncGenerator[Profile]:
    """Go through a profile as it is and becomes. See `Client.watch_profile`."""
    request = progression_pb.WatchProfileRequest(player_id=player_id)
    async with aclosing(_news(progression.WatchProfile, request, signs)) as told:
        async for message in told:
            if message.HasField("profile"):
                yield message.profile


async def _news(dial: Callable[..., Any], request: Any, signs: Signs | None) -> AsyncGenerator[Any]:
    """Go through the messages of one stream after the other, but for signs of life.

    It ends when the server has told all that there is to tell.

    Raises:
        RefusedError: it is refused; or for the moment, and that for `PATIENCE_S`.
        ConnectionLostError: nobody has answered for `PATIENCE_S`.

    """
    now_s = asyncio.get_running_loop().time
    signs = signs or Signs()
    heard_s, pause_s, has_opened = now_s(), _PAUSE_S, False
    while True:
        call = dial(request)
        try:
            while (message := await _next(call)) is not grpc.aio.EOF:
                heard_s, pause_s, has_opened = now_s(), _PAUSE_S, True
                if message.WhichOneof("response") == "server_time_ms":
                    signs.hear(message.server_time_ms)
                else:
                    signs.hear()
                    yield message
                    heard_s = now_s()  # whoever takes their time has not lost the connection
        except grpc.aio.AioRpcError as error:
            wait_s = _wait_s(error, pause_s, is_renewable=has_opened)
            failure = error_of(answer_of(error), error)
        except TimeoutError:
            wait_s, failure = pause_s, ConnectionLostError(f"silence for {SILENCE_S:g} s")
        else:
            return
        finally:
            call.cancel()
        signs.lose()
        if wait_s is None or now_s() + wait_s >= heard_s + PATIENCE_S:
            raise failure
        await asyncio.sleep(wait_s)
        pause_s, has_opened = min(2 * pause_s, _PAUSE_MAX_S), False


async def _next(call: Any) -> Any:
    async with asyncio.timeout(SILENCE_S):
        return await call.read()


def _wait_s(error: grpc.aio.AioRpcError, pause_s: float, *, is_renewable: bool) -> float | None:
    """Return when to open another stream, None if that is of no use.

    A token that has expired in the course of a stream is no obstacle to the next: its caller may
    have a new one. A new stream with an old token is refused for good.
    """
    answer = answer_of(error)
    is_old = answer.told is not None and answer.told.reason == Reason.TOKEN_EXPIRED
    if may_pass(answer) or (is_old and is_renewable):
        return max(pause_s, (answer.retry_after_ms or 0) / 1000)
    return None
