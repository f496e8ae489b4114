"""Has the owners of matches let in those who took an invitation, whatever crashes."""

import asyncio
from typing import Final

from libs.kernel.reasons import Reason
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs
from services.lobby.in_hand import InHand
from services.lobby.ports import Admission, Matches, NeighbourError, Rooms, reason_of

ADMITTING_MAX: Final = 100
"""How many guests are let in at a time (start)."""

NEVER: Final = frozenset({Reason.MATCH_NOT_FOUND, Reason.INVALID_REQUEST})
"""What an owner says who will never let a guest in."""

_log: Final = logs.get()


class Admitter:
    """Tells the owners of matches of each guest, as often as it takes."""

    def __init__(self, rooms: Rooms, matches: Matches, *, again_s: float) -> None:
        """Look for guests who are not let in yet every *again_s* seconds."""
        self._rooms = rooms
        self._matches = matches
        self._again_s = again_s
        self._in_hand: InHand[Admission] = InHand(self._admit)

    async def run(self) -> None:
        """Let in whom others left outside, a crashed replica's too, until cancelled."""
        await self._in_hand.run(
            lambda: self._rooms.admissions(limit=ADMITTING_MAX), again_s=self._again_s
        )

    def admit(self, admission: Admission) -> asyncio.Task[None]:
        """Begin to let a guest in, or join in if that goes on already.

        The task ends when the guest is in, or when that did not work; then `run` begins again.
        """
        return self._in_hand.begin(admission)

    async def _admit(self, admission: Admission) -> None:
        try:
            await self._matches.admit(admission)
            await self._rooms.admitted(admission)
        except (NeighbourError, StoreUnavailableError) as error:
            reason = reason_of(error)
            _log.warning("guest_not_admitted", match_id=admission.match_id, reason=reason)
            if reason in NEVER:
                await self._rooms.admitted(admission)
