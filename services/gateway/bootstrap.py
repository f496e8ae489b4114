"""The composition root of the gateway."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from libs.chassis.background import Background
from libs.chassis.edge import Terms
from libs.chassis.engines import Engines
from libs.chassis.foundation import Foundation
from libs.chassis.issuing import refuse_beyond_loopback
from libs.chassis.limiting import Limiter
from libs.chassis.process import Service
from libs.chassis.server import GrpcServer
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from opolyx.gateway.v1.gateway_service_pb2_grpc import add_GatewayServiceServicer_to_server
from services.gateway import allowed, limits
from services.gateway.asking import Asking
from services.gateway.callers import Callers, Players
from services.gateway.deciding import Deciding
from services.gateway.following import EngineTime, Following
from services.gateway.forwarding import Forwarding
from services.gateway.informing import GatewayServicer
from services.gateway.matches import Matches
from services.gateway.playing import Commands
from services.gateway.servicer import MatchServicer
from services.gateway.settings import GatewaySection, GatewaySettings
from services.gateway.watching import Streams

NAME: Final = "gateway"


def service(settings: GatewaySettings, foundation: Foundation) -> Service:
    """Return the gateway, not open yet.

    Raises:
        SettingsError: it would take development tokens from beyond this machine, or the keys of the
            people's provider could not come from there safely.

    """
    section = settings.gateway
    refuse_beyond_loopback(settings.auth, [section.host])
    limiter = limits.limiter(section)
    terms = foundation.terms(
        NAME,
        section,
        allowed.allow_list(),
        people=True,
        believed=allowed.BELIEVED,
        limiter=limiter,
        streams=limits.open_streams(section),
        is_strict=True,
    )
    return Service(NAME, lambda: _opened(settings, foundation, terms, limiter))


@asynccontextmanager
async def _opened(
    settings: GatewaySettings, foundation: Foundation, terms: Terms, limiter: Limiter
) -> AsyncIterator[GrpcServer]:
    peers = settings.peers
    async with AsyncExitStack() as stack:
        lobby, progression, bot_runner = [
            await stack.enter_async_context(foundation.channel(NAME, target))
            for target in (peers.lobby, peers.progression, peers.bot_runner)
        ]
        engines = await stack.enter_async_context(foundation.engines(NAME))
        background = await stack.enter_async_context(Background())
        callers = Callers(Players(lobby, settings.auth.issuer))
        asking = Asking(engines, callers)
        streams = _streams(settings.gateway, foundation, engines, background, asking)
        commands = Commands(
            deciding=Deciding(engines, background, foundation.clock),
            limiter=limiter,
            timeout_s=settings.gateway.command_timeout_s,
        )
        server = GrpcServer(terms)
        forwarding = Forwarding(asking, callers)
        own = MatchServicer(callers=callers, commands=commands, streams=streams).handlers()
        match = own | forwarding.to_engines(allowed.MATCH_SERVICE, without=own)
        server.add_handlers(match, allowed.MATCH_SERVICE)
        info = GatewayServicer(settings.gateway, foundation.version, foundation.clock)
        server.add(add_GatewayServiceServicer_to_server, info, allowed.GATEWAY_SERVICE)
        for described, channel in (
            (allowed.LOBBY_SERVICE, lobby),
            (allowed.PROGRESSION_SERVICE, progression),
            (allowed.BOT_SERVICE, bot_runner),
        ):
            server.add_handlers(forwarding.to(channel, described), described)
        admin = forwarding.to_engines(allowed.ADMIN_SERVICE)
        server.add_handlers(admin, allowed.ADMIN_SERVICE)
        background.start(_drained(server, streams))
        yield await stack.enter_async_context(server)


def _streams(
    section: GatewaySection,
    foundation: Foundation,
    engines: Engines,
    background: Background,
    asking: Asking,
) -> Streams:
    """Return what clients' streams share."""
    time = EngineTime(foundation.clock)
    matches = Matches(
        engines, Following(background, time), background, move_timeout_s=section.move_timeout_s
    )
    return Streams(matches=matches, asking=asking, time=time, settings=section)


async def _drained(server: GrpcServer, streams: Streams) -> None:
    """Have every stream say go away once the server is about to stop."""
    await server.draining.wait()
    streams.close(refused(Reason.GOING_AWAY))
