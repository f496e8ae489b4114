"""The part of the store's contract about all but appends and wake-ups. See `contract`."""

import pytest

from libs.kernel.shards import SHARDS, shard_of
from libs.store.ports import (
    FIRST_FENCE,
    Conflict,
    Dup,
    Ok,
    Published,
    Snapshot,
    Status,
    Unknown,
)
from tests.store.records import AT_MS, REQUEST, SEED, a_command_id, a_match_id, a_record
from tests.store.rig import Rig

SCHEMA = 1
OTHER_SCHEMA = 2


class StreamContract:
    """Beginning and loading a match, and everything kept beside its stream."""

    async def test_a_match_begins_with_its_first_record_secret_and_bound(self, rig: Rig) -> None:
        match_id, record = a_match_id(), a_record(1, 2)

        assert await rig.store.create(match_id, record, SEED, AT_MS, None) == Ok()

        head = await rig.store.head(match_id)
        assert head is not None
        assert (head.seq, head.hash, head.fence) == (2, record.stored.hash, FIRST_FENCE)
        assert await rig.store.records(match_id, 0) == [record.stored]
        assert await rig.store.seed(match_id) == SEED
        assert await rig.bound(match_id) == AT_MS

    async def test_a_match_created_again_by_its_command_gets_the_reply(self, rig: Rig) -> None:
        match_id, record = a_match_id(), a_record(1)
        await rig.store.create(match_id, record, SEED, None, None)
        again = a_record(1, command_id=record.command_id)

        outcome = await rig.store.create(match_id, again, SEED, None, None)

        assert outcome == Dup(1, record.stored.hash, REQUEST)

    async def test_a_match_created_by_another_command_is_a_conflict(self, rig: Rig) -> None:
        match_id = await rig.begin()

        assert await rig.store.create(match_id, a_record(1), SEED, None, None) == Conflict()

    async def test_a_creation_whose_reply_is_lost_is_unknown_and_can_be_found(
        self, rig: Rig
    ) -> None:
        await rig.far.create(a_match_id(), a_record(1), SEED, None, None)
        match_id, record = a_match_id(), a_record(1)
        rig.lose_reply()

        outcome = await rig.far.create(match_id, record, SEED, None, None)

        found = await rig.far.find_command(match_id, record.command_id)
        assert outcome == Unknown()
        assert found == Dup(1, record.stored.hash, REQUEST)

    async def test_each_load_raises_the_fence_by_one(self, rig: Rig) -> None:
        match_id = await rig.begin()

        for fence in (FIRST_FENCE + 1, FIRST_FENCE + 2):
            loaded = await rig.store.fence_and_load(match_id, schema_version=SCHEMA)
            assert loaded is not None
            assert loaded.head.fence == fence
        assert await rig.store.append(match_id, FIRST_FENCE + 2, 1, a_record(2), None) == Ok()

    async def test_a_load_brings_everything(self, rig: Rig) -> None:
        match_id = await rig.begin()
        record = a_record(2)
        await rig.store.append(match_id, FIRST_FENCE, 1, record, AT_MS + 7, status=Status.FROZEN)
        await rig.store.set_published([Published(match_id, 1, complete=False)])
        await rig.store.quarantine(match_id, "a test")

        loaded = await rig.store.fence_and_load(match_id, schema_version=SCHEMA)

        assert loaded is not None
        assert loaded.head == await rig.store.head(match_id)
        assert loaded.head.status is Status.FROZEN
        assert loaded.head.published_seq == 1
        assert [stored.first_seq for stored in loaded.records] == [1, 2]
        assert loaded.records[1] == record.stored
        assert (loaded.wake_at_ms, loaded.quarantined) == (AT_MS + 7, "a test")
        assert loaded.snapshot is None

    async def test_a_load_brings_the_newest_snapshot_of_its_schema_and_what_follows(
        self, rig: Rig
    ) -> None:
        match_id = await rig.begin()
        for seq in (1, 3, 5):
            await rig.store.append(match_id, FIRST_FENCE, seq, a_record(seq + 1, 2), None)
        old, mine = _snapshot(1), _snapshot(3)
        for snapshot in (mine, old, _snapshot(5, OTHER_SCHEMA)):
            await rig.store.put_snapshot(match_id, snapshot)

        loaded = await rig.store.fence_and_load(match_id, schema_version=SCHEMA)

        assert loaded is not None
        assert loaded.snapshot == mine
        assert [stored.first_seq for stored in loaded.records] == [4, 6]

    async def test_of_no_match_there_is_nothing(self, rig: Rig) -> None:
        match_id = a_match_id()

        assert await rig.store.fence_and_load(match_id, schema_version=SCHEMA) is None
        assert await rig.store.head(match_id) is None
        assert await rig.store.records(match_id, 0) == []
        assert await rig.store.seed(match_id) is None
        assert await rig.store.snapshot(match_id, 1, schema_version=SCHEMA) is None
        assert await rig.store.find_command(match_id, a_command_id()) is None

    @pytest.mark.parametrize(
        ("after_seq", "first"),
        [(0, [1, 3, 6]), (1, [1, 3, 6]), (2, [3, 6]), (4, [3, 6]), (5, [6]), (6, []), (99, [])],
    )
    async def test_records_are_whole_and_follow_a_sequence(
        self, rig: Rig, after_seq: int, first: list[int]
    ) -> None:
        match_id = await rig.begin(events=2)
        await rig.store.append(match_id, FIRST_FENCE, 2, a_record(3, 3), None)
        await rig.store.append(match_id, FIRST_FENCE, 5, a_record(6), None)

        records = await rig.store.records(match_id, after_seq)
        limited = await rig.store.records(match_id, after_seq, 1)

        assert [stored.first_seq for stored in records] == first
        assert [stored.first_seq for stored in limited] == first[:1]

    async def test_a_command_that_was_not_accepted_is_not_found(self, rig: Rig) -> None:
        match_id = await rig.begin()

        assert await rig.store.find_command(match_id, a_command_id()) is None

    async def test_ids_come_in_pages(self, rig: Rig) -> None:
        mine = {await rig.begin() for _ in range(3)}
        found = []
        page = await rig.store.match_ids(None, 2)
        while page:
            found += page
            page = await rig.store.match_ids(page[-1], 2)

        assert found == sorted(set(found))
        assert mine <= set(found)

    async def test_a_match_is_open_until_it_is_wholly_published(self, rig: Rig) -> None:
        match_id = await rig.begin()
        shard = shard_of(match_id)
        await rig.store.append(match_id, FIRST_FENCE, 1, a_record(2), None, status=Status.ENDED)

        before = await rig.store.open_heads({shard})
        elsewhere = await rig.store.open_heads(set(range(SHARDS)) - {shard})
        await rig.store.set_published([Published(match_id, 2, complete=False)])
        nearly = await rig.store.open_heads({shard})
        await rig.store.set_published([Published(match_id, 2, complete=True)])
        after = await rig.store.open_heads({shard})

        assert [head.published_seq for head in before if head.match_id == match_id] == [0]
        assert match_id not in {head.match_id for head in elsewhere}
        assert [head.published_seq for head in nearly if head.match_id == match_id] == [2]
        assert match_id not in {head.match_id for head in after}

    async def test_published_positions_never_go_back(self, rig: Rig) -> None:
        match_id, other_id = await rig.begin(events=9), await rig.begin(events=9)
        await rig.store.set_published(
            [Published(other_id, 4, complete=False), Published(match_id, 7, complete=True)]
        )

        await rig.store.set_published(
            [Published(match_id, 5, complete=False), Published(other_id, 6, complete=False)]
        )

        heads = [await rig.store.head(each) for each in (match_id, other_id)]
        open_now = await rig.store.open_heads({shard_of(match_id)})
        assert [head and head.published_seq for head in heads] == [7, 6]
        assert match_id not in {head.match_id for head in open_now}

    async def test_the_newest_snapshot_at_a_sequence_is_found(self, rig: Rig) -> None:
        match_id = await rig.begin()
        for snapshot in (_snapshot(200), _snapshot(400), _snapshot(300, OTHER_SCHEMA)):
            await rig.store.put_snapshot(match_id, snapshot)

        found = [
            await rig.store.snapshot(match_id, seq, schema_version=SCHEMA)
            for seq in (199, 200, 399, 400)
        ]

        assert found == [None, _snapshot(200), _snapshot(200), _snapshot(400)]

    async def test_a_snapshot_gives_way_to_a_newer_one_of_its_place(self, rig: Rig) -> None:
        match_id = await rig.begin()
        await rig.store.put_snapshot(match_id, _snapshot(200, OTHER_SCHEMA))

        await rig.store.put_snapshot(match_id, _snapshot(200))

        found = await rig.store.snapshot(match_id, 200, schema_version=SCHEMA)
        assert found == _snapshot(200)
        assert await rig.store.snapshot(match_id, 200, schema_version=OTHER_SCHEMA) is None

    async def test_time_does_not_stand_still(self, rig: Rig) -> None:
        assert await rig.store.now_ms() > AT_MS


def _snapshot(seq: int, schema_version: int = SCHEMA) -> Snapshot:
    return Snapshot(seq, "opolyx.classic@2", schema_version, b"state", b"state hash")
