"""A person's seat at a table, played by this command line."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple

from libs.bots.strengths import STRENGTHS
from libs.client.replies import Reply
from libs.client.rooms import new_command_id
from libs.client.table import Table
from libs.kernel.ids import CommandId
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.views import View

STRENGTH: Final = "steady"
"""As which of the bots this command line plays, unless somebody wants another."""


class Answered(NamedTuple):
    """A command that was sent, and its reply."""

    command_id: CommandId
    reply: Reply


class PlayedSeat:
    """Decides for one seat of a match, whenever it has something to decide."""

    def __init__(self, table: Table, seat: int, seed: int, strength: str = STRENGTH) -> None:
        """Sit down; *seed* is what the seat adds to the chance of the match."""
        self._table = table
        self._seat = seat
        self._strength = strength
        self._client_seed = sha256(f"opolyx/demo/1 {seed}".encode()).digest()
        self._choose: Callable[[], c.SeatCommand | None] | None = None

    async def play(self) -> Answered | None:
        """Send what there is to do now, if anything is, and return what became of it.

        Somebody may be faster, and then it is refused: the next record brings the next occasion.
        """
        match = self._table.match
        command = self.decide()
        if command is None:
            return None
        command_id = new_command_id()
        sequence = match.sequence
        reply = await self._table.submit(command, command_id, expected_sequence=sequence)
        return Answered(command_id, reply)

    def decide(self) -> c.SeatCommand | None:
        """Return what there is to do now, if anything is."""
        match = self._table.match
        if match.phase == phases.ENDED:
            return None
        if match.phase == phases.SEEDING:
            is_given = match.client_seeds[self._seat] is not None
            return None if is_given else c.ContributeSeed(self._seat, self._client_seed)
        if not is_asked(match, self._seat):
            return None
        if self._choose is None:
            legal = LegalCommands(match, self._seat)
            view, choose = View(match, self._seat), STRENGTHS[self._strength]
            self._choose = lambda: choose(view, legal)
        return self._choose()


def is_asked(match: Match, seat: int) -> bool:
    """Tell whether somebody waits for this seat."""
    if match.deadline is not None and match.deadline.seat == seat:
        return True
    if any(debt.debtor == seat for debt in match.debts):
        return True
    return match.phase != phases.AUCTION and any(o.receiver == seat for o in match.offers)
