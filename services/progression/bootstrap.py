"""The composition root of progression."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from libs.chassis.background import Background
from libs.chassis.engine_records import EngineRecords
from libs.chassis.foundation import Foundation
from libs.chassis.process import Service
from libs.chassis.server import GrpcServer
from libs.eventlog.match_reading import MatchReader
from libs.eventlog.outbox import OutboxPublisher
from libs.kernel.chance import fresh_secret
from opolyx.progression.v1.progression_service_pb2_grpc import (
    add_ProgressionServiceServicer_to_server,
)
from services.progression.facts import FOLDED
from services.progression.outbox import PostgresOutbox
from services.progression.profiles import Profiles
from services.progression.ranking import Leaderboard
from services.progression.reactors import Rewarder
from services.progression.servicer import ALLOWED, BELIEVED, SERVICE, ProgressionServicer
from services.progression.settings import KEYS_FOLDER, ProgressionSettings
from services.progression.store import MIGRATIONS, SCHEMA, ProgressStore, open_sealer
from services.progression.watching import Watcher

NAME: Final = "progression"


def service(settings: ProgressionSettings, foundation: Foundation) -> Service:
    """Return progression, to be opened."""
    return Service(NAME, lambda: _opened(settings, foundation))


@asynccontextmanager
async def _opened(
    settings: ProgressionSettings, foundation: Foundation
) -> AsyncIterator[GrpcServer]:
    terms = foundation.terms(NAME, settings.progression, ALLOWED, believed=BELIEVED)
    server = GrpcServer(terms)
    async with (
        foundation.open_database(SCHEMA, MIGRATIONS) as connections,
        foundation.open_log() as log,
        foundation.engines(NAME) as engines,
    ):
        sealer = await open_sealer(settings.data_folder / KEYS_FOLDER, connections)
        publisher = OutboxPublisher(PostgresOutbox(connections), log, service=NAME)
        profiles = Profiles(connections)
        watcher = Watcher(profiles, settings.progression.poll_s)
        store = ProgressStore(connections, sealer)
        rewarder = Rewarder(
            store, foundation.clock, fresh_secret, _both(publisher.ring, watcher.ring)
        )
        reader = MatchReader(
            log=log,
            group=NAME,
            kinds=FOLDED,
            projection=rewarder,
            fetch=EngineRecords(engines),
            clock=foundation.clock,
        )
        servicer = ProgressionServicer(
            profiles,
            Leaderboard(connections),
            watcher,
            foundation.clock,
            heartbeat_s=settings.progression.heartbeat_s,
        )
        server.add(add_ProgressionServiceServicer_to_server, servicer, SERVICE)
        async with Background() as background:
            background.keep("progression_reader", reader.run)
            background.keep("progression_publisher", publisher.run)
            background.keep("progression_watcher", watcher.run)
            async with server:
                yield server


def _both(first: Callable[[], None], second: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        first()
        second()

    return call
