"""What every adapter of the store port must do: each guard alone, then all of them in a crowd.

End-to-end runs cannot see that one guard is missing, because the others hide it.
"""

import asyncio

import pytest

from libs.kernel.ids import MatchId
from libs.store.ports import (
    FIRST_FENCE,
    Conflict,
    Dup,
    Fenced,
    MatchStore,
    Ok,
    Status,
    Unknown,
)
from libs.wire.heads import SignedHead
from tests.store.contract_directory import DirectoryContract
from tests.store.contract_streams import StreamContract
from tests.store.contract_wakes import WakeContract
from tests.store.records import (
    AT_MS,
    OTHER_REQUEST,
    REQUEST,
    a_command_id,
    a_match_id,
    a_record,
)
from tests.store.rig import Rig

SCHEMA = 1
WRITERS = 20


class MatchStoreContract(WakeContract, StreamContract, DirectoryContract):
    """The whole port; here W5 and W6: what an append does, and why it may do nothing."""

    async def test_an_append_moves_the_head_and_is_read_back(self, rig: Rig) -> None:
        match_id = await rig.begin()
        record = a_record(2, 3)

        outcome = await rig.store.append(match_id, FIRST_FENCE, 1, record, None)

        head = await rig.store.head(match_id)
        assert outcome == Ok()
        assert head is not None
        assert (head.seq, head.hash, head.fence) == (4, record.stored.hash, FIRST_FENCE)
        assert (head.status, head.signed, head.published_seq) == (Status.LIVE, None, 0)
        assert await rig.store.records(match_id, 1) == [record.stored]

    @pytest.mark.parametrize("expected_seq", [0, 1, 3])
    async def test_another_expected_sequence_is_a_conflict(
        self, rig: Rig, expected_seq: int
    ) -> None:
        match_id = await rig.begin(events=2)
        record = a_record(expected_seq + 1)

        outcome = await rig.store.append(match_id, FIRST_FENCE, expected_seq, record, None)

        assert outcome == Conflict()
        assert await _stays(rig, match_id, 2)

    async def test_an_append_to_no_match_is_a_conflict(self, rig: Rig) -> None:
        assert await rig.store.append(a_match_id(), 1, 1, a_record(2), None) == Conflict()

    @pytest.mark.parametrize("fence", [FIRST_FENCE, FIRST_FENCE + 2])
    async def test_another_fence_is_fenced_though_the_sequence_is_right(
        self, rig: Rig, fence: int
    ) -> None:
        match_id = await rig.begin()
        await rig.store.fence_and_load(match_id, schema_version=SCHEMA)

        outcome = await rig.store.append(match_id, fence, 1, a_record(2), None)

        assert outcome == Fenced()
        assert await _stays(rig, match_id, 1)

    async def test_a_command_again_gets_its_reply_though_the_head_has_moved(self, rig: Rig) -> None:
        match_id = await rig.begin()
        record = a_record(2)
        await rig.store.append(match_id, FIRST_FENCE, 1, record, None)
        await rig.store.append(match_id, FIRST_FENCE, 2, a_record(3), None)

        outcome = await rig.store.append(match_id, FIRST_FENCE, 1, record, None)

        assert outcome == Dup(2, record.stored.hash, REQUEST)
        assert await _stays(rig, match_id, 3)

    async def test_a_command_again_is_stopped_though_the_head_is_as_expected(
        self, rig: Rig
    ) -> None:
        match_id = await rig.begin()
        first = a_record(2)
        again = a_record(3, command_id=first.command_id)
        await rig.store.append(match_id, FIRST_FENCE, 1, first, None)

        outcome = await rig.store.append(match_id, FIRST_FENCE, 2, again, 5)

        assert outcome == Dup(2, first.stored.hash, REQUEST)
        assert await _stays(rig, match_id, 2)
        assert await rig.bound(match_id) is None

    async def test_a_duplicate_tells_what_was_asked_then(self, rig: Rig) -> None:
        match_id = await rig.begin()
        first = a_record(2)
        other = a_record(3, command_id=first.command_id, request_hash=OTHER_REQUEST)
        await rig.store.append(match_id, FIRST_FENCE, 1, first, None)

        outcome = await rig.store.append(match_id, FIRST_FENCE, 2, other, None)

        assert outcome == Dup(2, first.stored.hash, REQUEST)

    async def test_a_fenced_writer_still_hears_of_its_own_commands(self, rig: Rig) -> None:
        match_id = await rig.begin()
        record = a_record(2)
        await rig.store.append(match_id, FIRST_FENCE, 1, record, None)
        await rig.store.fence_and_load(match_id, schema_version=SCHEMA)

        outcome = await rig.store.append(match_id, FIRST_FENCE, 1, record, None)

        assert outcome == Dup(2, record.stored.hash, REQUEST)

    async def test_one_command_id_in_two_matches_is_two_commands(self, rig: Rig) -> None:
        match_id, other_id = await rig.begin(), await rig.begin()
        command_id = a_command_id()

        for each in (match_id, other_id):
            record = a_record(2, command_id=command_id)
            assert await rig.store.append(each, FIRST_FENCE, 1, record, None) == Ok()

    async def test_the_last_record_ends_the_match_and_keeps_the_signed_head(self, rig: Rig) -> None:
        match_id = await rig.begin(wake_at_ms=AT_MS + 5)
        record = a_record(2)
        signed = SignedHead(2, record.stored.hash, True, "a-key", b"signature")  # noqa: FBT003

        await rig.store.append(
            match_id, FIRST_FENCE, 1, record, None, status=Status.ENDED, signed=signed
        )

        head = await rig.store.head(match_id)
        assert head is not None
        assert head.status is Status.ENDED
        assert head.signed == signed
        assert await rig.bound(match_id) is None

    async def test_a_reply_lost_after_the_commit_is_unknown_and_can_be_found(
        self, rig: Rig
    ) -> None:
        match_id = await rig.begin()
        await rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None)
        record = a_record(3)
        rig.lose_reply()

        outcome = await rig.far.append(match_id, FIRST_FENCE, 2, record, None)

        loaded = await rig.far.fence_and_load(match_id, schema_version=SCHEMA)
        found = await rig.far.find_command(match_id, record.command_id)
        assert outcome == Unknown()
        assert loaded is not None
        assert loaded.records[-1] == record.stored
        assert found == Dup(3, record.stored.hash, REQUEST)

    async def test_an_append_under_way_cannot_commit_once_the_match_is_loaded(
        self, rig: Rig
    ) -> None:
        match_id = await rig.begin()
        await rig.far.append(match_id, FIRST_FENCE, 1, a_record(2), None)
        rig.hold()
        under_way = asyncio.create_task(rig.far.append(match_id, FIRST_FENCE, 2, a_record(3), None))
        await rig.until_holding()

        loaded = await rig.store.fence_and_load(match_id, schema_version=SCHEMA)
        rig.let_go()

        assert loaded is not None
        assert loaded.head.seq == 2
        assert await under_way == Fenced()
        assert await _stays(rig, match_id, 2)

    async def test_of_a_crowd_that_appends_at_once_one_wins_each_sequence(self, rig: Rig) -> None:
        match_id = await rig.begin()
        crowd = [rig.store, rig.far] * (WRITERS // 2)

        for seq in range(1, 11):
            records = [a_record(seq + 1) for _ in crowd]
            outcomes = await asyncio.gather(
                *(
                    store.append(match_id, FIRST_FENCE, seq, record, None)
                    for store, record in zip(crowd, records, strict=True)
                )
            )

            winner = records[outcomes.index(Ok())]
            assert sorted(map(repr, outcomes)) == ["Conflict()"] * (WRITERS - 1) + ["Ok()"]
            assert await rig.store.records(match_id, seq) == [winner.stored]

    async def test_a_crowd_that_tries_again_gets_every_command_in_once(self, rig: Rig) -> None:
        match_id = await rig.begin()
        writers = [_write(rig, match_id, store) for store in [rig.store, rig.far] * (WRITERS // 2)]

        written = await asyncio.gather(*writers)

        records = await rig.store.records(match_id, 1)
        assert [record.first_seq for record in records] == list(range(2, 2 + WRITERS))
        assert {record.hash for record in records} == set(written)

    async def test_one_command_sent_many_times_at_once_is_in_once(self, rig: Rig) -> None:
        match_id = await rig.begin()
        record = a_record(2)

        outcomes = await asyncio.gather(
            *(
                store.append(match_id, FIRST_FENCE, 1, record, None)
                for store in [rig.store, rig.far] * (WRITERS // 2)
            )
        )

        dup = Dup(2, record.stored.hash, REQUEST)
        assert outcomes.count(Ok()) == 1
        assert outcomes.count(dup) == WRITERS - 1
        assert await _stays(rig, match_id, 2)

    async def test_the_troubles_of_one_match_are_not_its_neighbours(self, rig: Rig) -> None:
        ids = [await rig.begin() for _ in range(WRITERS)]
        seen = a_record(2)
        await rig.store.append(ids[0], FIRST_FENCE, 1, seen, None)
        await rig.store.fence_and_load(ids[1], schema_version=SCHEMA)
        await rig.store.append(ids[2], FIRST_FENCE, 1, a_record(2), None)
        fences = [FIRST_FENCE] * WRITERS

        outcomes = await asyncio.gather(
            rig.store.append(ids[0], FIRST_FENCE, 2, a_record(3, command_id=seen.command_id), None),
            *(
                rig.store.append(match_id, fence, 1, a_record(2), None)
                for match_id, fence in zip(ids[1:], fences[1:], strict=True)
            ),
        )

        dup = Dup(2, seen.stored.hash, REQUEST)
        assert outcomes == [dup, Fenced(), Conflict()] + [Ok()] * (WRITERS - 3)


async def _write(rig: Rig, match_id: MatchId, store: MatchStore) -> bytes:
    """Append one record as soon as the head lets it; returns its hash."""
    command_id = a_command_id()
    while True:
        head = await rig.store.head(match_id)
        assert head is not None
        record = a_record(head.seq + 1, command_id=command_id)
        outcome = await store.append(match_id, FIRST_FENCE, head.seq, record, None)
        if outcome == Ok():
            return record.stored.hash
        assert outcome == Conflict()


async def _stays(rig: Rig, match_id: MatchId, seq: int) -> bool:
    """Tell whether the head is at a sequence, and the records end there."""
    head = await rig.store.head(match_id)
    records = await rig.store.records(match_id, 0)
    return head is not None and head.seq == records[-1].last_seq == seq
