"""What an engine stands on: chosen where a process is put together, and by no setting."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from libs.kernel.chance import Draws, FairDraws
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.store.directory import EngineStore
from libs.store.ownership import Ownership
from services.match_engine.arming import LINGER_S
from services.match_engine.live import Listener

DrawsOf = Callable[[MatchId, bytes], Draws]
"""Makes the chance of a match of its seed: `FairDraws`, unless a test says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an engine stands on.

    Attributes:
        store, ownership: the matches, and who serves which of them.
        clock: the time; None for the store's, which all engines of a store share (T7).
        draws_of: the chance of matches.
        listeners: who hears of every record, after the engine's own.
        linger_s: how long deadlines wait for company on their way to the timer.

    """

    store: EngineStore
    ownership: Ownership
    clock: Clock | None = None
    draws_of: DrawsOf = FairDraws
    listeners: Sequence[Listener] = ()
    linger_s: float = LINGER_S


GroundOf = Callable[[], AbstractAsyncContextManager[Ground]]
"""Opens the ground, for as long as the engine stands on it."""
