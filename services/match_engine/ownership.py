"""Which shards this engine serves, and for how long it may believe so (write protocol, T8).

The store shares the shards out among the engines whose lease lives. None of this keeps a match
safe, which the fence does (W5): it sees to it that commands find their engine, that a lost engine
is replaced within seconds, and that one which was paused does not answer from a memory that is old.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple, NoReturn

from libs.store.ownership import Assignment, Lease, Outage, Ownership
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs, metrics, names
from services.match_engine.database_clock import steady_ms

Lost = Callable[[Collection[int]], None]
"""Told of shards that are served here no longer: their matches must leave the memory at once."""

_log: Final = logs.get()
_SHARDS: Final = metrics.gauge(names.SHARDS_OWNED)
_LAPSES: Final = metrics.counter(names.LEASE_LAPSES)


class LeaseTerms(NamedTuple):
    """How long things last: what the store grants, how often it is asked, what is trusted here.

    The engine must cease before others begin: *trust_ms* is less than *ttl_ms*.
    """

    ttl_ms: int = 4_000
    renewal_ms: int = 1_000
    trust_ms: int = 3_000


class ReplacedError(Exception):
    """Another process lives under this engine's name: this one is the older, and ends."""


class Leaseholder:
    """Holds this engine's lease, and takes its share of the shards. One for an engine.

    A shard counts as another one when its epoch has changed: somebody else may have served it in
    between, however short that was. Whoever wants to hear of losses says so by `tell` before `run`.

    Attributes:
        assignments: who serves which shard, all engines together, as of the last renewal.

    """

    def __init__(
        self,
        ownership: Ownership,
        instance: str,
        address: Callable[[], str],
        *,
        terms: LeaseTerms | None = None,
        steady: Callable[[], float] = steady_ms,
    ) -> None:
        """Make the holder for the engine *instance*, which others call at *address*.

        That is asked for when a lease is taken: the engine listens by then.
        """
        self._ownership = ownership
        self._instance = instance
        self._address = address
        self._terms = terms or LeaseTerms()
        assert self._terms.renewal_ms < self._terms.trust_ms < self._terms.ttl_ms
        self._steady = steady
        self._lease: Lease | None = None
        self._has_lived = False
        self._lapses = 0
        self._began = float("-inf")
        self._epochs: dict[int, int] = {}
        self._outages: dict[int, Sequence[Outage]] = {}
        self._listeners: list[Lost] = []
        self._bell = asyncio.Event()
        self.assignments: Sequence[Assignment] = ()

    @property
    def is_held(self) -> bool:
        """Whether the lease is held, and was renewed a short time ago."""
        return self._lease is not None and self._is_fresh()

    @property
    def shards(self) -> frozenset[int]:
        """The shards that are served here now; none when the lease is not held."""
        return frozenset(self._epochs) if self.is_held else frozenset()

    @property
    def bell(self) -> asyncio.Event:
        """What rings once at the next change. Take it first, then look, then wait."""
        return self._bell

    def owns(self, shard: int) -> bool:
        """Tell whether a shard is served here. Ask again after every await."""
        return shard in self._epochs and self.is_held

    def outages_of(self, shard: int) -> Sequence[Outage]:
        """Return all outages of a shard that is served here, in order (T8)."""
        return self._outages.get(shard, ())

    def tell(self, listener: Lost) -> None:
        """Let *listener* hear of shards that are lost. It must not take long."""
        self._listeners.append(listener)

    async def run(self) -> NoReturn:
        """Hold the lease until cancelled; begin anew whenever it is lost.

        Raises:
            ExceptionGroup: of a `ReplacedError`, another process has taken the name.

        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            while True:
                began = self._steady()
                await self._try_to_renew()
                left_ms = began + self._terms.renewal_ms - self._steady()
                await asyncio.sleep(max(left_ms, 0) / 1000)

    async def renew(self) -> None:
        """Renew the lease, or take it anew, and claim this engine's share of the shards.

        The new shards' outages are known before `owns` says yes to one of them.

        Raises:
            StoreUnavailableError: something of it was not done; shards that are held stay so.
            ReplacedError: another process has taken the name.

        """
        # What is trusted counts from before the store was asked: its own time began later.
        began = self._steady()
        lease = await self._living_lease()
        lapses = self._lapses
        claimed = await self._ownership.claim_shards(lease)
        if claimed is None:
            self._lapse("claim")
            return
        assignments = await self._ownership.assignments()
        mine = {
            shard: epoch
            for shard, instance, _, epoch in assignments
            if instance == self._instance and shard in claimed
        }
        kept = {shard for shard, epoch in mine.items() if self._epochs.get(shard) == epoch}
        self._give_up(self._epochs.keys() - kept)
        for shard in sorted(mine.keys() - kept):
            self._outages[shard] = await self._ownership.outages(shard)
        if self._lapses != lapses:
            return  # what was held before was given up meanwhile: that outage must be written down
        self._lease, self._began = lease, began
        self._settle(mine, assignments)

    async def release(self) -> None:
        """Serve nothing any more, and let others take the shards at once. After `run` has ended."""
        lease, self._lease = self._lease, None
        self._give_up(self._epochs)
        self._ring()
        if lease is None:
            return
        try:
            await self._ownership.release_lease(lease)
        except StoreUnavailableError:
            _log.warning("lease_not_released", instance=self._instance)  # it lapses by itself

    async def _try_to_renew(self) -> None:
        try:
            # An answer that takes longer is worth nothing.
            async with asyncio.timeout(self._terms.trust_ms / 1000):
                await self.renew()
        except (StoreUnavailableError, TimeoutError) as error:
            _log.warning("lease_not_renewed", error=type(error).__name__)

    async def _living_lease(self) -> Lease:
        if self._lease is not None and self._is_fresh():
            renewed = await self._ownership.renew_lease(self._lease, self._terms.ttl_ms)
            if renewed is None:
                await self._end_if_replaced()
            elif self._lease is not None:
                return renewed
        elif self._has_lived:
            # Paused for so long that the name may live elsewhere by now.
            await self._end_if_replaced()
        # Also where the store still has the lease: nobody served for too long, and only a lease
        # that is taken anew writes that outage down.
        self._lapse("renewal")
        address = self._address()
        lease = await self._ownership.take_lease(self._instance, address, self._terms.ttl_ms)
        self._has_lived = True
        _log.info("lease_taken", instance=self._instance, address=address)
        return lease

    async def _end_if_replaced(self) -> None:
        """See whether the lease has not lapsed but was taken: then the name lives elsewhere.

        To take it back would only begin a quarrel without an end.
        """
        for _, instance, address, _ in await self._ownership.assignments():
            if instance == self._instance and address != self._address():
                self._lapse("replaced")
                raise ReplacedError(f"{instance} is at {address} by now")

    async def _watch(self) -> NoReturn:
        """Lapse when the time has come, whatever a renewal is waiting for."""
        while True:
            left_ms = self._began + self._terms.trust_ms - self._steady()
            if left_ms > 0:
                await asyncio.sleep(left_ms / 1000)
                continue
            if self._lease is not None:
                self._lapse("silence")
            await asyncio.sleep(self._terms.renewal_ms / 1000)

    def _is_fresh(self) -> bool:
        return self._steady() - self._began < self._terms.trust_ms

    def _lapse(self, reason: str) -> None:
        """Serve nothing, until a lease is taken."""
        self._lapses += 1
        if self._lease is not None:
            _LAPSES.inc()
            _log.warning("lease_lapsed", instance=self._instance, reason=reason)
        self._lease = None
        self._give_up(self._epochs)
        self._ring()

    def _give_up(self, shards: Collection[int]) -> None:
        lost = frozenset(shards)
        for shard in lost:
            del self._epochs[shard]
            self._outages.pop(shard, None)
        _SHARDS.set(len(self._epochs))
        if lost:
            for listener in self._listeners:
                listener(lost)

    def _settle(self, mine: Mapping[int, int], assignments: Sequence[Assignment]) -> None:
        has_changed = self.assignments != assignments or self._epochs != mine
        gained = len(mine.keys() - self._epochs.keys())
        self._epochs, self.assignments = dict(mine), assignments
        _SHARDS.set(len(mine))
        if gained:
            _log.info("shards_claimed", count=gained)
        if has_changed:
            self._ring()

    def _ring(self) -> None:
        rung, self._bell = self._bell, asyncio.Event()
        rung.set()
