"""The store in memory keeps the contract, and breaks when it is told to."""

import asyncio

import pytest

from libs.kernel.clock import ManualClock
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.memory_ownership import MemoryOwnership
from libs.store.ports import FIRST_FENCE, Conflict, MatchStore, Ok, StoreUnavailableError, Unknown
from tests.store.contract import MatchStoreContract
from tests.store.contract_ownership import OwnershipContract, OwnershipRig
from tests.store.records import AT_MS, SEED, a_match_id, a_record
from tests.store.rig import Rig


class MemoryRig(Rig):
    """A store in memory; the line to it is its faults."""

    def __init__(self) -> None:
        store = MemoryMatchStore(ManualClock(AT_MS + 1), self._near)
        self.store = store
        self.far = store.seen_through(self._line)
        self._open = asyncio.Event()
        self._open.set()
        self._holding = asyncio.Event()
        self._loses_reply = False

    def hold(self) -> None:
        self._open.clear()

    async def until_holding(self) -> None:
        await self._holding.wait()

    def let_go(self) -> None:
        self._open.set()

    def lose_reply(self) -> None:
        self._loses_reply = True

    async def _near(self, _: str) -> Fault | None:
        await asyncio.sleep(0)  # others come between, as they do on a network
        return None

    async def _line(self, _: str) -> Fault | None:
        if not self._open.is_set():
            self._holding.set()
        await self._open.wait()
        fault = Fault.LOST_REPLY if self._loses_reply else None
        self._loses_reply = False
        return fault


class TestMemoryMatchStore(MatchStoreContract):
    @pytest.fixture
    def rig(self) -> Rig:
        return MemoryRig()


class TestMemoryOwnership(OwnershipContract):
    @pytest.fixture
    def owners(self) -> OwnershipRig:
        clock = ManualClock(AT_MS)

        async def lapse(_: str) -> None:
            clock.advance(OwnershipContract.TTL_MS)

        return OwnershipRig(MemoryOwnership(clock), lapse)


@pytest.mark.parametrize(
    ("fault", "told", "is_done"),
    [
        (Fault.LOST_REQUEST, Unknown(), False),
        (Fault.LOST_REPLY, Unknown(), True),
        (Fault.CONFLICT, Conflict(), False),
        (None, Ok(), True),
    ],
)
async def test_a_fault_decides_what_an_append_does_and_tells(
    fault: Fault | None, told: object, is_done: object
) -> None:
    store, faulty = await _faulty(fault)
    match_id = a_match_id()
    await store.create(match_id, a_record(1), SEED, None, None)

    outcome = await faulty.append(match_id, FIRST_FENCE, 1, a_record(2), None)

    head = await store.head(match_id)
    assert outcome == told
    assert head is not None
    assert (head.seq == 2) is is_done


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_REPLY, Fault.UNAVAILABLE])
async def test_a_load_without_an_answer_says_so_and_may_have_raised_the_fence(
    fault: Fault,
) -> None:
    store, faulty = await _faulty(fault)
    match_id = a_match_id()
    await store.create(match_id, a_record(1), SEED, None, None)

    with pytest.raises(StoreUnavailableError):
        await faulty.fence_and_load(match_id, schema_version=1)

    head = await store.head(match_id)
    assert head is not None
    assert head.fence == FIRST_FENCE + (fault is Fault.LOST_REPLY)


async def test_an_append_that_cannot_be_sent_says_so() -> None:
    _, faulty = await _faulty(Fault.UNAVAILABLE)

    with pytest.raises(StoreUnavailableError):
        await faulty.append(a_match_id(), FIRST_FENCE, 1, a_record(2), None)


async def _faulty(fault: Fault | None) -> tuple[MatchStore, MatchStore]:
    async def plan(_: str) -> Fault | None:
        return fault

    store = MemoryMatchStore(ManualClock(AT_MS))
    return store, store.seen_through(plan)
