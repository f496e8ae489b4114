"""The matches in this engine's memory, and how they get there (write protocol, W2)."""

from collections.abc import Callable

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.store.ports import MatchStore
from services.match_engine.live import Listener, LiveMatch
from services.match_engine.seeds import Seeds


class Matches:
    """What is in memory. Bounded: the one that was not used for longest gives way."""

    def __init__(
        self,
        store: MatchStore,
        seeds: Seeds,
        owns: Callable[[int], bool],
        *,
        capacity: int = 10_000,
    ) -> None:
        """Begin with none; *owns* tells whether a shard is ours and our lease fresh."""
        raise NotImplementedError

    def listen(self, listener: Listener) -> None:
        """Let *listener* hear of every record and every loss; in the order of these calls."""
        raise NotImplementedError

    def loaded(self) -> list[LiveMatch]:
        """Return what is in memory, least recently used first."""
        raise NotImplementedError

    def find(self, match_id: MatchId) -> LiveMatch | None:
        """Return a match if it is in memory."""
        raise NotImplementedError

    def drop(self, match_id: MatchId, reason: Reason) -> None:
        """Forget a match, and tell the listeners why."""
        raise NotImplementedError

    def drop_all(self, reason: Reason) -> None:
        """Forget every match."""
        raise NotImplementedError
