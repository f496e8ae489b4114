"""The bot runner as it is served: its own server, tables and log, and a gateway to play at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from libs.chassis.channels import Channel
from libs.chassis.foundation import Foundation
from libs.chassis.sections import PeerSettings, StoreSettings
from libs.chassis.server import GrpcServer
from libs.chassis.settings import SecretUrl
from libs.eventlog.ports import Entry, EventLog
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.command_ids import fire_id
from libs.wire.record import StoredRecord
from opolyx.bot.v1 import bot_service_pb2 as pb
from opolyx.bot.v1 import bot_service_pb2_grpc as pb_grpc
from services.bot_runner.bootstrap import service
from services.bot_runner.settings import BotRunnerSection, BotRunnerSettings
from tests.support.gateway import LiveMatch

NOWHERE = "127.0.0.1:9"


class Served:
    """A bot runner that is open, as the lobby sees it."""

    def __init__(self, channel: Channel, log: EventLog) -> None:
        self.bots = pb_grpc.BotServiceStub(channel)
        self.log = log

    async def seat(self, live: LiveMatch, seats: dict[int, str]) -> None:
        """Have bots play."""
        await self.bots.SeatBots(request(live, seats))

    async def publish(self, live: LiveMatch, records: Sequence[StoredRecord]) -> None:
        """Put records of a match into the log."""
        await self.log.append(
            [
                Entry(topic=MATCH_RECORDS.name, key=live.match_id, value=record.data)
                for record in records
            ]
        )


def request(live: LiveMatch, seats: dict[int, str]) -> pb.SeatBotsRequest:
    """Return a request for seats of a match."""
    return pb.SeatBotsRequest(
        command_id=fire_id(live.match_id, "any"),
        match_id=live.match_id,
        seats=[pb.SeatBotsRequest.BotSeat(seat=n, strength=s) for n, s in seats.items()],
    )


def settings_of(folder: Path, database: str, gateway: str, **section: int) -> BotRunnerSettings:
    """Return settings of a bot runner that plays as fast as it can."""
    return BotRunnerSettings(
        data_folder=folder,
        store=StoreSettings(url=SecretUrl(database), unsafe=True),
        peers=PeerSettings(gateway=gateway, match_engines=NOWHERE),
        bot_runner=BotRunnerSection(**{"port": 0, "pace_ms": 0, **section}),  # type: ignore[arg-type]
    )


@asynccontextmanager
async def serving(settings: BotRunnerSettings, caller: str = "lobby") -> AsyncIterator[Served]:
    """Open a bot runner, and call it as *caller*."""
    foundation = Foundation(settings)
    async with service(settings, foundation).open() as server, foundation.open_log() as log:
        assert isinstance(server, GrpcServer)
        async with foundation.channel(caller, server.address) as channel:
            yield Served(channel, log)
