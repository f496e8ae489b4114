"""What the contract needs of an adapter besides the adapter: a way to get into trouble."""

from abc import ABC, abstractmethod

from libs.kernel.ids import MatchId
from libs.kernel.shards import shard_of
from libs.store.access import Label
from libs.store.directory import EngineStore
from libs.store.ports import Ok
from tests.store.records import SEED, a_match_id, a_record


class Rig(ABC):
    """A store, and the same one at the end of a line that can be held up or cut."""

    store: EngineStore
    far: EngineStore

    @abstractmethod
    def hold(self) -> None:
        """Keep what `far` sends from now on on its way, and its sender waiting."""

    @abstractmethod
    async def until_holding(self) -> None:
        """Wait until something is on its way."""

    @abstractmethod
    def let_go(self) -> None:
        """Deliver what is on its way."""

    @abstractmethod
    def lose_reply(self) -> None:
        """Cut the line when the next of `far`'s calls has been committed, before it hears so."""

    async def begin(
        self, *, wake_at_ms: int | None = None, events: int = 1, label: Label | None = None
    ) -> MatchId:
        """Create a match; its creator may append under the first fence."""
        match_id = a_match_id()
        record = a_record(1, events)
        created = await self.store.create(match_id, record, SEED, wake_at_ms, label)
        assert created == Ok()
        return match_id

    async def bound(self, match_id: MatchId) -> int | None:
        """Return a match's wake-up bound."""
        due = await self.store.wakes_due({shard_of(match_id)}, 1 << 60, 1_000_000)
        return dict[MatchId, int](due).get(match_id)
