"""Tells callers which engine serves which matches (write protocol, W1a)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

import grpc

from libs.chassis.status import refused
from libs.chassis.together import cancel_all
from libs.kernel.reasons import Reason
from libs.store.ownership import Assignment
from opolyx.engine.v1 import shard_service_pb2 as pb
from opolyx.engine.v1 import shard_service_pb2_grpc as pb_grpc
from services.match_engine.ownership import Leaseholder

SIGN_OF_LIFE_S: Final = 1.0


class ShardServicer(pb_grpc.ShardServiceServicer):
    """`opolyx.engine.v1.ShardService`, out of what the lease's last renewal has found."""

    def __init__(
        self,
        holder: Leaseholder,
        draining: asyncio.Event,
        *,
        sign_of_life_s: float = SIGN_OF_LIFE_S,
    ) -> None:
        """Tell what *holder* knows until *draining* is set."""
        self._holder = holder
        self._draining = draining
        self._sign_of_life_s = sign_of_life_s
        self._epochs: dict[int, int] = {}

    async def WatchShards(  # noqa: N802 - grpc calls it so
        self,
        request: pb.WatchShardsRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.WatchShardsRequest, pb.WatchShardsResponse],  # noqa: ARG002
    ) -> AsyncIterator[pb.WatchShardsResponse]:
        """Send the whole assignment at once, whenever it changes, and each second.

        An engine that does not hold its own lease has not heard from the store for a while: it
        sends its callers to those who have. One that has just started is about to take its first.
        """
        await self._first_lease()
        while not self._draining.is_set():
            bell = self._holder.bell
            if not self._holder.is_held:
                raise refused(Reason.STORE_UNAVAILABLE)
            yield self._response(self._holder.assignments)
            await self._news(bell)
        raise refused(Reason.GOING_AWAY)

    async def _first_lease(self) -> None:
        """Return when a lease has been held since the start, or will not be in a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._sign_of_life_s):
                while not self._holder.assignments and not self._draining.is_set():
                    await self._news(self._holder.bell)

    async def _news(self, bell: asyncio.Event) -> None:
        """Return when *bell* rings, when the server drains, or when a sign of life is due."""
        waits = [asyncio.create_task(event.wait()) for event in (bell, self._draining)]
        try:
            await asyncio.wait(
                waits, timeout=self._sign_of_life_s, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            await cancel_all(waits)

    def _response(self, assignments: Sequence[Assignment]) -> pb.WatchShardsResponse:
        engines: dict[str, pb.WatchShardsResponse.Engine] = {}
        for shard, instance, address, epoch in assignments:
            self._epochs[shard] = epoch
            engine = engines.setdefault(
                instance, pb.WatchShardsResponse.Engine(instance=instance, address=address)
            )
            engine.shards.append(shard)
        # Each taking of a shard raises its own epoch, so that their sum only rises. The shards of
        # an engine that has lapsed are not among the assignments, and count with what they had.
        return pb.WatchShardsResponse(
            epoch=sum(self._epochs.values()), engines=[engines[name] for name in sorted(engines)]
        )
