"""Which engine serves which shard (write protocol, "Ownership"): for routing and liveness only.

Nothing here keeps a match safe, the fence does that: two engines that both believe to own a shard
for a moment cost each other a reload. All times are milliseconds by the store's clock.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from libs.kernel.shards import SHARDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """An engine's word that it lives, good until it is renewed or lapses.

    *epoch* grows with each taking under the same name, so that an older process of that name knows
    that it was replaced.
    """

    instance: str
    address: str
    epoch: int
    expires_at_ms: int


class Assignment(NamedTuple):
    """Who serves a shard, and where; *epoch* grows with each taking of the shard."""

    shard: int
    instance: str
    address: str
    epoch: int


class Outage(NamedTuple):
    """A time in which nobody served a shard, the *number*-th from 1 of its own (T8)."""

    number: int
    from_ms: int
    to_ms: int


class Ownership(Protocol):
    """Shares the shards out among the engines that live. Each method is one atomic step.

    All raise `StoreUnavailableError` if there is no answer in time.
    """

    async def take_lease(self, instance: str, address: str, ttl_ms: int) -> Lease:
        """Begin, or begin again, to live under a name that is one's own.

        Whoever held the name before is out. Shards still assigned to it had nobody since its last
        renewal: each gets an outage from then to now.
        """
        ...

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease | None:
        """Live on. None: the lease has lapsed or was taken; drop everything and take it anew."""
        ...

    async def release_lease(self, lease: Lease) -> None:
        """End in good order: the shards are free at once. Nothing happens if it is not held."""
        ...

    async def claim_shards(self, lease: Lease) -> frozenset[int] | None:
        """Take the caller's fair share of the shards, and return all that it has now.

        None: the lease is not alive. A shard of an engine that lives moves only for balance; one
        whose engine does not gets an outage, from that engine's last renewal to now. Whoever has
        lost a shard learns it by its own next call.
        """
        ...

    async def assignments(self) -> list[Assignment]:
        """Return the shards whose engine lives, in order: what `WatchShards` tells."""
        ...

    async def outages(self, shard: int, after: int = 0) -> list[Outage]:
        """Return a shard's outages with a number above *after*, in order (T8)."""
        ...


def fair_shares(living: Collection[str], holders: Mapping[int, str]) -> dict[int, str]:
    """Return who should have each shard, moving as few of them as can be.

    Shares differ by one at most, and depend on nothing but the arguments: all engines that look at
    the same time find the same.
    """
    if not living:
        return {}
    held: dict[str, list[int]] = {instance: [] for instance in sorted(living)}
    for shard, holder in sorted(holders.items()):
        if holder in held:
            held[holder].append(shard)
    share, larger = divmod(SHARDS, len(held))
    # Those that hold most keep the larger shares.
    by_size = sorted(held, key=lambda instance: (-len(held[instance]), instance))
    quota = {instance: share + (rank < larger) for rank, instance in enumerate(by_size)}
    shares = {shard: instance for instance in held for shard in held[instance][: quota[instance]]}
    free = [shard for shard in range(SHARDS) if shard not in shares]
    for instance, its in held.items():
        lacking = max(quota[instance] - len(its), 0)
        shares.update(dict.fromkeys(free[:lacking], instance))
        del free[:lacking]
    return shares
