"""Commands, from the queue of their match to the commit (write protocol, W2-W7, T3-T5)."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from libs.chassis.status import refused
from libs.kernel.chance import Draws, FairDraws, fresh_secret
from libs.kernel.clock import Clock
from libs.kernel.ids import CommandId, MatchId
from libs.kernel.reasons import Reason
from libs.store.directory import EngineStore
from libs.store.ports import Fenced
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.appending import MovedError, Scribe
from services.match_engine.creating import Creator
from services.match_engine.judging import CommandOf, Fired, Judge, Order, OutagesOf, Outcome
from services.match_engine.live import Accepted, LiveMatch
from services.match_engine.matches import Matches
from services.match_engine.seeds import Seeds
from services.match_engine.signing import SigningKeys
from services.match_engine.turns import Turns

__all__ = ["Accepted", "CommandOf", "Decider", "Fired", "OutagesOf", "Outcome"]

ATTEMPTS: Final = 4
"""How often one command is decided at most, where the match has moved in between (W6)."""

T = TypeVar("T")


class Decider:
    """Decides the commands of this engine's matches, and makes every decision durable.

    A command is decided on a copy of the match's state, which costs a few microseconds beside a
    commit of a millisecond or more. So what memory shows is durable at any moment, a read waits
    for no commit, and a commit that fails or is never heard of leaves nothing to be undone.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - all that a decision rests on
        self,
        store: EngineStore,
        matches: Matches,
        seeds: Seeds,
        keys: SigningKeys,
        clock: Clock,
        outages_of: OutagesOf,
        *,
        fresh_seed: Callable[[], bytes] = fresh_secret,
        draws_of: Callable[[MatchId, bytes], Draws] = FairDraws,
    ) -> None:
        """Decide by *clock*, the database's (T7); *fresh_seed* is for what must repeat itself.

        *draws_of* makes the chance of a match that is new.
        """
        self._store = store
        self._matches = matches
        self._clock = clock
        self._turns = Turns()
        self._creator = Creator(store, matches, seeds, fresh_seed, draws_of)
        self._judge = Judge(store, matches, Scribe(store, matches, keys), outages_of)

    async def submit(
        self,
        match_id: MatchId,
        command_id: CommandId,
        command_of: CommandOf,
        *,
        expected_sequence: int | None = None,
        queue_until_ms: int | None = None,
    ) -> Accepted:
        """Decide a command; returns once it is durable. Idempotent by *command_id*.

        Its time is that of this call (T5), and after *queue_until_ms* nobody waits for it. Once it
        is decided, the caller's cancellation changes nothing any more (W5).

        Raises:
            RefusedError: it was refused, and changed nothing.
            MalformedError: what *command_of* raised.
            StoreUnavailableError: it may have been accepted or not: send it again.

        """
        order = Order(command_id, command_of, self._clock.now_ms(), expected_sequence)

        async def work() -> Accepted:
            if queue_until_ms is not None and self._clock.now_ms() > queue_until_ms:
                raise refused(Reason.OVERLOADED)
            return await self._on_live(match_id, lambda live: self._judge.judge(live, order))

        return await self._turns.take(match_id, work)

    async def create(self, request: pb.CreateMatchRequest, command_id: CommandId) -> Accepted:
        """Make a match, with a secret seed of its own. Idempotent by *command_id*.

        Raises what `submit` does.
        """
        stamp_ms = self._clock.now_ms()
        work = partial(self._creator.create, request, command_id, stamp_ms)
        return await self._turns.take(MatchId(request.match_id), work)

    async def fire(self, match_id: MatchId, deadline_id: str) -> Fired:
        """Let a deadline act, once, however often it is fired (T3-T5).

        Raises what `submit` does.
        """
        stamp_ms = self._clock.now_ms()

        async def work() -> Fired:
            return await self._on_live(
                match_id, lambda live: self._judge.fire(live, deadline_id, stamp_ms)
            )

        return await self._turns.take(match_id, work)

    async def admit(self, match_id: MatchId, player_id: str) -> None:
        """Let a guest see a match from now on, whether it can be played or not.

        Raises:
            RefusedError: MATCH_NOT_FOUND, NOT_OWNER_OF_SHARD, OVERLOADED.
            StoreUnavailableError: it may be done or not.

        """

        async def work() -> None:
            self._matches.check_owned(match_id)
            live, head = self._matches.find(match_id), await self._store.head(match_id)
            if head is None:
                raise refused(Reason.MATCH_NOT_FOUND)
            fence = head.fence if live is None else live.chain.fence
            # Whoever has loaded the match under a later one may not hear of the guest.
            if await self._store.admit(match_id, fence, player_id) == Fenced():
                self._matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)
                raise refused(Reason.NOT_OWNER_OF_SHARD)
            if live is not None:
                live.admit(player_id)

        await self._turns.take(match_id, work)

    async def release(self, match_id: MatchId) -> int:
        """Take a match out of quarantine if it checks out. See `Matches.release`."""
        return await self._turns.take(match_id, partial(self._matches.release, match_id))

    async def read(self, match_id: MatchId) -> LiveMatch:
        """Return a match, loading it if need be. What it shows is durable.

        Raises:
            RefusedError: MATCH_NOT_FOUND, MATCH_QUARANTINED, NOT_OWNER_OF_SHARD, OVERLOADED.
            StoreUnavailableError: it could not be loaded.

        """
        live = self._matches.find(match_id)
        if live is not None:
            return live
        self._matches.check_owned(match_id)
        return await self._turns.take(match_id, partial(self._matches.get, match_id))

    async def settle(self) -> None:
        """Wait until no command is under way: at a drain, when no more come in."""
        await self._turns.settle()

    async def _on_live(self, match_id: MatchId, work: Callable[[LiveMatch], Awaitable[T]]) -> T:
        """Do *work* on a match as it is, and again where it turns out to be elsewhere (W6)."""
        for _ in range(ATTEMPTS):
            live = await self._matches.get(match_id)
            try:
                return await work(live)
            except MovedError:
                continue
        raise refused(Reason.STORE_UNAVAILABLE)
