"""What operators and the engine itself may do to a match (write protocol, T8, W10)."""

from typing import Final

from libs.kernel.reasons import Reason
from libs.rules import clocks
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.refusals import Refusal
from libs.rules.ruling import Ruling

OUTAGE_MS_MOST: Final = 366 * 24 * 3_600_000
"""An outage longer than a year is no outage but a mistake, and would leave the range of times."""


def extend_deadlines(ruling: Ruling, command: c.ExtendDeadlines) -> Refusal | None:
    """Charge nobody for an outage: move every open deadline by its length."""
    if not 0 <= command.by_ms <= OUTAGE_MS_MOST:
        return Refusal(Reason.INVALID_REQUEST, "CLOCK-1", {"by_ms": command.by_ms})
    clocks.extend(ruling, command.by_ms, "outage")
    return None


def freeze(ruling: Ruling, command: c.Freeze) -> Refusal | None:
    """Stop all clocks and refuse all commands until the match is resumed."""
    ruling.add(e.MatchFrozen(command.reason, command.actor, ruling.now))
    return None


def resume(ruling: Ruling, command: c.Resume) -> Refusal | None:
    """Let the match go on; every deadline moves by the pause."""
    frozen_at = ruling.match.frozen_at
    if frozen_at < 0:
        return Refusal(Reason.MATCH_NOT_FROZEN, "CLOCK-1")
    ruling.add(e.MatchResumed(command.reason, command.actor))
    clocks.extend(ruling, ruling.now - frozen_at, "frozen")
    return None


def abort(ruling: Ruling, command: c.Abort) -> Refusal | None:
    """End the match without a winner; its seed is revealed like that of any other."""
    ruling.add(e.MatchAborted(command.reason, command.actor))
    ruling.add(e.SeedRevealed(ruling.draws.reveal()))
    return None
