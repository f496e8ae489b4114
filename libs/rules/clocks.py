"""What happens when a deadline is reached, and which are due (CLOCK-1, CLOCK-2)."""

from collections.abc import Callable
from typing import Final

from libs.kernel.reasons import Reason
from libs.rules import auctions, buying, debts, jackpot, phases, seeding, third_die
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.ruling import CARRY_ON, Ruling

GRACE_MS: Final = 250
"""So much after its deadline a move still counts, but for a bid (write protocol, T5; start)."""


def decision_deadlines(match: Match) -> list[e.DeadlineSet]:
    """Return the deadlines of pending decisions as they stand, debts in their order."""
    if match.deadline is not None:
        return [match.deadline]
    left = match.clock_left
    return [
        e.DeadlineSet(phases.DEBT, debt.debt, debt.number, debt.debtor, debt.due, left)
        for debt in match.debts
    ]


def open_deadlines(match: Match) -> list[e.DeadlineSet]:
    """Return every open deadline: decisions, then trade offers."""
    offers = [
        e.DeadlineSet(phases.OFFER, offer.offer, offer.number, offer.receiver, offer.due, 0)
        for offer in match.offers
    ]
    return decision_deadlines(match) + offers


def next_deadline(match: Match) -> e.DeadlineSet | None:
    """Return the deadline that fires first; at the same moment decisions come before offers.

    None while the match is frozen, since its clocks stand, and after its end.
    """
    if match.frozen_at >= 0:
        return None
    # min() keeps the first of equals, and the list is in firing order.
    return min(open_deadlines(match), key=lambda deadline: deadline.due, default=None)


def fires_at(deadline: e.DeadlineSet) -> int:
    """Return when a deadline is fired, in milliseconds: past the grace, and at once for a bid."""
    return deadline.due if deadline.kind == phases.AUCTION else deadline.due + GRACE_MS


def fire_deadline(ruling: Ruling, command: c.FireDeadline) -> Refusal | None:
    """Decide for whoever let a deadline pass; a stale one is told and changes nothing (T4)."""
    match, name = ruling.match, command.deadline_id
    deadline = next((d for d in open_deadlines(match) if d.deadline_id == name), None)
    if deadline is None:
        return Refusal(Reason.DEADLINE_STALE, "CLOCK-3", {"deadline_id": name})
    if deadline.due > ruling.now:
        return Refusal(Reason.DEADLINE_NOT_DUE, "CLOCK-1", {"due": deadline.due})
    if deadline.kind not in (phases.OFFER, phases.SEEDING):
        lateness = ruling.now - deadline.due
        ruling.add(e.DecisionTimedOut(deadline.seat, deadline.kind, lateness))
    _TIME_OUT[deadline.kind](ruling, deadline)
    return None


def extend(ruling: Ruling, by_ms: int, reason: str) -> None:
    """Move every open deadline, because of an outage or a freeze (T8)."""
    for deadline in open_deadlines(ruling.match):
        due = deadline.due + by_ms
        ruling.add(e.DeadlineExtended(deadline.kind, deadline.scope, deadline.number, due, reason))


def _seeding(ruling: Ruling, _: e.DeadlineSet) -> None:
    seeding.start(ruling)


def _go_without(ruling: Ruling, _: e.DeadlineSet) -> None:
    """Go on without what was not decided: a roll, paying bail, or where a triple leads."""
    ruling.next = CARRY_ON


def _decline(ruling: Ruling, deadline: e.DeadlineSet) -> None:
    buying.turn_down(ruling, deadline.seat, forced=True)


def _pass(ruling: Ruling, deadline: e.DeadlineSet) -> None:
    auctions.time_out(ruling, deadline.seat)


def _pay(ruling: Ruling, deadline: e.DeadlineSet) -> None:
    debt = ruling.match.debt_of(deadline.seat)
    assert debt is not None
    debts.time_out(ruling, debt)


def _take_the_sum(ruling: Ruling, deadline: e.DeadlineSet) -> None:
    match = ruling.match
    third_die.go_by_bus(ruling, deadline.seat, match.white_1 + match.white_2)


def _keep_the_stake(ruling: Ruling, deadline: e.DeadlineSet) -> None:
    jackpot.turn_down(ruling, deadline.seat)


def _close_offer(ruling: Ruling, deadline: e.DeadlineSet) -> None:
    ruling.add(e.TradeClosed(deadline.scope, "expired"))


_TIME_OUT: Final[dict[str, Callable[[Ruling, e.DeadlineSet], None]]] = {
    phases.SEEDING: _seeding,
    phases.ROLL: _go_without,
    phases.BUY: _decline,
    phases.AUCTION: _pass,
    phases.DEBT: _pay,
    phases.BAIL: _go_without,
    phases.BUS: _take_the_sum,
    phases.TELEPORT: _go_without,
    phases.JACKPOT: _keep_the_stake,
    phases.OFFER: _close_offer,
}
