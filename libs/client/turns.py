"""What the caller's seat is asked, and what it may answer."""

from typing import Final, Protocol

from libs.client.replies import Accepted, Reply
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import Choice, LegalCommands
from libs.rules.match import Match
from libs.rules.views import View

_ASKS_NOBODY: Final = frozenset({phases.UNBORN, phases.SEEDING, phases.ENDED})


class Submit(Protocol):
    """Gives a command for the seat, decided only at this sequence. See `Table.submit`."""

    async def __call__(self, command: c.SeatCommand, *, expected_sequence: int) -> Reply:
        """Return once it is durable or refused."""
        ...


class Turn:
    """A moment at which the match waits for the caller's seat.

    It shows the match as it is when it is looked at, so it is of no use once the next one has come.

    Attributes:
        seat: the caller's.
        sequence: the sequence of the match at this moment.
        view: what the seat sees: everybody's cash, squares and property, the board, the rules.
        legal: all that the seat may do now, the bounds of offers and bets included.
        answered_at: the sequence of the last command that was played in it; 0 before the first.

    """

    def __init__(self, match: Match, seat: int, submit: Submit) -> None:
        """Look at *match*, which was created, as *seat*."""
        self.seat = seat
        self.sequence = match.sequence
        self.view = View(match, seat)
        self.legal = LegalCommands(match, seat)
        self.answered_at = 0
        self._match = match
        self._submit = submit

    @property
    def cash(self) -> int:
        """The seat's cash."""
        return self.view.cash[self.seat]

    @property
    def answers(self) -> list[Choice]:
        """What the match waits for: commands that may be given as they are, with what they cost.

        Those for the pending decision come first; in a debt beyond the seat's cash, what raises
        cash; then those for the offers to the seat. Empty where nobody waits for it. What else it
        may do, such as building, is in `legal`.
        """
        match, seat, legal = self._match, self.seat, self.legal
        if match.phase in _ASKS_NOBODY or match.frozen_at >= 0 or match.out[seat]:
            return []
        found = [entry for entry in legal.answers() if isinstance(entry, Choice)]
        if not found and match.debt_of(seat) is not None:
            found = [*legal.sales(), *legal.mortgages()]
        offers = legal.trade_answers()
        return found + [o for o in offers if not isinstance(o.command, c.WithdrawTrade)]

    async def play(self, command: c.SeatCommand) -> Reply:
        """Give a command, and return once it is durable or refused.

        It is decided only if nothing has happened since the turn came (`STALE_SEQUENCE` else: the
        next turn comes at once), and sent again under one id until it is answered.

        Raises:
            UnansweredError, RefusedError, StreamBrokenError: see `Chair.submit`.

        """
        reply = await self._submit(command, expected_sequence=self.sequence)
        if isinstance(reply, Accepted):
            self.answered_at = reply.sequence
        return reply
