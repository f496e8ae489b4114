"""BotService over gRPC: which bots there are, and seats for them."""

from collections.abc import Callable
from typing import Final

import grpc

from libs.bots.strengths import SEATS_MOST, STRENGTHS
from libs.chassis.roles import AllowList, service
from libs.kernel.ids import MatchId
from libs.wire.paging import page_of
from libs.wire.requests import Checks
from opolyx.bot.v1 import bot_service_pb2 as pb
from opolyx.bot.v1 import bot_service_pb2_grpc as pb_grpc
from services.bot_runner.ports import BotSeatStore

SERVICE: Final = pb.DESCRIPTOR.services_by_name["BotService"]

BELIEVED: Final = ("gateway",)
"""The services that may call on behalf of others. Whoever it is, the bots are the same."""

ALLOWED: Final = AllowList(
    {
        f"{SERVICE.full_name}/ListBots": [service("gateway"), service("lobby")],
        f"{SERVICE.full_name}/SeatBots": [service("lobby")],
    }
)

DESCRIPTIONS: Final = {
    "novice": "Keeps its cash together, thinks little of groups and bets whenever it can.",
    "steady": "Buys, completes groups and builds, with something left for the next rent.",
    "shark": "Puts all it has into groups and levels, and leaves little to the other side of a "
    "trade.",
}

assert list(DESCRIPTIONS) == list(STRENGTHS), "every bot is described, from the weakest up"


class BotServicer(pb_grpc.BotServiceServicer):
    """Lists bots, and takes their seats down; whoever plays them is told by *seated*."""

    def __init__(self, seats: BotSeatStore, seated: Callable[[], None]) -> None:
        self._seats = seats
        self._seated = seated

    async def ListBots(  # noqa: N802 - as the proto has it
        self,
        request: pb.ListBotsRequest,
        context: grpc.aio.ServicerContext[pb.ListBotsRequest, pb.ListBotsResponse],  # noqa: ARG002
    ) -> pb.ListBotsResponse:
        """List the bots, from the weakest to the strongest."""
        page, token = page_of(request, list(STRENGTHS))
        return pb.ListBotsResponse(
            bots=[pb.Bot(strength=name, description=DESCRIPTIONS[name]) for name in page],
            next_page_token=token,
        )

    async def SeatBots(  # noqa: N802 - as the proto has it
        self,
        request: pb.SeatBotsRequest,
        context: grpc.aio.ServicerContext[pb.SeatBotsRequest, pb.SeatBotsResponse],  # noqa: ARG002
    ) -> pb.SeatBotsResponse:
        """Have bots play from now on. Durable when it returns; idempotent by what it asks for."""
        checks = Checks()
        checks.command_id("command_id", request.command_id, of_service=True)
        checks.uuid("match_id", request.match_id)
        seats = _seats(request, checks)
        checks.finish()
        await self._seats.take(MatchId(request.match_id), seats)
        self._seated()
        return pb.SeatBotsResponse()


def _seats(request: pb.SeatBotsRequest, checks: Checks) -> dict[int, str]:
    if not request.seats:
        checks.add("seats", "is missing")
    seats: dict[int, str] = {}
    for place, asked in enumerate(request.seats):
        if not 0 <= asked.seat < SEATS_MOST:
            checks.add(f"seats[{place}].seat", f"must be from 0 to {SEATS_MOST - 1}")
        elif asked.seat in seats:
            checks.add(f"seats[{place}].seat", "is there twice")
        if asked.strength not in STRENGTHS:
            checks.add(f"seats[{place}].strength", f"must be one of {', '.join(STRENGTHS)}")
        seats[asked.seat] = asked.strength
    return seats
