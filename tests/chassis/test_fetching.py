"""A reader's gap is filled by the owner of the match (R1)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from libs.chassis.engines import Engines
from libs.chassis.fetching import fetch_by
from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.roles import AllowList, service
from libs.chassis.sections import PeerSettings, ServerSettings
from libs.chassis.server import GrpcServer
from libs.chassis.status import refused
from libs.eventlog.reading import UnfetchedError
from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import SHARDS
from opolyx.engine.v1 import shard_service_pb2 as shard_pb
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from opolyx.record.v1.stored_record_pb2 import StoredRecord
from tests.support.waiting import until

MATCH = MatchId("0190a000-0000-7000-8000-000000000001")
_Unimplemented: Any = pb_grpc.MatchServiceServicer


class Engine(_Unimplemented):  # type: ignore[misc] # its stubs say abstract, and it is not
    """An engine with all shards, and one match of three records."""

    def __init__(self) -> None:
        self.address = ""
        self.refuses: Reason | None = None

    async def ReadEvents(  # noqa: N802
        self, request: pb.ReadEventsRequest, _: Any
    ) -> pb.ReadEventsResponse:
        if self.refuses is not None:
            raise refused(self.refuses)
        records = [b"one", b"two", b"three"][request.after_sequence :]
        return pb.ReadEventsResponse(records=[StoredRecord(data=data) for data in records])

    async def WatchShards(  # noqa: N802
        self, _: Any, __: Any
    ) -> AsyncIterator[shard_pb.WatchShardsResponse]:
        mine = shard_pb.WatchShardsResponse.Engine(address=self.address, shards=range(SHARDS))
        yield shard_pb.WatchShardsResponse(epoch=1, engines=[mine])


@asynccontextmanager
async def engines_of(folder: Path, clock: ManualClock, engine: Engine) -> AsyncIterator[Engines]:
    laid = Foundation(NodeSettings(data_folder=folder), clock)
    described = (
        pb.DESCRIPTOR.services_by_name["MatchService"],
        shard_pb.DESCRIPTOR.services_by_name["ShardService"],
    )
    allowed = AllowList(
        {f"{s.full_name}/{m.name}": [service("timer")] for s in described for m in s.methods}
    )
    server = GrpcServer(laid.terms("match_engine", ServerSettings(stream_grace_s=0), allowed))
    server.add(pb_grpc.add_MatchServiceServicer_to_server, engine, described[0])
    server.add(shard_grpc.add_ShardServiceServicer_to_server, engine, described[1])
    async with server:
        engine.address = server.address
        peers = PeerSettings(match_engines=server.address)
        foundation = Foundation(NodeSettings(data_folder=folder, peers=peers), clock)
        async with foundation.engines("timer") as engines:
            await until(lambda: engines.owner(MATCH) is not None)
            yield engines


async def test_the_records_after_a_sequence_are_fetched(tmp_path: Path, clock: ManualClock) -> None:
    async with engines_of(tmp_path, clock, Engine()) as engines:
        fetched = await fetch_by(engines)(MATCH, 1)

    assert fetched == [b"two", b"three"]


async def test_a_match_that_there_is_not_has_no_records(tmp_path: Path, clock: ManualClock) -> None:
    engine = Engine()
    engine.refuses = Reason.MATCH_NOT_FOUND
    async with engines_of(tmp_path, clock, engine) as engines:
        assert await fetch_by(engines)(MATCH, 1) == ()


async def test_an_engine_that_does_not_answer_for_a_match_is_asked_again_later(
    tmp_path: Path, clock: ManualClock
) -> None:
    engine = Engine()
    engine.refuses = Reason.MATCH_QUARANTINED
    async with engines_of(tmp_path, clock, engine) as engines:
        with pytest.raises(UnfetchedError, match=Reason.MATCH_QUARANTINED):
            await fetch_by(engines)(MATCH, 1)
