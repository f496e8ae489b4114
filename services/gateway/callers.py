"""On whose behalf the gateway calls: a person's player id, a bot's seat, or nobody."""

import asyncio
from collections import OrderedDict
from functools import partial
from typing import Final

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


class Players:
    """Knows which player a token's subject is: the lobby says so once, and it is kept.

    However many calls of one person come at once, the lobby is asked one time.
    """

    def __init__(self, lobby: Channel, issuer: str, *, kept: int = PLAYERS_KEPT) -> None:
        """Ask the lobby for the subjects of *issuer*, and keep *kept* answers."""
        self._stub = pb_grpc.LobbyServiceStub(lobby)
        self._issuer = issuer
        self._kept = kept
        self._known: OrderedDict[str, str] = OrderedDict()
        self._asking: dict[str, asyncio.Task[str]] = {}

    async def find(self, subject: str, name: str) -> str:
        """Return the player id of a subject, whom its token calls *name*.

        Raises:
            grpc.aio.AioRpcError: the lobby is not there, or refuses.

        """
        player_id = self._known.get(subject)
        if player_id is not None:
            self._known.move_to_end(subject)
            return player_id
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
        player = await self._stub.ResolvePlayer(request, timeout=TIMEOUT_S)
        self._known[subject] = player.player_id
        if len(self._known) > self._kept:
            self._known.popitem(last=False)
        return player.player_id


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
