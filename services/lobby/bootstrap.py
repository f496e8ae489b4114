"""Puts the lobby together."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

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
from services.lobby.admitting import Admitter
from services.lobby.changes import PostgresChanges
from services.lobby.edge import Parts, show_rooms
from services.lobby.feed import RoomFeed
from services.lobby.handlers import Handlers
from services.lobby.history import Outcomes
from services.lobby.history_store import PostgresHistory, PostgresOutcomes
from services.lobby.idling import Idling
from services.lobby.inviting import Inviting
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

        handlers = Handlers(rooms, EngineMatches(engines), foundation.clock, on_record)
        making = await _making(settings, foundation, stack, rooms, handlers, engines)
        reader = _reader(log, PostgresOutcomes(connections), engines, foundation.clock)
        background = await stack.enter_async_context(Background())
        loops = {"publisher": publisher.run, "reader": reader.run, "feed": feed.run}
        for name, run in (loops | making.loops).items():
            background.keep(f"lobby_{name}", run)
        parts = Parts(
            handlers=handlers,
            starter=making.starter,
            inviting=making.inviting,
            rooms=rooms,
            players=players,
            history=PostgresHistory(connections),
            feed=feed,
            clock=foundation.clock,
            idle_ms=idle_ms,
            heartbeat_s=settings.lobby.heartbeat_s,
        )
        server = _server(settings, foundation, parts)
        background.start(_drained(server, feed))
        yield await stack.enter_async_context(server)


async def _drained(server: GrpcServer, feed: RoomFeed) -> None:
    """Have every stream say go away once the server is about to stop."""
    await server.draining.wait()
    feed.close(refused(Reason.GOING_AWAY))


class _Making(NamedTuple):
    """What makes matches and lets guests into them, and what goes on by itself for that."""

    starter: Starter
    inviting: Inviting
    loops: dict[str, Callable[[], Coroutine[Any, Any, None]]]


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
    matches = EngineMatches(engines)
    maker = Maker(
        rooms,
        handlers,
        matches,
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
    admitter = Admitter(rooms, matches, again_s=settings.lobby.start_again_s)
    inviting = Inviting(
        rooms, handlers, admitter, foundation.clock, reply_s=settings.lobby.start_reply_s
    )
    idle_ms = round(settings.lobby.room_idle_s * 1000)
    look_s = settings.lobby.room_idle_look_s
    idling = Idling(rooms, handlers, foundation.clock, idle_ms=idle_ms, look_s=look_s)
    loops = {"maker": maker.run, "admitter": admitter.run, "idling": idling.run}
    return _Making(starter, inviting, loops)


def _reader(log: EventLog, outcomes: Outcomes, engines: Engines, clock: Clock) -> MatchReader:
    return MatchReader(
        log=log,
        group=NAME,
        kinds=ENDING,
        projection=Endings(outcomes),
        fetch=EngineRecords(engines),
        clock=clock,
    )


def _server(settings: LobbySettings, foundation: Foundation, parts: Parts) -> GrpcServer:
    terms = foundation.terms(
        NAME,
        settings.lobby,
        ALLOWED,
        believed=BELIEVED,
        operational={NeighbourError: Reason.STORE_UNAVAILABLE},
    )
    server = GrpcServer(terms)
    servicer = LobbyServicer(parts)  # type: ignore[abstract] # until it is whole
    server.add(pb_grpc.add_LobbyServiceServicer_to_server, servicer, SERVICE)
    return server
