"""What the records of a match say of its deadlines. Pure; it knows no rules.

It may take a deadline for open that is not, such as that of a debt whose seat has gone out: a stale
one does nothing (T1). One that is open is never missed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from libs.eventlog.following import Position
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import GRACE_MS, fires_at
from services.timer.armed import Told

KINDS: Final = (
    e.DeadlineSet,
    e.DeadlineExtended,
    e.DebtPaid,
    e.TradeAccepted,
    e.TradeRejected,
    e.TradeWithdrawn,
    e.TradeClosed,
    e.MatchFrozen,
    e.MatchResumed,
    e.MatchEnded,
    e.MatchAborted,
)
"""The events that are looked at."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A match as far as its records were read.

    Attributes:
        position: how far that is.
        deadlines: what is set, by name, in the order in which it was: when it fires, in ms.
        is_frozen, is_over: whether its clocks stand, now or for good.

    """

    position: Position = field(default_factory=Position)
    deadlines: dict[str, int] = field(default_factory=dict)
    is_frozen: bool = False
    is_over: bool = False

    def open(self) -> list[Told]:
        """Return what may be fired: decisions before offers, and nothing while it is frozen."""
        if self.is_frozen or self.is_over:
            return []
        told = [Told(deadline_id, fire_ms) for deadline_id, fire_ms in self.deadlines.items()]
        return sorted(told, key=lambda deadline: _kind(deadline.deadline_id) == phases.OFFER)

    def after(self, position: Position, events: Iterable[e.Event]) -> "Followed":
        """Return the match after its next record, of whose events only `KINDS` matter."""
        found = _Fold(dict(self.deadlines), self.is_frozen, self.is_over)
        for event in events:
            found.take(event)
        return replace(
            self,
            position=position,
            deadlines=found.deadlines,
            is_frozen=found.is_frozen,
            is_over=found.is_over,
        )


@dataclass(slots=True)
class _Fold:
    deadlines: dict[str, int]
    is_frozen: bool
    is_over: bool

    def take(self, event: e.Event) -> None:
        match event:
            case e.DeadlineSet():
                if event.kind != phases.OFFER:
                    self._replace_decision(event.kind)
                self.deadlines[event.deadline_id] = fires_at(event)
            case e.DeadlineExtended(kind=kind, due=due):
                grace_ms = 0 if kind == phases.AUCTION else GRACE_MS
                self.deadlines[event.deadline_id] = due + grace_ms
            case e.DebtPaid(debt=debt):
                self._drop(phases.DEBT, debt)
            case (
                e.TradeAccepted(offer=offer)
                | e.TradeRejected(offer=offer)
                | e.TradeWithdrawn(offer=offer)
                | e.TradeClosed(offer=offer)
            ):
                self._drop(phases.OFFER, offer)
            case e.MatchFrozen() | e.MatchResumed():
                self.is_frozen = isinstance(event, e.MatchFrozen)
            case e.MatchEnded() | e.MatchAborted():
                self.is_over = True
                self.deadlines.clear()
            case _:
                pass  # nothing that has to do with time

    def _replace_decision(self, kind: str) -> None:
        """Drop the decisions that a new one puts an end to: all, but for debts beside debts."""
        kept = {phases.OFFER, phases.DEBT} if kind == phases.DEBT else {phases.OFFER}
        self.deadlines = {d: ms for d, ms in self.deadlines.items() if _kind(d) in kept}

    def _drop(self, kind: str, scope: int) -> None:
        start = f"{kind}:{scope}:"
        self.deadlines = {d: ms for d, ms in self.deadlines.items() if not d.startswith(start)}


def _kind(deadline_id: str) -> str:
    return deadline_id.partition(":")[0]
