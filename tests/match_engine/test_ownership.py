"""The lease, the shards, and when an engine stops believing in them (T8)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress

import pytest

from libs.kernel.clock import ManualClock
from libs.kernel.shards import SHARDS
from libs.store.memory_ownership import MemoryOwnership
from libs.store.ownership import Assignment, Lease
from libs.store.ports import StoreUnavailableError
from services.match_engine.ownership import Leaseholder, LeaseTerms, ReplacedError
from tests.support.waiting import until

ALL = frozenset(range(SHARDS))
QUICK = LeaseTerms(ttl_ms=400, renewal_ms=20, trust_ms=200)


def _nothing() -> None:
    """Happen, in the middle of a call."""


class Store(MemoryOwnership):
    """The engines' leases, at a store that can be away."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.is_away = False
        self.is_silent = False
        self.is_asked_in_vain = False
        self.during_renewal: Callable[[], None] = _nothing
        self.during_claim: Callable[[], None] = _nothing

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease | None:
        await self._reach()
        renewed = await super().renew_lease(lease, ttl_ms)
        self.during_renewal()
        return renewed

    async def claim_shards(self, lease: Lease) -> frozenset[int] | None:
        claimed = await super().claim_shards(lease)
        self.during_claim()
        return claimed

    async def take_lease(self, instance: str, address: str, ttl_ms: int) -> Lease:
        await self._reach()
        return await super().take_lease(instance, address, ttl_ms)

    async def release_lease(self, lease: Lease) -> None:
        await self._reach()
        await super().release_lease(lease)

    async def _reach(self) -> None:
        if self.is_silent:
            self.is_asked_in_vain = True
            try:
                await asyncio.Event().wait()
            finally:
                self.is_asked_in_vain = False
        if self.is_away:
            raise StoreUnavailableError


