"""Learns of the seats of bots from the records of matches too.

So a call of the lobby that is lost costs time, and no match.
"""

from collections.abc import Callable, Sequence
from typing import Final

from libs.eventlog.following import ChainedRecord, Position
from libs.rules import events as e
from services.bot_runner.ports import BotSeatStore

KINDS: Final = (e.MatchCreated, e.MatchEnded, e.MatchAborted)
"""The events that matter here."""


class Learner:
    """A `Projection` of matches: seats are taken at the first record, and let go of at the last."""

    def __init__(self, seats: BotSeatStore, learned: Callable[[], None]) -> None:
        """Learn into *seats*; *learned* is called when there are new ones."""
        self._seats = seats
        self._learned = learned
        self.position = seats.position
        self.move = seats.move
        self.forget = seats.forget

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        """Take the seats that *events* name, or be done with the match. See `Projection.apply`."""
        position = Position(record.last_seq, record.hash)
        is_written = False
        for event in events:
            match event:
                case e.MatchCreated(seats=specs):
                    bots = {n: spec.strength for n, spec in enumerate(specs) if spec.kind == e.BOT}
                    if bots:
                        await self._seats.learn(record.match_id, position, bots)
                        self._learned()
                        is_written = True
                case _:
                    await self._seats.learn_end(record.match_id, position)
                    is_written = True
        return is_written
