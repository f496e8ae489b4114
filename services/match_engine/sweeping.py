"""Fires by itself what is a second overdue, and loads what must soon be looked at (T6, T2).

Without any timer service play so gets slower and does not stop. After a take-over this is what
brings matches into memory that nobody asks for, before their deadlines are reached.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Final, NoReturn

from libs.chassis.status import RefusedError
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.clocks import next_deadline
from libs.rules.events import DeadlineSet
from libs.store.ports import MatchStore, StoreUnavailableError
from libs.telemetry import logs, metrics, names
from services.match_engine.deciding import Decider, Outcome
from services.match_engine.live import LiveMatch

INTERVAL_S: Final = 0.5
"""How often the matches are looked at (start)."""

LATE_MS: Final = 1_000
"""How late a deadline must be to be fired here and not by the timer service (start)."""

AHEAD_MS: Final = 5_000
"""So long before it may be reached a match is brought into memory, and its deadlines armed."""

MATCHES_MAX: Final = 200
"""How many matches one sweep fires, and how many it looks at, at most (start)."""

AT_ONCE: Final = 8
"""How many of them at a time, so that a sweep leaves the store to the players (start)."""

IN_A_ROW: Final = 8
"""How many deadlines of one match a sweep fires at most."""

TIMEOUT_S: Final = 5.0
"""How long one match may hold up a place among those at once."""

SHORT_REST_MS: Final = 1_000
LONG_REST_MS: Final = 30_000
"""How long a match is left alone that could not be swept, or that somebody must mend (start)."""

_log: Final = logs.get()
_FIRES: Final = metrics.counter(names.SWEEPER_FIRES)


class Sweeper:
    """Looks at the matches of this engine again and again."""

    def __init__(  # noqa: PLR0913 - what it looks at, and by what
        self,
        *,
        decider: Decider,
        store: MatchStore,
        loaded: Callable[[], Iterable[LiveMatch]],
        owned: Callable[[], Collection[int]],
        arm: Callable[[LiveMatch], None],
        clock: Clock,
    ) -> None:
        """Sweep what is *loaded*, and the matches of the shards *owned*, by the engine's clock.

        *arm* tells the timer service of a match's deadlines, unless they were told as they are.
        """
        self._decider = decider
        self._store = store
        self._loaded = loaded
        self._owned = owned
        self._arm = arm
        self._clock = clock
        # Those that could not be swept, and until when they are left alone.
        self._resting: dict[MatchId, int] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def run(self) -> NoReturn:
        """Sweep twice a second. A store that is away is asked again then."""
        while True:
            await self.sweep()
            await asyncio.sleep(INTERVAL_S)

    async def sweep(self) -> None:
        """Look at all matches once, at most so many; whatever fails is tried in a later sweep."""
        now_ms = self._clock.now_ms()
        self._resting = {m: until for m, until in self._resting.items() if until > now_ms}
        await self._each(self._late(now_ms), self._fire)
        try:
            waking = await self._waking(now_ms)
        except StoreUnavailableError:
            return
        await self._each(waking, self._wake)

    def _late(self, now_ms: int) -> list[MatchId]:
        """Return the loaded matches that are overdue, the longest overdue first (T8)."""
        late: list[tuple[int, MatchId]] = []
        for live in self._loaded():
            # Those that were loaded to be read, and not changed since, are armed here.
            self._arm(live)
            deadline = next_deadline(live.match)
            if deadline is not None and deadline.due + LATE_MS <= now_ms:
                late.append((deadline.due, live.match_id))
        late.sort()
        return [m for _, m in late if m not in self._resting][:MATCHES_MAX]

    async def _waking(self, now_ms: int) -> list[MatchId]:
        """Return those whose bound is passed, and those that wake soon and are not loaded."""
        shards = self._owned()
        if not shards:
            return []
        # Those that rest come first again and again, and must not hide the others.
        limit = MATCHES_MAX + len(self._resting)
        wakes = await self._store.wakes_due(shards, now_ms + AHEAD_MS, limit)
        loaded = {live.match_id for live in self._loaded()}
        return [
            wake.match_id
            for wake in wakes
            if wake.match_id not in self._resting
            and (wake.wake_at_ms <= now_ms or wake.match_id not in loaded)
        ]

    async def _wake(self, match_id: MatchId) -> None:
        """Load a match whose bound says so, fire what is late in it, or raise the bound (T2)."""
        live = await self._decider.read(match_id)
        self._arm(live)
        if self._late_one(live) is not None:
            await self._fire(match_id)
            return
        deadline = next_deadline(live.match)
        due_ms = deadline.due if deadline is not None else None
        if due_ms is None or due_ms > self._clock.now_ms():
            # Whatever is answered is right: only a bound that nobody overtook is raised.
            await self._store.look(match_id, live.chain.fence, live.chain.last_seq, due_ms)

    async def _fire(self, match_id: MatchId) -> None:
        """Fire what is late in a match, one after the other, as long as anything is."""
        for _ in range(IN_A_ROW):
            live = await self._decider.read(match_id)
            deadline = self._late_one(live)
            if deadline is None:
                return
            fired = await self._decider.fire(match_id, deadline.deadline_id)
            if fired.outcome is Outcome.DONE:
                _FIRES.inc()

    def _late_one(self, live: LiveMatch) -> DeadlineSet | None:
        deadline = next_deadline(live.match)
        if deadline is None or deadline.due + LATE_MS > self._clock.now_ms():
            return None
        return deadline

    async def _each(
        self, match_ids: Iterable[MatchId], work: Callable[[MatchId], Awaitable[None]]
    ) -> None:
        """Do *work* for each match, a few at a time, in order; none of them stops the others."""
        async with asyncio.TaskGroup() as group:
            for match_id in match_ids:
                await self._places.acquire()
                group.create_task(self._guarded(match_id, work))

    async def _guarded(self, match_id: MatchId, work: Callable[[MatchId], Awaitable[None]]) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await work(match_id)
        except RefusedError as error:
            is_broken = error.told.reason == Reason.MATCH_QUARANTINED
            self._rest(match_id, LONG_REST_MS if is_broken else SHORT_REST_MS)
        except (StoreUnavailableError, TimeoutError):
            self._rest(match_id, SHORT_REST_MS)
        except Exception as error:  # noqa: BLE001 - one match's bug must not stop others' clocks
            self._rest(match_id, LONG_REST_MS)
            _log.exception("sweep_failed", match_id=match_id, error=type(error).__name__)
        finally:
            self._places.release()

    def _rest(self, match_id: MatchId, rest_ms: int) -> None:
        self._resting[match_id] = self._clock.now_ms() + rest_ms
