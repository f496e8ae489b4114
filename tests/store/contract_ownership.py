"""What every adapter of `Ownership` must do."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, NamedTuple

from libs.kernel.shards import SHARDS
from libs.store.ownership import Lease, Outage, Ownership

ALL = frozenset(range(SHARDS))


class OwnershipRig(NamedTuple):
    """Shards to share out, and a way to let an engine's lease lapse."""

    ownership: Ownership
    lapse: Callable[[str], Awaitable[None]]


class OwnershipContract:
    """Leases, shares and outages. Safety is not here: that is the fence's."""

    TTL_MS: ClassVar = 60_000

    async def test_an_engine_alone_gets_everything(self, owners: OwnershipRig) -> None:
        ann = await self._take(owners, "ann")

        assert await owners.ownership.claim_shards(ann) == ALL

        assigned = await owners.ownership.assignments()
        assert [assignment.shard for assignment in assigned] == sorted(ALL)
        assert {(each.instance, each.address, each.epoch) for each in assigned} == {
            ("ann", "ann:1", 1)
        }

    async def test_engines_share_alike_and_nothing_moves_without_need(
        self, owners: OwnershipRig
    ) -> None:
        ann, bob, cid = [await self._take(owners, name) for name in ("ann", "bob", "cid")]
        for lease in (ann, bob, cid, ann):
            await owners.ownership.claim_shards(lease)
        before = await owners.ownership.assignments()

        shares = [await owners.ownership.claim_shards(lease) for lease in (ann, bob, cid)]

        sizes = sorted(len(share or ()) for share in shares)
        assert sizes == [21, 21, 22]
        assert frozenset[int]().union(*(share or () for share in shares)) == ALL
        assert await owners.ownership.assignments() == before

    async def test_a_shard_that_moves_for_balance_had_no_outage(self, owners: OwnershipRig) -> None:
        ann = await self._take(owners, "ann")
        await owners.ownership.claim_shards(ann)
        bob = await self._take(owners, "bob")

        bobs = await owners.ownership.claim_shards(bob)

        assert bobs is not None
        assert len(bobs) == SHARDS // 2
        assert await owners.ownership.claim_shards(ann) == ALL - bobs
        assert await self._outages(owners) == {}

    async def test_a_renewed_lease_lives_longer(self, owners: OwnershipRig) -> None:
        ann = await self._take(owners, "ann")

        renewed = await owners.ownership.renew_lease(ann, 2 * self.TTL_MS)

        assert renewed is not None
        assert renewed.expires_at_ms >= ann.expires_at_ms + self.TTL_MS
        assert renewed.epoch == ann.epoch

    async def test_a_lapsed_lease_is_worth_nothing(self, owners: OwnershipRig) -> None:
        ann = await self._take(owners, "ann")
        await owners.ownership.claim_shards(ann)

        await owners.lapse("ann")

        assert await owners.ownership.renew_lease(ann, self.TTL_MS) is None
        assert await owners.ownership.claim_shards(ann) is None
        assert await owners.ownership.assignments() == []

    async def test_the_shards_of_a_dead_engine_are_taken_with_an_outage_each(
        self, owners: OwnershipRig
    ) -> None:
        ann = await self._take(owners, "ann")
        await owners.ownership.claim_shards(ann)
        await owners.lapse("ann")
        bob = await self._take(owners, "bob")

        assert await owners.ownership.claim_shards(bob) == ALL

        outages = await self._outages(owners)
        assert outages.keys() == ALL
        assert {len(each) for each in outages.values()} == {1}
        assert {outage.number for each in outages.values() for outage in each} == {1}
        # From the last renewal on, not from the lease's end: nobody served in between.
        assert all(each[0].to_ms - each[0].from_ms >= self.TTL_MS for each in outages.values())

    async def test_an_engine_that_starts_again_has_its_shards_at_once_with_an_outage(
        self, owners: OwnershipRig
    ) -> None:
        first = await self._take(owners, "ann")
        await owners.ownership.claim_shards(first)

        again = await self._take(owners, "ann")

        assert again.epoch == first.epoch + 1
        assert await owners.ownership.claim_shards(again) == ALL
        assert (await self._outages(owners)).keys() == ALL
        assert {each.epoch for each in await owners.ownership.assignments()} == {2}

    async def test_the_process_that_was_replaced_is_out(self, owners: OwnershipRig) -> None:
        first = await self._take(owners, "ann")
        again = await self._take(owners, "ann")

        assert await owners.ownership.renew_lease(first, self.TTL_MS) is None
        assert await owners.ownership.claim_shards(first) is None
        await owners.ownership.release_lease(first)
        assert await owners.ownership.renew_lease(again, self.TTL_MS) is not None

    async def test_a_regained_lease_has_the_outage_too(self, owners: OwnershipRig) -> None:
        ann = await self._take(owners, "ann")
        await owners.ownership.claim_shards(ann)
        await owners.lapse("ann")

        await self._take(owners, "ann")

        assert (await self._outages(owners)).keys() == ALL

    async def test_released_shards_are_free_at_once(self, owners: OwnershipRig) -> None:
        ann, bob = await self._take(owners, "ann"), await self._take(owners, "bob")
        for lease in (ann, bob):
            await owners.ownership.claim_shards(lease)

        await owners.ownership.release_lease(ann)

        assert await owners.ownership.claim_shards(bob) == ALL
        assert len(await self._outages(owners)) == SHARDS // 2

    async def test_outages_are_numbered_by_shard_and_read_from_a_number_on(
        self, owners: OwnershipRig
    ) -> None:
        await owners.ownership.claim_shards(await self._take(owners, "ann"))
        for _ in range(3):
            await self._take(owners, "ann")

        after = await owners.ownership.outages(5, 1)

        assert [outage.number for outage in after] == [2, 3]
        assert all(outage.to_ms >= outage.from_ms for outage in after)

    async def _take(self, owners: OwnershipRig, instance: str) -> Lease:
        return await owners.ownership.take_lease(instance, f"{instance}:1", self.TTL_MS)

    async def _outages(self, owners: OwnershipRig) -> dict[int, list[Outage]]:
        found = {shard: await owners.ownership.outages(shard) for shard in sorted(ALL)}
        return {shard: outages for shard, outages in found.items() if outages}
