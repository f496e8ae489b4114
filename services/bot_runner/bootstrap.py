"""The composition root of the bot runner."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Final

from libs.chassis.background import Background
from libs.chassis.engine_records import EngineRecords
from libs.chassis.foundation import Foundation
from libs.chassis.process import Service
from libs.chassis.server import GrpcServer
from libs.client.client import Client
from libs.eventlog.match_reading import MatchReader
from libs.kernel.ids import MatchId
from opolyx.bot.v1.bot_service_pb2_grpc import add_BotServiceServicer_to_server
from services.bot_runner.ports import BotSeatStore, Seats
from services.bot_runner.reactors import KINDS, Learner
from services.bot_runner.runner import Runner
from services.bot_runner.servicer import ALLOWED, BELIEVED, SERVICE, BotServicer
from services.bot_runner.settings import BotRunnerSettings
from services.bot_runner.sitting import Manner, play
from services.bot_runner.store import MIGRATIONS, SCHEMA, BotSeats

NAME: Final = "bot_runner"


def service(
    settings: BotRunnerSettings, foundation: Foundation, store: BotSeatStore | None = None
) -> Service:
    """Return the bot runner, to be opened. It stands on PostgreSQL unless *store* is handed in."""
    stands_on = _on_postgres(foundation) if store is None else nullcontext(store)
    return Service(NAME, lambda: _opened(settings, foundation, stands_on))


@asynccontextmanager
async def _on_postgres(foundation: Foundation) -> AsyncIterator[BotSeatStore]:
    async with foundation.open_database(SCHEMA, MIGRATIONS) as connections:
        yield BotSeats(connections)


@asynccontextmanager
async def _opened(
    settings: BotRunnerSettings,
    foundation: Foundation,
    stands_on: AbstractAsyncContextManager[BotSeatStore],
) -> AsyncIterator[GrpcServer]:
    section = settings.bot_runner
    manner = Manner(pace_ms=section.pace_ms, choice_limit_ms=section.choice_limit_ms)
    server = GrpcServer(foundation.terms(NAME, section, ALLOWED, believed=BELIEVED))
    async with (
        stands_on as seats,
        foundation.open_log() as log,
        foundation.engines(NAME) as engines,
        Client(foundation.channel(NAME, settings.peers.gateway)) as client,
    ):

        async def play_match(match_id: MatchId, strengths: Seats) -> None:
            await play(client, match_id, strengths, manner)

        runner = Runner(seats, play_match, matches_max=section.matches_max)
        reader = MatchReader(
            log=log,
            group=NAME,
            kinds=KINDS,
            projection=Learner(seats, runner.ring),
            fetch=EngineRecords(engines),
            clock=foundation.clock,
        )
        server.add(add_BotServiceServicer_to_server, BotServicer(seats, runner.ring), SERVICE)
        async with Background() as background:
            background.keep("bot_runner_bots", runner.run)
            background.keep("bot_runner_reader", reader.run)
            async with server:
                yield server
