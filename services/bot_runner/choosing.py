"""How a bot is asked what it does, and what is done for one that cannot say."""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from libs.bots.strengths import STRENGTHS, Strategy
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import Choice, LegalCommands
from libs.rules.match import Match
from libs.rules.views import View
from libs.telemetry import logs, metrics, names

_log: Final = logs.get()
_DEFAULTS: Final = metrics.counter(names.BOT_DEFAULTS)

UNKNOWN: Final = "steady"
"""Who plays for a bot of a name that is not known here, such as a newer release's."""


class Chosen(NamedTuple):
    """What a bot does; None if it has nothing to do. *is_default* if others chose it."""

    command: c.SeatCommand | None
    is_default: bool = False


class Hand:
    """One bot at its table. The match that it looks at goes on in its owner's hands."""

    def __init__(
        self,
        match: Match,
        seat: int,
        strength: str,
        *,
        limit_ms: float,
        monotonic_s: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Sit down at *match*, which has been created."""
        self.seat = seat
        self.strength = strength
        self._match = match
        self._strategy: Strategy = STRENGTHS.get(strength, STRENGTHS[UNKNOWN])
        self._view = View(match, seat)
        self._legal = LegalCommands(match, seat)
        self._limit_ms = limit_ms
        self._monotonic_s = monotonic_s

    def choose(self) -> Chosen:
        """Ask the bot. One that fails, or takes too long, gets a safe move.

        Its time is looked at afterwards: a strategy is a pure function that takes less than 5 ms,
        so nothing is gained by a thread, which could not be stopped either.
        """
        began_s = self._monotonic_s()
        try:
            command = self._strategy(self._view, self._legal)
        except Exception as error:  # noqa: BLE001 - one bot's bug is no reason to stop the others
            _log.exception(
                "bot_failed",
                match_id=self._match.match_id,
                seat=self.seat,
                error=type(error).__name__,
            )
            return self.default("failed")
        took_ms = (self._monotonic_s() - began_s) * 1000
        if took_ms > self._limit_ms:
            _log.warning(
                "bot_slow",
                match_id=self._match.match_id,
                seat=self.seat,
                duration_ms=round(took_ms, 3),
            )
            return self.default("slow")
        return Chosen(command)

    def default(self, why: str) -> Chosen:
        """Return the safe move: what answers at the least cost, or else nothing at all.

        Without one the deadline passes, and the rules decide.
        """
        _DEFAULTS.labels(self.strength, why).inc()
        return Chosen(self._cheapest() or self._rejection(), is_default=True)

    def _cheapest(self) -> c.SeatCommand | None:
        answers = [entry for entry in self._legal.answers() if isinstance(entry, Choice)]
        # min() keeps the first of equals: a roll before bail, and the usual before the unusual.
        cheapest = min(answers, key=lambda choice: choice.cost, default=None)
        return None if cheapest is None else cheapest.command

    def _rejection(self) -> c.SeatCommand | None:
        if self._match.phase == phases.AUCTION:
            return None
        received = (o.offer for o in self._match.offers if o.receiver == self.seat)
        offer = next(received, None)
        return None if offer is None else c.RejectTrade(self.seat, offer)
