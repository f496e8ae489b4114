"""Puts the lobby together."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from libs.chassis.background import Background
from libs.chassis.engine_records import EngineRecords
from libs.chassis.engines import Engines
from libs.chassis.foundation import Foundation
from libs.chassis.process import Service
from libs.chassis.server import GrpcServer
from libs.chassis.status import refused
from libs.eventlog.match_reading import MatchReader
from libs.eventlog.outbox import OutboxPublisher
from libs.eventlog.ports import EventLog
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from opolyx.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from services.lobby.changes import PostgresChanges
from services.lobby.edge import Parts, show_rooms
from services.lobby.feed import RoomFeed
from services.lobby.handlers import Handlers
from services.lobby.history import Outcomes
from services.lobby.history_store import PostgresHistory, PostgresOutcomes
from services.lobby.neighbours import EngineMatches, ProgressionCollections, RunnerBots
from services.lobby.outbox import PostgresOutbox
from services.lobby.ports import NeighbourError, Rooms
from services.lobby.reactors import ENDING, Endings
from services.lobby.servicer import ALLOWED, BELIEVED, SERVICE, LobbyServicer
from services.lobby.settings import LobbySettings
from services.lobby.starting import Maker, Starter
from services.lobby.store import PostgresPlayers, PostgresRooms

NAME: Final = "lobby"
MIGRATIONS: Final = Path(__file__).with_name("migrations")


def service(settings: LobbySettings, foundation: Foundation) -> Service:
    """Return the lobby, to be opened. It needs the store and the log, and no other service."""
    return Service(NAME, lambda: _open(settings, foundation))


@asynccontextmanager
async def _open(settings: LobbySettings, foundation: Foundation) -> AsyncIterator[GrpcServer]:
    async with AsyncExitStack() as stack:
        connections = await stack.enter_async_context(
            foundation.open_database(NAME, MIGRATIONS, size=settings.lobby.store_connections)
        )
        log = await stack.enter_async_context(foundation.open_log())
        engines = await stack.enter_async_context(foundation.engines(NAME))
        rooms = PostgresRooms(connections)
        publisher = OutboxPublisher(PostgresOutbox(connections), log, service=NAME)
        players, idle_ms = PostgresPlayers(connections), round(settings.lobby.room_idle_s * 1000)
        feed = RoomFeed(
            PostgresChanges(connections),
            partial(show_rooms, players, idle_ms=idle_ms),
            look_s=settings.lobby.watch_look_s,
        )

        def on_record() -> None:
            publisher.ring()
            feed.ring()

        handlers = Handlers(rooms, foundation.clock, on_record)
        making = await _making(settings, foundation, stack, rooms, handlers, engines)
        reader = _reader(log, PostgresOutcomes(connections), engines, foundation.clock)

        background = await stack.enter_async_context(Background())
        background.keep("lobby_publisher", publisher.run)
        background.keep("lobby_maker", making.maker.run)
        background.keep("lobby_reader", reader.run)
        background.keep("lobby_feed", feed.run)
        parts = Parts(
            handlers=handlers,
            starter=making.starter,
            rooms=rooms,
            players=players,
            history=PostgresHistory(connections),
            feed=feed,
            clock=foundation.clock,
            idle_ms=idle_ms,
            heartbeat_s=settings.lobby.heartbeat_s,
        )
        servicer = LobbyServicer(parts)  # type: ignore[abstract] # until it is whole
        server = _server(settings, foundation, servicer)
        background.start(_drained(server, feed))
        yield await stack.enter_async_context(server)


async def _drained(server: GrpcServer, feed: RoomFeed) -> None:
    """Have every stream say go away once the server is about to stop."""
    await server.draining.wait()
    feed.close(refused(Reason.GOING_AWAY))


class _Making(NamedTuple):
    """What makes matches, and what begins to."""

    maker: Maker
    starter: Starter


async def _making(  # noqa: PLR0913, PLR0917 - all that a start takes
    settings: LobbySettings,
    foundation: Foundation,
    stack: AsyncExitStack,
    rooms: Rooms,
    handlers: Handlers,
    engines: Engines,
) -> _Making:
    peers = foundation.settings.peers
    bots = await stack.enter_async_context(foundation.channel(NAME, peers.bot_runner))
    progression = await stack.enter_async_context(foundation.channel(NAME, peers.progression))
    maker = Maker(
        rooms,
        handlers,
        EngineMatches(engines),
        RunnerBots(bots),
        again_s=settings.lobby.start_again_s,
    )
    starter = Starter(
        rooms,
        handlers,
        maker,
        ProgressionCollections(progression),
        reply_s=settings.lobby.start_reply_s,
    )
    return _Making(maker, starter)


def _reader(log: EventLog, outcomes: Outcomes, engines: Engines, clock: Clock) -> MatchReader:
    return MatchReader(
        log=log,
        group=NAME,
        kinds=ENDING,
        projection=Endings(outcomes),
        fetch=EngineRecords(engines),
        clock=clock,
    )


def _server(settings: LobbySettings, foundation: Foundation, servicer: LobbyServicer) -> GrpcServer:
    terms = foundation.terms(
        NAME,
        settings.lobby,
        ALLOWED,
        believed=BELIEVED,
        operational={NeighbourError: Reason.STORE_UNAVAILABLE},
    )
    server = GrpcServer(terms)
    server.add(pb_grpc.add_LobbyServiceServicer_to_server, servicer, SERVICE)
    return server
