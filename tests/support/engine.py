"""An engine as the readers of the log see it: it owns every match, and reads out records."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc

from libs.chassis.status import refused, status_of
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS
from libs.wire.record import StoredRecord
from opolyx.engine.v1 import shard_service_pb2 as shards_pb
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.record.v1 import stored_record_pb2 as record_pb

PAGE = 50

Context = grpc.aio.ServicerContext[Any, Any]


class Engine:
    """Holds the records of matches. *refuses* is what it says instead, by match."""

    def __init__(self) -> None:
        self.records: dict[str, list[StoredRecord]] = {}
        self.refuses: dict[str, Reason] = {}
        self.reads = 0
        self.address = ""

    def hold(self, match_id: str, records: Iterable[StoredRecord]) -> None:
        self.records[match_id] = list(records)

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """Return what answers the two methods that are called."""
        watch = grpc.unary_stream_rpc_method_handler(
            self._watch_shards,
            shards_pb.WatchShardsRequest.FromString,
            shards_pb.WatchShardsResponse.SerializeToString,
        )
        read = grpc.unary_unary_rpc_method_handler(
            self._read_events,
            match_pb.ReadEventsRequest.FromString,
            match_pb.ReadEventsResponse.SerializeToString,
        )
        return [
            grpc.method_handlers_generic_handler(
                "opolyx.engine.v1.ShardService", {"WatchShards": watch}
            ),
            grpc.method_handlers_generic_handler(
                "opolyx.match.v1.MatchService", {"ReadEvents": read}
            ),
        ]

    async def _watch_shards(self, _: shards_pb.WatchShardsRequest, context: Context) -> None:
        response = shards_pb.WatchShardsResponse(epoch=1)
        response.engines.add(instance="one", address=self.address, shards=range(SHARDS))
        await context.write(response)

    async def _read_events(
        self, request: match_pb.ReadEventsRequest, context: Context
    ) -> match_pb.ReadEventsResponse:
        self.reads += 1
        reason = self.refuses.get(request.match_id)
        if reason is None and request.match_id not in self.records:
            reason = Reason.MATCH_NOT_FOUND
        if reason is not None:
            await context.abort_with_status(status_of(refused(reason)))
        held = self.records[request.match_id]
        wanted = [each for each in held if each.last_seq > request.after_sequence][:PAGE]
        return match_pb.ReadEventsResponse(
            records=[record_pb.StoredRecord(**each._asdict()) for each in wanted],
            head_sequence=held[-1].last_seq,
        )


@asynccontextmanager
async def serving(engine: Engine) -> AsyncIterator[Engine]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(engine.handlers())
    engine.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield engine
    finally:
        await server.stop(None)
