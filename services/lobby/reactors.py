"""What the lobby does by itself: it frees whoever is out of a match, and notes how it went."""

from collections.abc import Sequence
from typing import Final

from libs.eventlog.following import ChainedRecord, Position
from libs.rules import events as e
from libs.wire.record import open_envelope
from services.lobby.history import Fate, Outcome, Outcomes

_OUT: Final = (e.SeatBankrupted, e.SeatSurrendered)
_OVER: Final = (e.MatchEnded, e.MatchAborted)
ENDING: Final = (*_OUT, *_OVER)
"""The events that end a match for somebody; nearly no record has any."""


class Endings:
    """A `Projection` of matches: whoever is out of one is free (SETUP-2), and has won or lost."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes
        self.position = outcomes.position
        self.move = outcomes.move
        self.forget = outcomes.forget

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        """Note whom *events* put out, or how it ended. See `Projection.apply`."""
        match_id, position = record.match_id, Position(record.last_seq, record.hash)
        at_ms = open_envelope(record.data).at_ms
        over = next((event for event in events if isinstance(event, _OVER)), None)
        if isinstance(over, e.MatchEnded):
            await self._outcomes.end(match_id, _fates(over), at_ms, position)
        elif over is not None:
            await self._outcomes.abort(match_id, at_ms, position)
        else:
            out = [event.seat for event in events if isinstance(event, _OUT)]
            await self._outcomes.put_out(match_id, out, at_ms, position)
        return True


def _fates(ended: e.MatchEnded) -> list[Fate]:
    return [
        Fate(seat, Outcome.WON if seat in ended.winners else Outcome.LOST, place)
        for place, seat in enumerate(ended.placing, start=1)
    ]