class Engines:
    """Engines of one store, whose time is told by hand; and what each has lost."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000_000)
        self.store = Store(self.clock)
        self.lost: dict[str, list[set[int]]] = {}

    def engine(self, name: str, address: str = "") -> Leaseholder:
        steady: Callable[[], float] = self.clock.now_ms
        holder = Leaseholder(self.store, name, lambda: address or f"{name}:1", steady=steady)
        self.lost[name] = []

        def note(shards: Collection[int]) -> None:
            self.lost[name].append(set(shards))

        holder.tell(note)
        return holder


@pytest.fixture
def engines() -> Engines:
    return Engines()


@asynccontextmanager
async def running(holder: Leaseholder) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(holder.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, ExceptionGroup):
            await task


async def test_an_engine_alone_serves_everything(engines: Engines) -> None:
    ann = engines.engine("ann")
    assert not ann.owns(0)

    await ann.renew()

    assert ann.shards == ALL
    assert all(ann.owns(shard) for shard in ALL)
    assert ann.is_held


async def test_engines_share_alike_and_the_older_one_forgets_what_it_gave(
    engines: Engines,
) -> None:
    ann, bob = engines.engine("ann"), engines.engine("bob")
    for engine in (ann, bob, ann):
        await engine.renew()

    assert ann.shards | bob.shards == ALL
    assert not ann.shards & bob.shards
    assert len(bob.shards) == 32
    assert engines.lost["ann"] == [set(bob.shards)]
    assert [(a.shard, a.instance) for a in ann.assignments] == [
        (shard, "ann" if shard in ann.shards else "bob") for shard in sorted(ALL)
    ]


async def test_a_renewal_that_began_too_long_ago_is_trusted_no_more(engines: Engines) -> None:
    ann = engines.engine("ann")
    await ann.renew()

    engines.clock.advance(2_999)
    trusted = ann.owns(5)
    engines.clock.advance(1)

    assert trusted
    assert not ann.owns(5)
    assert not ann.is_held
    assert ann.shards == frozenset()


async def test_the_same_lease_got_back_too_late_drops_everything_and_leaves_an_outage(
    engines: Engines,
) -> None:
    ann = engines.engine("ann")
    await ann.renew()
    engines.clock.advance(3_500)  # the store would still renew it

    await ann.renew()

    assert engines.lost["ann"] == [set(ALL)]
    assert ann.shards == ALL
    outages = {(o.number, o.to_ms - o.from_ms) for shard in ALL for o in ann.outages_of(shard)}
    assert outages == {(1, 3_500)}


async def test_a_lapsed_lease_is_taken_anew(engines: Engines) -> None:
    ann = engines.engine("ann")
    await ann.renew()
    engines.clock.advance(60_000)

    await ann.renew()

    assert ann.shards == ALL
    assert engines.lost["ann"] == [set(ALL)]


async def test_a_restart_under_the_same_name_goes_on_at_once(engines: Engines) -> None:
    await engines.engine("ann").renew()
    engines.clock.advance(700)
    again = engines.engine("ann")

    await again.renew()

    assert again.shards == ALL
    assert [(o.from_ms, o.to_ms) for o in again.outages_of(0)] == [(1_000_000, 1_000_700)]


async def test_an_engine_takes_over_what_another_one_left(engines: Engines) -> None:
    ann, bob = engines.engine("ann"), engines.engine("bob")
    for engine in (ann, bob, ann):
        await engine.renew()
    bobs = bob.shards
    for _ in range(5):
        engines.clock.advance(1_000)
        await ann.renew()

    assert ann.shards == ALL
    assert all(len(ann.outages_of(shard)) == (1 if shard in bobs else 0) for shard in ALL)


async def test_a_shard_that_was_away_between_two_renewals_is_another_one(
    engines: Engines,
) -> None:
    ann, bob = engines.engine("ann"), engines.engine("bob")
    await ann.renew()
    await bob.renew()
    bobs = set(bob.shards)
    await bob.release()
    engines.clock.advance(1)

    await ann.renew()

    assert ann.shards == ALL
    assert engines.lost["ann"] == [bobs]
    assert all(ann.outages_of(shard) for shard in bobs)


async def test_a_release_lets_others_begin_at_once(engines: Engines) -> None:
    ann, bob = engines.engine("ann"), engines.engine("bob")
    await ann.renew()

    await ann.release()
    await bob.renew()

    assert bob.shards == ALL
    assert not ann.owns(0)
    assert engines.lost["ann"] == [set(ALL)]


async def test_a_store_that_is_away_at_the_end_is_no_error(engines: Engines) -> None:
    ann = engines.engine("ann")
    await ann.renew()
    engines.store.is_away = True

    await ann.release()

    assert not ann.owns(0)


async def test_an_older_process_of_the_same_name_ends(engines: Engines) -> None:
    old, new = engines.engine("ann", "here:1"), engines.engine("ann", "there:1")
    await old.renew()
    await new.renew()

    with pytest.raises(ReplacedError):
        await old.renew()

    assert not old.owns(0)
    assert new.shards == ALL


async def test_one_that_wakes_after_its_lease_ends_too_if_it_was_replaced(engines: Engines) -> None:
    old, new = engines.engine("ann", "here:1"), engines.engine("ann", "there:1")
    await old.renew()
    engines.clock.advance(LeaseTerms().ttl_ms + 1)
    await new.renew()

    with pytest.raises(ReplacedError):
        await old.renew()

    assert new.shards == ALL


async def test_a_failed_renewal_leaves_what_is_held(engines: Engines) -> None:
    ann = engines.engine("ann")
    await ann.renew()
    engines.store.is_away = True
    engines.clock.advance(1_000)

    with pytest.raises(StoreUnavailableError):
        await ann.renew()

    assert ann.owns(0)
    assert engines.lost["ann"] == []


async def test_a_change_rings_the_bell(engines: Engines) -> None:
    ann, bob = engines.engine("ann"), engines.engine("bob")
    await ann.renew()
    bell = ann.bell
    await ann.renew()
    quiet = bell.is_set()
    await bob.renew()

    await ann.renew()

    assert not quiet
    assert bell.is_set()
    assert not ann.bell.is_set()


async def test_it_renews_by_itself_and_lapses_while_the_store_is_silent() -> None:
    clock = ManualClock(0)
    store = Store(clock)
    holder = Leaseholder(store, "ann", lambda: "ann:1", terms=QUICK)
    lost: list[Collection[int]] = []
    holder.tell(lost.append)

    async with running(holder):
        await until(lambda: holder.is_held)
        store.is_silent = True
        await until(lambda: bool(lost))
        was_held = holder.is_held
        store.is_silent = False
        await until(lambda: holder.shards == ALL)

    assert not was_held
    assert lost == [ALL]


@pytest.mark.parametrize("moment", ["during_renewal", "during_claim"])
async def test_what_lapses_while_it_is_renewed_is_taken_anew_with_its_outage(
    engines: Engines, moment: str
) -> None:
    ann = engines.engine("ann")
    await ann.renew()
    engines.clock.advance(2_000)
    setattr(engines.store, moment, lambda: ann._lapse("silence"))
    await ann.renew()
    setattr(engines.store, moment, _nothing)

    await ann.renew()

    assert ann.shards == ALL
    assert all(ann.outages_of(shard) for shard in ALL)


async def test_it_lapses_in_time_whatever_a_renewal_waits_for() -> None:
    store = Store(ManualClock(0))
    holder = Leaseholder(store, "ann", lambda: "ann:1", terms=QUICK)
    lost: list[tuple[Collection[int], bool]] = []
    holder.tell(lambda shards: lost.append((shards, store.is_asked_in_vain)))

    async with running(holder):
        await until(lambda: holder.is_held)
        store.is_silent = True
        await until(lambda: bool(lost))

    # The renewal that had begun was still waiting.
    assert lost == [(ALL, True)]


async def test_it_ends_when_it_is_replaced() -> None:
    store = Store(ManualClock(0))
    old = Leaseholder(store, "ann", lambda: "here:1", terms=QUICK)
    async with running(old) as task:
        await until(lambda: old.is_held)
        await Leaseholder(store, "ann", lambda: "there:1", terms=QUICK).renew()

        with pytest.raises(ExceptionGroup) as raised:
            await task

    assert raised.group_contains(ReplacedError)
    assert isinstance(old.assignments[0], Assignment)


def test_an_engine_ceases_before_others_begin() -> None:
    terms = LeaseTerms()

    assert terms.renewal_ms < terms.trust_ms < terms.ttl_ms
