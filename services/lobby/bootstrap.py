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
from libs.eventlog.match_reading import MatchReader
from libs.eventlog.outbox import OutboxPublisher
from libs.eventlog.ports import EventLog
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
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
from services.lobby.ports import NeighbourError, Players
from services.lobby.quick import Filler, QuickMatches
from services.lobby.quick_store import PostgresQuickRooms
from services.lobby.reactors import ENDING, Endings
from services.lobby.servicer import ALLOWED, BELIEVED, SERVICE, LobbyServicer
from services.lobby.settings import LobbySection, LobbySettings
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
        players = PostgresPlayers(connections)
        publisher = OutboxPublisher(PostgresOutbox(connections), log, service=NAME)
        feed = RoomFeed(
            PostgresChanges(connections),
            partial(show_rooms, players, idle_ms=_ms(settings.lobby.room_idle_s)),
            look_s=settings.lobby.watch_look_s,
        )

        def on_record() -> None:
            publisher.ring()
            feed.ring()

        rooms, matches = PostgresRooms(connections), EngineMatches(engines)
        handlers = Handlers(rooms, matches, foundation.clock, on_record)
        ground = _Ground(settings.lobby, foundation.clock, connections, rooms, matches, handlers)
        making = await _making(ground, foundation, stack)
        reader = _reader(log, PostgresOutcomes(connections), engines, foundation.clock)
        background = await stack.enter_async_context(Background())
        loops = {"publisher": publisher.run, "reader": reader.run, "feed": feed.run}
        for name, run in (loops | making.loops).items():
            background.keep(f"lobby_{name}", run)
        server = _server(settings, foundation, _parts(ground, making, players, feed))
        yield await stack.enter_async_context(server)


class _Ground(NamedTuple):
    """What all that happens in rooms rests on."""

    section: LobbySection
    clock: Clock
    connections: Connections
    rooms: PostgresRooms
    matches: EngineMatches
    handlers: Handlers


class _Making(NamedTuple):
    """How rooms become matches that people get into, and what goes on by itself for that."""

    starter: Starter
    inviting: Inviting
    quick: QuickMatches
    loops: dict[str, Callable[[], Coroutine[Any, Any, None]]]


async def _making(ground: _Ground, foundation: Foundation, stack: AsyncExitStack) -> _Making:
    section, clock, connections, rooms, matches, handlers = ground
    peers, again_s = foundation.settings.peers, section.start_again_s
    bots = await stack.enter_async_context(foundation.channel(NAME, peers.bot_runner))
    progression = await stack.enter_async_context(foundation.channel(NAME, peers.progression))
    maker = Maker(rooms, handlers, matches, RunnerBots(bots), again_s=again_s)
    collections = ProgressionCollections(progression)
    starter = Starter(rooms, handlers, maker, collections, reply_s=section.start_reply_s)
    admitter = Admitter(rooms, matches, again_s=again_s)
    inviting = Inviting(rooms, handlers, admitter, clock, reply_s=section.start_reply_s)
    quick_rooms = PostgresQuickRooms(connections)
    filler = Filler(quick_rooms, starter, clock, again_s=again_s)
    idle_ms, look_s = _ms(section.room_idle_s), section.room_idle_look_s
    idling = Idling(rooms, handlers, clock, idle_ms=idle_ms, look_s=look_s)
    loops = {
        "maker": maker.run,
        "admitter": admitter.run,
        "filler": filler.run,
        "idling": idling.run,
    }
    quick = QuickMatches(quick_rooms, handlers, filler, clock)
    return _Making(starter, inviting, quick, loops)


def _parts(ground: _Ground, making: _Making, players: Players, feed: RoomFeed) -> Parts:
    return Parts(
        handlers=ground.handlers,
        starter=making.starter,
        inviting=making.inviting,
        quick=making.quick,
        rooms=ground.rooms,
        players=players,
        history=PostgresHistory(ground.connections),
        feed=feed,
        clock=ground.clock,
        idle_ms=_ms(ground.section.room_idle_s),
        quick_fill_ms=_ms(ground.section.quick_fill_s),
        heartbeat_s=ground.section.heartbeat_s,
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


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
    server.add(pb_grpc.add_LobbyServiceServicer_to_server, LobbyServicer(parts), SERVICE)
    return server
