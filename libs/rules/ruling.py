"""A decision in the making, and the clocks that it sets (CLOCK-1)."""

from typing import Final

from libs.kernel.chance import Draws
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules import phases
from libs.rules.evolve import EVOLVE
from libs.rules.match import Match
from libs.rules.refusals import Refusal

NOTHING: Final = 0
"""A decision is pending, or the match is over."""
LAND: Final = 1
"""The turn's token has moved: resolve its square."""
CARRY_ON: Final = 2
"""Nothing is pending: go on with the turn, or end it."""


class Ruling:
    """The events that a command has caused so far.

    Each event is applied to the match as it is added, so that what follows is decided on the state
    as it is by then. Topics never change the match in any other way, and never call on: they say
    in `next` what the flow of the turn has to do after them.

    Attributes:
        match: the match, as it is after the events.
        draws: the match's own chance.
        now: the command's time, in milliseconds.
        events: what has happened.
        next: `NOTHING`, `LAND` or `CARRY_ON`.
    """

    __slots__ = ("draws", "events", "match", "next", "now")

    def __init__(self, match: Match, draws: Draws) -> None:
        """Begin on *match*, which will be changed in place; each command brings its time."""
        self.match = match
        self.draws = draws
        self.now = 0
        self.events: list[e.Event] = []
        self.next = NOTHING

    def add(self, event: e.Event) -> None:
        """Record *event* and apply it."""
        self.events.append(event)
        EVOLVE[type(event)](self.match, event)

    def clock_left(self) -> int:
        """Return what the turn clock has left, whether it runs or stands."""
        deadline = self.match.deadline
        if deadline is None:
            return self.match.clock_left
        if deadline.kind == phases.AUCTION:
            return deadline.clock_left
        left = deadline.due - self.now
        return left if left > 0 else 0  # noqa: FURB136 - max() costs more than all the rest here

    def await_roll(self) -> None:
        """Start the turn clock with a pending roll."""
        match = self.match
        seat, number = match.turn, match.deadline_count + 1
        due = self.now + match.rules.turn_clock_ms
        self.add(e.DeadlineSet(phases.ROLL, seat, number, seat, due, 0))

    def await_decision(self, kind: str) -> None:
        """Let the turn clock go on for a decision of the turn's seat, with its least time."""
        match = self.match
        seat, number = match.turn, match.deadline_count + 1
        left, least = self.clock_left(), match.rules.decision_least_ms
        due = self.now + (left if left > least else least)  # noqa: FURB136 - see clock_left
        self.add(e.DeadlineSet(kind, seat, number, seat, due, 0))

    def await_bid(self, bidder: int) -> None:
        """Ask *bidder* for a bid; the turn clock stands."""
        match = self.match
        number, due = match.deadline_count + 1, self.now + match.rules.bid_clock_ms
        left = self.clock_left()
        self.add(e.DeadlineSet(phases.AUCTION, bidder, number, bidder, due, left))

    def await_payment(self, debt: int, debtor: int) -> None:
        """Open the payment pause of *debt*; the turn clock stands (DEBT-1)."""
        match = self.match
        left, number = self.clock_left(), match.deadline_count + 1
        pause = match.rules.payment_pause_ms
        due = self.now + (left if left > pause else pause)  # noqa: FURB136 - see clock_left
        self.add(e.DeadlineSet(phases.DEBT, debt, number, debtor, due, left))

    def await_answer(self, offer: int, receiver: int, due: int) -> None:
        """Give an offer its lifetime."""
        number = self.match.deadline_count + 1
        self.add(e.DeadlineSet(phases.OFFER, offer, number, receiver, due, 0))

    def await_seeds(self) -> None:
        """Give the people at the table time for their client seeds (FAIR-1)."""
        match = self.match
        number, due = match.deadline_count + 1, self.now + match.rules.seeding_ms
        self.add(e.DeadlineSet(phases.SEEDING, e.NOBODY, number, e.NOBODY, due, 0))


def refuse_unless_deciding(match: Match, seat: int, phase: str) -> Refusal | None:
    """Refuse a command of the turn's seat that answers no pending decision of that *phase*."""
    if seat != match.turn:
        return Refusal(Reason.NOT_YOUR_TURN, "TURN-1", {"turn": match.turn})
    if match.phase != phase:
        return Refusal(Reason.WRONG_PHASE, "TURN-1", {"phase": match.phase})
    return None


def refuse_unless_affordable(match: Match, seat: int, needed: int, rule: str) -> Refusal | None:
    """Refuse what costs more than the cash that *seat* holds when the command comes."""
    cash = match.cash[seat]
    if cash < needed:
        return Refusal(Reason.NOT_ENOUGH_CASH, rule, {"needed": needed, "cash": cash})
    return None
