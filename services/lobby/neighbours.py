"""The services that the lobby calls: engines, the bot runner, progression."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import grpc

from libs.chassis.channels import Channel
from libs.chassis.engines import Engines
from libs.chassis.status import RefusedError, answer_of
from libs.kernel.ids import MatchId, derived_command_id
from libs.kernel.reasons import Reason
from libs.rules.cards import RARITIES
from libs.wire.words import words_by_number
from libs.wire.writers import spec_message
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.bot.v1.bot_service_pb2_grpc import BotServiceStub
from opolyx.match.v1 import match_pb2
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.match.v1.match_service_pb2_grpc import MatchServiceStub
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub
from opolyx.record.v1 import event_pb2 as record_pb
from services.lobby.commands import Cards
from services.lobby.events import Watching
from services.lobby.ports import Admission, MatchPlan, NeighbourError
from services.lobby.wire import watching_number

ENGINE_S: Final = 2.0
"""How long a try to make a match may take (start); the next one comes by itself."""

LOOK_S: Final = 1.0
"""How long an engine may take to tell whether somebody still plays, while they wait (start)."""

BOTS_S: Final = 1.0
"""How long the bot runner may take to hear of its seats (start)."""

CARDS_S: Final = 2.0
"""How long progression may take to tell somebody's cards, while they wait for a start (start)."""

_PAGE: Final = 200
_RARITIES: Final = words_by_number(record_pb.CollectionCard.Rarity)


class EngineMatches:
    """`Matches`, by the engine that owns each."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def create(self, plan: MatchPlan) -> None:
        """Make a match. See `Matches.create`."""
        request = match_pb.CreateMatchRequest(
            # The same for every try, by whomever.
            command_id=derived_command_id(plan.match_id, "create"),
            match_id=plan.match_id,
            rule_set=plan.rule_set,
            seats=map(spec_message, plan.seats),
        )
        if plan.watching is not Watching.EVERYBODY:
            request.access.watching = watching_number(plan.watching)
            request.access.guest_ids.extend(sorted(plan.guests))

        async def work(channel: Channel) -> None:
            await MatchServiceStub(channel).CreateMatch(request, timeout=ENGINE_S)

        with _answering():
            await self._engines.call(plan.match_id, work, timeout_s=ENGINE_S)

    async def binds(self, match_id: MatchId, player: str) -> bool:
        """Tell whether somebody still plays. See `Matches.binds`."""
        request = match_pb.GetMatchRequest(match_id=match_id)

        async def work(channel: Channel) -> match_pb2.Match:
            return await MatchServiceStub(channel).GetMatch(request, timeout=LOOK_S)

        try:
            with _answering():
                match = await self._engines.call(match_id, work, timeout_s=LOOK_S)
        except NeighbourError as error:
            if str(error) == Reason.MATCH_QUARANTINED:
                return False
            raise
        if match.phase == match_pb2.Match.PHASE_ENDED:
            return False
        return any(seat.spec.player == player and not seat.out for seat in match.seats)

    async def admit(self, admission: Admission) -> None:
        """Let a guest in. See `Matches.admit`."""
        request = match_pb.AdmitGuestRequest(
            match_id=admission.match_id, player_id=admission.player_id
        )

        async def work(channel: Channel) -> None:
            await MatchServiceStub(channel).AdmitGuest(request, timeout=ENGINE_S)

        with _answering():
            await self._engines.call(admission.match_id, work, timeout_s=ENGINE_S)


class RunnerBots:
    """`Bots`, by the bot runner."""

    def __init__(self, channel: Channel) -> None:
        self._bots = BotServiceStub(channel)

    async def seat(self, plan: MatchPlan) -> None:
        """Have bots play. See `Bots.seat`."""
        request = bot_pb.SeatBotsRequest(
            command_id=derived_command_id(plan.match_id, "seat-bots"), match_id=plan.match_id
        )
        for seat, spec in enumerate(plan.seats):
            if spec.strength:
                request.seats.add(seat=seat, strength=spec.strength)
        with _answering():
            await self._bots.SeatBots(request, timeout=BOTS_S)


class ProgressionCollections:
    """`Collections`, by progression."""

    def __init__(self, channel: Channel) -> None:
        self._progression = ProgressionServiceStub(channel)

    async def best_cards(self, player: str) -> Cards:
        """Return the best card of each square. See `Collections.best_cards`."""
        best: dict[int, str] = {}
        request = progression_pb.ListCardsRequest(player_id=player, page_size=_PAGE)
        while True:
            with _answering():
                page = await self._progression.ListCards(request, timeout=CARDS_S)
            for collected in page.cards:
                square, rarity = collected.card.square, _RARITIES[collected.card.rarity]
                known = best.get(square)
                if known is None or RARITIES.index(rarity) > RARITIES.index(known):
                    best[square] = rarity
            if not page.next_page_token:
                return tuple(sorted(best.items()))
            request.page_token = page.next_page_token


@contextmanager
def _answering() -> Iterator[None]:
    """Make a neighbour's error of whatever ends a call."""
    try:
        yield
    except RefusedError as error:
        raise NeighbourError(error.told.reason) from error
    except grpc.aio.AioRpcError as error:
        told = answer_of(error).told
        raise NeighbourError(error.code().name if told is None else told.reason) from error
