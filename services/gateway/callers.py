"""On whose behalf the gateway calls: a person's player id, a bot's seat, or nobody."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import grpc
from grpc import StatusCode

from libs.chassis import identity
from libs.chassis.channels import TIMEOUT_S, Channel
from libs.chassis.roles import OPERATOR, SPECTATOR
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as pb_grpc

PLAYERS_KEPT: Final = 100_000
"""Of how many people it is kept which player they are (start)."""

LIFE_S: Final = 600.0
"""How long that is kept before the lobby is asked again: somebody who was erased is another player
from then on (start)."""

AGAIN_S: Final = 60.0
"""How long what is known is good where the lobby should have been asked and was away (start)."""

_AWAY: Final = frozenset(
    {StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.RESOURCE_EXHAUSTED}
)


class _Known(NamedTuple):
    """Which player somebody is, and until when that is taken for granted."""

    player_id: str
    until_s: float


class Players:
    """Knows which player a token's subject is: the lobby says so, and it is kept for a while.

    However many calls of one person come at once, the lobby is asked one time. Whoever is known
    goes on playing while it is away.
    """

    def __init__(
        self,
        lobby: Channel,
        issuer: str,
        *,
        kept: int = PLAYERS_KEPT,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask the lobby for the subjects of *issuer*, and keep *kept* answers."""
        self._stub = pb_grpc.LobbyServiceStub(lobby)
        self._issuer = issuer
        self._kept = kept
        self._monotonic_s = monotonic_s
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[str]] = {}

    async def find(self, subject: str, name: str) -> str:
        """Return the player id of a subject, whom its token calls *name*.

        Raises:
            grpc.aio.AioRpcError: the lobby is not there, or refuses.

        """
        known = self._known.get(subject)
        if known is not None and self._monotonic_s() < known.until_s:
            self._known.move_to_end(subject)
            return known.player_id
        asking = self._asking.get(subject)
        if asking is None:
            asking = self._asking[subject] = asyncio.create_task(self._ask(subject, name))
            asking.add_done_callback(partial(self._asked, subject))
        # Not cancelled with whoever asks first: others wait for it too.
        return await asyncio.shield(asking)

    def _asked(self, subject: str, asking: asyncio.Task[str]) -> None:
        del self._asking[subject]
        if not asking.cancelled():
            asking.exception()  # nobody may be left to hear of it

    async def _ask(self, subject: str, name: str) -> str:
        request = pb.ResolvePlayerRequest(issuer=self._issuer, subject=subject, display_name=name)
        known = self._known.pop(subject, None)
        try:
            player = await self._stub.ResolvePlayer(request, timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            if known is None or error.code() not in _AWAY:
                raise
            return self._keep(subject, known.player_id, AGAIN_S)
        return self._keep(subject, player.player_id, LIFE_S)

    def _keep(self, subject: str, player_id: str, life_s: float) -> str:
        self._known[subject] = _Known(player_id, self._monotonic_s() + life_s)
        if len(self._known) > self._kept:
            self._known.popitem(last=False)
        return player_id


class Callers:
    """Says for whom the call is made that is being handled."""

    def __init__(self, players: Players) -> None:
        self._players = players

    async def present(self) -> Caller:
        """Return the caller, as the other services are told of it.

        Somebody who may only watch is nobody there, whichever seat the same account has. An
        operator is one under the same player id, and may have a seat.

        Raises:
            RefusedError: NOT_ALLOWED, a service does not say for which bot's seat it calls.
            grpc.aio.AioRpcError: see `Players.find`.

        """
        made_by = identity.caller()
        if made_by.service is not None:
            return _bot_of(made_by.on_behalf)
        if not made_by.subject or SPECTATOR in made_by.roles:
            return Caller()
        player_id = await self._players.find(made_by.subject, made_by.name)
        if OPERATOR in made_by.roles:
            return Caller(operator_id=player_id)
        return Caller(player_id=player_id)


def _bot_of(on_behalf: Caller | None) -> Caller:
    if on_behalf is None or not on_behalf.HasField("bot_seat"):
        raise refused(Reason.NOT_ALLOWED)
    return on_behalf
