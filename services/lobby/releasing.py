"""Nobody is kept from sitting down by a match that does not bind them any more (SETUP-2)."""

from typing import Final

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.telemetry import logs
from services.lobby import commands as c
from services.lobby.ports import Matches, NeighbourError, Rooms
from services.lobby.room import State

_log: Final = logs.get()


class Releasing:
    """Frees who is out of a match of which the records have not told so yet, or never will.

    The lobby learns from records, which may come late, and from a match that is quarantined none
    come. So whoever would be refused for the sake of a match is looked for in it first.
    """

    def __init__(self, rooms: Rooms, matches: Matches) -> None:
        self._rooms = rooms
        self._matches = matches

    async def release(self, command: c.Command, refusal: Refusal) -> bool:
        """Free whoever was refused because of a match that has let go of them.

        True if they are free, so that the command is decided anew; False if the match binds them,
        or nobody can say.

        Raises:
            StoreUnavailableError: see `Handlers.change`.

        """
        if refusal.reason is not Reason.ALREADY_IN_MATCH or "match_id" not in refusal.facts:
            return False
        assert isinstance(command, c.SeatingCommand)
        match_id = MatchId(str(refusal.facts["match_id"]))
        if await self._binds(str(refusal.facts["room_id"]), match_id, command.player):
            return False
        await self._rooms.release(command.player, match_id)
        _log.info("person_released", match_id=match_id)
        return True

    async def _binds(self, room_id: str, match_id: MatchId, player: str) -> bool:
        try:
            return await self._matches.binds(match_id, player)
        except NeighbourError as error:
            if str(error) != Reason.MATCH_NOT_FOUND:
                return True
        # That there is none means something only once it was made; before, it will be.
        room = await self._rooms.find(room_id)
        return room is None or room.state is not State.STARTED
