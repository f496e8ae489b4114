"""The way to the engine that owns a match, for whoever calls engines (write protocol, W1a)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import cycle
from types import TracebackType
from typing import Final, Self, TypeVar

import grpc

from libs.chassis.channels import Channel
from libs.chassis.status import RefusedError, answer_of, refused
from libs.chassis.together import end
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import shard_of
from opolyx.engine.v1 import shard_service_pb2 as pb
from opolyx.engine.v1 import shard_service_pb2_grpc as pb_grpc

SILENCE_S: Final = 3.0
"""So long an engine may say nothing before another one is asked (start)."""

TIMEOUT_S: Final = 5.0
"""How long a call may look for the owner of its match, if its caller says nothing (start)."""

_PAUSE_S: Final = 0.05
_PAUSE_MAX_S: Final = 0.5

ELSEWHERE: Final = frozenset({Reason.NOT_OWNER_OF_SHARD, Reason.GOING_AWAY})
"""What an engine says that has not touched the match: whoever owns it now is asked (W1)."""

T = TypeVar("T")


class Engines:
    """Knows which engine serves which shard, while it is open: `async with engines:`.

    What it knows is a hint that follows `WatchShards`; what keeps a match safe is its fence.
    """

    def __init__(self, addresses: Sequence[str], connect: Callable[[str], Channel]) -> None:
        """Begin with the engines at *addresses*; *connect* opens a channel to one of them."""
        assert addresses, "at least one engine must be named"
        self._named = tuple(addresses)
        self._connect = connect
        self._channels: dict[str, Channel] = {}
        self._owners: dict[int, str] = {}
        self._epoch = 0
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to follow the assignment."""
        self._following = asyncio.create_task(self._follow())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let go of every engine."""
        assert self._following is not None
        await end(self._following)
        for channel in self._channels.values():
            await channel.close()

    def owner(self, match_id: MatchId) -> str | None:
        """Return the address of the engine that owns a match, as far as is known."""
        return self._owners.get(shard_of(match_id))

    def addresses(self) -> list[str]:
        """Return the addresses of the engines that serve something, in order."""
        return sorted(set(self._owners.values()))

    def channel(self, address: str) -> Channel:
        """Return the one channel to the engine at *address*. Not to be closed."""
        channel = self._channels.get(address)
        if channel is None:
            channel = self._channels[address] = self._connect(address)
        return channel

    async def changed(self) -> None:
        """Return when the assignment changes next."""
        await self._changed.wait()

    async def call(
        self,
        match_id: MatchId,
        work: Callable[[Channel], Awaitable[T]],
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> T:
        """Do *work* with the owner of a match; again elsewhere if it turns out not to own it.

        *work* must be safe to do twice: an engine that vanished may have done it. Instead of what
        gRPC raises it may raise a refusal of its own that says the same.

        Raises:
            RefusedError: NOT_OWNER_OF_SHARD, nobody who owns it was found in time; or what *work*
                raised.
            grpc.aio.AioRpcError: what *work* raised.

        """
        end_s = asyncio.get_running_loop().time() + timeout_s
        pause_s = _PAUSE_S
        while True:
            address = self.owner(match_id)
            if address is not None:
                try:
                    return await work(self.channel(address))
                except grpc.aio.AioRpcError as error:
                    if not _is_elsewhere(error):
                        raise
                except RefusedError as error:
                    if error.told.reason not in ELSEWHERE:
                        raise
            if asyncio.get_running_loop().time() + pause_s > end_s:
                raise refused(Reason.NOT_OWNER_OF_SHARD)
            # Whichever comes first: news of the assignment, or the time to just try again.
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self.changed()
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    async def any_of(self, work: Callable[[Channel], Awaitable[T]]) -> T:
        """Do *work* with some engine: what is asked any of them would answer alike.

        Raises:
            RefusedError: STORE_UNAVAILABLE, none can be reached.
            grpc.aio.AioRpcError: what *work* raised.

        """
        for address in self.addresses() or self._named:
            try:
                return await work(self.channel(address))
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
        raise refused(Reason.STORE_UNAVAILABLE)

    async def _follow(self) -> None:
        """Ask one engine after the other, and listen to each for as long as it speaks."""
        for turn in cycle(range(len(self._named))):
            known = self.addresses() or [self._named[turn]]
            address = known[turn % len(known)]
            with suppress(grpc.aio.AioRpcError, RefusedError, TimeoutError):
                await self._listen(address)
            await asyncio.sleep(_PAUSE_S)
            if self.addresses():
                # Those that we were told of may be gone: the named ones are asked next.
                with suppress(grpc.aio.AioRpcError, RefusedError, TimeoutError):
                    await self._listen(self._named[turn])
                await asyncio.sleep(_PAUSE_S)

    async def _listen(self, address: str) -> None:
        stub = pb_grpc.ShardServiceStub(self.channel(address))
        stream = stub.WatchShards(pb.WatchShardsRequest())
        try:
            while True:
                async with asyncio.timeout(SILENCE_S):
                    response = await stream.read()
                if not isinstance(response, pb.WatchShardsResponse):
                    return  # the engine has ended the stream
                self._take(response)
        finally:
            stream.cancel()

    def _take(self, response: pb.WatchShardsResponse) -> None:
        if response.epoch < self._epoch:
            return
        owners = {shard: e.address for e in response.engines for shard in e.shards}
        self._epoch = response.epoch
        if owners != self._owners:
            self._owners = owners
            self._changed.set()
            self._changed = asyncio.Event()


def _is_elsewhere(error: grpc.aio.AioRpcError) -> bool:
    """Tell whether another engine may do what this one could not."""
    answer = answer_of(error)
    if answer.told is None:
        return answer.code is grpc.StatusCode.UNAVAILABLE
    return answer.told.reason in ELSEWHERE
