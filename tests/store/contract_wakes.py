"""The part of the store's contract about wake-ups. See `contract`."""

import pytest

from libs.kernel.shards import SHARDS, shard_of
from libs.store.ports import FIRST_FENCE, Conflict, Fenced, Ok, Unknown, Wake
from tests.store.records import a_match_id, a_record
from tests.store.rig import Rig

SCHEMA = 1


class WakeContract:
    """The wake-up bound: below the earliest deadline always, and moved as rarely as can be."""

    @pytest.mark.parametrize(
        ("bound", "wake_at", "at", "after"),
        [
            (100, 60, 50, 60),
            (100, 140, 50, 100),
            (100, 140, 99, 100),
            (100, 140, 100, 140),
            (100, 140, 120, 140),
            (100, 100, 120, 100),
            (None, 140, 50, 140),
            (100, None, 50, None),
            (None, None, 50, None),
        ],
        ids="lowered kept kept_to_the_last raised_at_it raised_late equal begun gone none".split(),
    )
    async def test_an_append_moves_the_bound(
        self, rig: Rig, bound: int | None, wake_at: int | None, at: int, after: int | None
    ) -> None:
        match_id = await rig.begin(wake_at_ms=bound)

        await rig.store.append(match_id, FIRST_FENCE, 1, a_record(2, at_ms=at), wake_at)

        assert await rig.bound(match_id) == after

    @pytest.mark.parametrize("wake_at", [60, 140, None])
    async def test_a_look_sets_the_bound_in_either_direction(
        self, rig: Rig, wake_at: int | None
    ) -> None:
        match_id = await rig.begin(wake_at_ms=100)

        assert await rig.store.look(match_id, FIRST_FENCE, 1, wake_at) == Ok()
        assert await rig.bound(match_id) == wake_at

    async def test_a_look_by_a_fenced_writer_raises_nothing(self, rig: Rig) -> None:
        match_id = await rig.begin(wake_at_ms=100)
        await rig.store.fence_and_load(match_id, schema_version=SCHEMA)

        assert await rig.store.look(match_id, FIRST_FENCE, 1, 140) == Fenced()
        assert await rig.bound(match_id) == 100

    async def test_a_look_that_an_append_overtook_raises_nothing(self, rig: Rig) -> None:
        match_id = await rig.begin(wake_at_ms=100)
        await rig.store.append(match_id, FIRST_FENCE, 1, a_record(2), 60)

        assert await rig.store.look(match_id, FIRST_FENCE, 1, 140) == Conflict()
        assert await rig.bound(match_id) == 60

    async def test_a_look_at_no_match_is_a_conflict(self, rig: Rig) -> None:
        assert await rig.store.look(a_match_id(), FIRST_FENCE, 1, 140) == Conflict()

    async def test_a_look_whose_reply_is_lost_is_unknown(self, rig: Rig) -> None:
        match_id = await rig.begin(wake_at_ms=100)
        await rig.far.look(match_id, FIRST_FENCE, 1, 110)
        rig.lose_reply()

        assert await rig.far.look(match_id, FIRST_FENCE, 1, 140) == Unknown()
        assert await rig.bound(match_id) == 140

    @pytest.mark.parametrize(("fence", "seq"), [(2, 1), (1, 2), (2, 2)])
    async def test_an_append_that_fails_leaves_the_bound(
        self, rig: Rig, fence: int, seq: int
    ) -> None:
        match_id = await rig.begin(wake_at_ms=100)

        await rig.store.append(match_id, fence, seq, a_record(seq + 1), 60)

        assert await rig.bound(match_id) == 100

    async def test_what_is_due_comes_earliest_first_and_of_the_asked_shards_alone(
        self, rig: Rig
    ) -> None:
        late = await rig.begin(wake_at_ms=30)
        early = await rig.begin(wake_at_ms=10)
        later = await rig.begin(wake_at_ms=31)
        mine = {shard_of(late), shard_of(early), shard_of(later)}
        others = set(range(SHARDS)) - mine

        due = await rig.store.wakes_due(mine, 30, 1000)
        not_mine = {match_id for match_id, _ in await rig.store.wakes_due(others, 1 << 60, 1000)}

        assert [wake for wake in due if wake.match_id in (late, early, later)] == [
            Wake(early, 10),
            Wake(late, 30),
        ]
        assert len(await rig.store.wakes_due(mine, 30, 1)) == 1
        assert not_mine.isdisjoint({late, early, later})
