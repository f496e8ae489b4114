"""Who serves which shard, in memory: for simulations and tests. See `libs.store.ownership`."""

from dataclasses import dataclass, replace

from libs.kernel.clock import Clock
from libs.store.ownership import Assignment, Lease, Outage, fair_shares


@dataclass(frozen=True, slots=True)
class _Held:
    lease: Lease
    renewed_at_ms: int


class MemoryOwnership:
    """An `Ownership` that lasts as long as the process; its time is that of *clock*."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._shards: dict[int, tuple[str, int]] = {}
        self._outages: dict[int, list[Outage]] = {}

    async def take_lease(self, instance: str, address: str, ttl_ms: int) -> Lease:
        """Begin to live under a name. See `Ownership.take_lease`."""
        now_ms = self._clock.now_ms()
        before = self._held.get(instance)
        lease = Lease(
            instance=instance,
            address=address,
            epoch=before.lease.epoch + 1 if before else 1,
            expires_at_ms=now_ms + ttl_ms,
        )
        if before is not None:
            for shard, (holder, epoch) in self._shards.items():
                if holder == instance:
                    self._shards[shard] = (instance, epoch + 1)
                    self._add_outage(shard, before, now_ms)
        self._held[instance] = _Held(lease, now_ms)
        return lease

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease | None:
        """Live on. See `Ownership.renew_lease`."""
        now_ms = self._clock.now_ms()
        if not self._is_alive(lease, now_ms):
            return None
        renewed = replace(lease, expires_at_ms=now_ms + ttl_ms)
        self._held[lease.instance] = _Held(renewed, now_ms)
        return renewed

    async def release_lease(self, lease: Lease) -> None:
        """End in good order. See `Ownership.release_lease`."""
        now_ms = self._clock.now_ms()
        if self._is_alive(lease, now_ms):
            self._held[lease.instance] = _Held(replace(lease, expires_at_ms=now_ms), now_ms)

    async def claim_shards(self, lease: Lease) -> frozenset[int] | None:
        """Take the caller's fair share. See `Ownership.claim_shards`."""
        now_ms = self._clock.now_ms()
        if not self._is_alive(lease, now_ms):
            return None
        living = self._living(now_ms)
        holders = {shard: holder for shard, (holder, _) in self._shards.items()}
        for shard, instance in sorted(fair_shares(living, holders).items()):
            holder, epoch = self._shards.get(shard, (None, 0))
            if instance != lease.instance or holder == instance:
                continue
            if holder is not None and holder not in living:
                self._add_outage(shard, self._held[holder], now_ms)
            self._shards[shard] = (instance, epoch + 1)
        return frozenset(
            shard for shard, (holder, _) in self._shards.items() if holder == lease.instance
        )

    async def assignments(self) -> list[Assignment]:
        """Return the shards whose engine lives. See `Ownership.assignments`."""
        living = self._living(self._clock.now_ms())
        return [
            Assignment(shard, holder, self._held[holder].lease.address, epoch)
            for shard, (holder, epoch) in sorted(self._shards.items())
            if holder in living
        ]

    async def outages(self, shard: int, after: int = 0) -> list[Outage]:
        """Return a shard's outages. See `Ownership.outages`."""
        return self._outages.get(shard, [])[after:]

    def _living(self, now_ms: int) -> set[str]:
        return {name for name, held in self._held.items() if held.lease.expires_at_ms > now_ms}

    def _is_alive(self, lease: Lease, now_ms: int) -> bool:
        held = self._held.get(lease.instance)
        return (
            held is not None
            and held.lease.epoch == lease.epoch
            and held.lease.expires_at_ms > now_ms
        )

    def _add_outage(self, shard: int, before: _Held, now_ms: int) -> None:
        outages = self._outages.setdefault(shard, [])
        # A clock that was set back makes no outage shorter than none.
        to_ms = max(now_ms, before.renewed_at_ms)
        outages.append(Outage(len(outages) + 1, before.renewed_at_ms, to_ms))
