"""What the bot runner asks of its store."""

from collections.abc import Mapping
from typing import Protocol

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId

Seats = Mapping[int, str]
"""The strength of the bot in each seat that has one."""


class BotSeatStore(Protocol):
    """Keeps which seats are played by bots, and how far each match was read in the log (R2)."""

    async def take(self, match_id: MatchId, seats: Seats) -> None:
        """Play these seats from now on; those that are played already stay as they are.

        Durable when it returns. Nothing happens where the match is done.
        """
        ...

    async def going_on(self) -> dict[MatchId, dict[int, str]]:
        """Return all matches that are not done, in the order in which they were made."""
        ...

    async def finish(self, match_id: MatchId) -> None:
        """Be done with a match, for good."""
        ...

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match has been read in the log, from the start if not at all."""
        ...

    async def learn(self, match_id: MatchId, position: Position, seats: Seats) -> None:
        """Take the seats that the match's first record names, and move the position (R2)."""
        ...

    async def learn_end(self, match_id: MatchId, position: Position) -> None:
        """Be done with a match whose last record this is, and move the position (R2)."""
        ...

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Move matches on over records that had no effect; one that is further stays there."""
        ...

    async def forget(self, match_id: MatchId) -> None:
        """Let a match be read from its first record again. Its seats stay."""
        ...
