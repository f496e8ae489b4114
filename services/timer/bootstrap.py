"""Puts the timer together."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from libs.chassis.background import Background
from libs.chassis.engine_records import EngineRecords
from libs.chassis.foundation import Foundation
from libs.chassis.process import Service
from libs.chassis.server import GrpcServer
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.timer.firing import TICK_S, Firing
from services.timer.learning import Learning, Store
from services.timer.servicer import ALLOWED, TimerServicer
from services.timer.settings import TimerSettings
from services.timer.store import MIGRATIONS, SCHEMA, FollowedMatches

NAME: Final = "timer"


def service(
    settings: TimerSettings,
    foundation: Foundation,
    store: Store | None = None,
    *,
    tick_s: float = TICK_S,
) -> Service:
    """Return the timer. It needs the store to open, and neither an engine nor anybody else.

    It stands on PostgreSQL, unless another *store* is handed in. See `Firing` for *tick_s*.
    """
    return Service(NAME, lambda: _opened(settings, foundation, store, tick_s))


@asynccontextmanager
async def _opened(
    settings: TimerSettings, foundation: Foundation, store: Store | None, tick_s: float
) -> AsyncIterator[GrpcServer]:
    async with AsyncExitStack() as stack:
        if store is None:
            connections = await stack.enter_async_context(
                foundation.open_database(SCHEMA, MIGRATIONS, size=2)
            )
            store = FollowedMatches(connections)
        log = await stack.enter_async_context(foundation.open_log())
        engines = await stack.enter_async_context(foundation.engines(NAME))
        firing = Firing(engines, foundation.clock, tick_s=tick_s)
        for match_id, followed in await store.going_on():
            firing.learn(match_id, followed.position.last_seq, followed.open())

        async def learn() -> None:
            # A new one each time: it begins where the store says.
            await Learning(
                store=store,
                learned=firing.learn,
                fetch=EngineRecords(engines),
                clock=foundation.clock,
                log=log,
            ).run()

        server = GrpcServer(foundation.terms(NAME, settings.timer, ALLOWED))
        descriptor = pb.DESCRIPTOR.services_by_name["TimerService"]
        server.add(pb_grpc.add_TimerServiceServicer_to_server, TimerServicer(firing), descriptor)
        async with Background() as background:
            background.start(firing.run())
            background.keep("timer_reader", learn)
            async with server:
                yield server
