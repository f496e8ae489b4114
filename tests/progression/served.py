"""Progression as its neighbours see it: the whole service, on a port of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libs.chassis.channels import on_behalf
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings, StoreSettings
from libs.chassis.server import GrpcServer
from libs.chassis.settings import SecretUrl
from libs.eventlog.ports import Entry, EventLog
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.clock import ManualClock
from libs.wire.record import StoredRecord
from opolyx.engine.v1 import caller_pb2
from opolyx.progression.v1 import profile_pb2
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2_grpc as pb_grpc
from services.progression.bootstrap import service
from services.progression.settings import ProgressionSection, ProgressionSettings

NOW_MS = 1_800_000_000_000


@dataclass
class Served:
    """The service while it is open, with the log that it reads and writes."""

    foundation: Foundation
    log: EventLog
    stub: pb_grpc.ProgressionServiceAsyncStub
    address: str

    async def publish(self, match_id: str, records: list[StoredRecord]) -> None:
        await self.log.append(
            [Entry(topic=MATCH_RECORDS.name, key=match_id, value=each.data) for each in records]
        )

    async def profile(self, player_id: str) -> profile_pb2.Profile:
        return await self.stub.GetProfile(pb.GetProfileRequest(player_id=player_id))

    def has_rewards(self, player_id: str, count: int = 1) -> Callable[[], Awaitable[bool]]:
        async def holds() -> bool:
            profile = await self.profile(player_id)
            return len(profile.recent_rewards) >= count

        return holds


def person(player_id: str) -> tuple[tuple[str, bytes], ...]:
    """Return the metadata of a call on behalf of a person."""
    return on_behalf(caller_pb2.Caller(player_id=player_id).SerializeToString())


@asynccontextmanager
async def serving(
    url: str,
    data_folder: Path,
    engine_address: str = "127.0.0.1:1",
    *,
    caller: str = "gateway",
    clock: ManualClock | None = None,
    **section: Any,
) -> AsyncIterator[Served]:
    """Open the service over the store at *url*, with settings of its section.

    It calls as the service *caller*.
    """
    settings = ProgressionSettings(
        data_folder=data_folder,
        store=StoreSettings(url=SecretUrl(url), unsafe=True),
        peers=PeerSettings(match_engines=engine_address),
        progression=ProgressionSection(port=0, **section),
    )
    foundation = Foundation(settings, clock or ManualClock(NOW_MS))
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(service(settings, foundation).open())
        assert isinstance(server, GrpcServer)
        log = await stack.enter_async_context(foundation.open_log())
        channel = foundation.channel(caller, server.address)
        stub = pb_grpc.ProgressionServiceStub(await stack.enter_async_context(channel))
        yield Served(foundation, log, stub, server.address)
