"""What the lobby does by itself: it frees whoever is out of a match."""

from collections.abc import Sequence
from typing import Final

from libs.eventlog.following import ChainedRecord, Position
from libs.rules import events as e
from services.lobby.ports import Occupancy

_OUT: Final = (e.SeatBankrupted, e.SeatSurrendered)
_OVER: Final = (e.MatchEnded, e.MatchAborted)
FREEING: Final = (*_OUT, *_OVER)
"""The events that free somebody; nearly no record has any."""


class Freeing:
    """A `Projection` of matches: whoever is out of one is free (SETUP-2)."""

    def __init__(self, occupancy: Occupancy) -> None:
        self._occupancy = occupancy
        self.position = occupancy.position
        self.move = occupancy.move
        self.forget = occupancy.forget

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        """Free whom *events* put out, or everybody at the end. See `Projection.apply`."""
        is_over = any(isinstance(event, _OVER) for event in events)
        out = [event.seat for event in events if isinstance(event, _OUT)]
        position = Position(record.last_seq, record.hash)
        await self._occupancy.free(record.match_id, None if is_over else out, position)
        return True
