"""How matches get into memory, what is not let in, and how they leave (write protocol, W2, W9)."""

import asyncio
import json
from hashlib import sha256

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules.snapshot import dump, state_hash
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.ports import Snapshot, Status, StoreUnavailableError
from services.match_engine.live import RECENT_MAX
from services.match_engine.matches import OVER_SHARE
from services.match_engine.snapshots import snapshot_of
from tests.match_engine.loads import loaded_by, played, stream_of, take_snapshot
from tests.match_engine.rig import Gate, Rig, a_table, refused_as

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


class TestLoading:
    async def test_a_match_is_as_its_last_engine_had_it(self) -> None:
        table = await played()
        live = await table.live()
        loaded = await loaded_by(table).live()

        assert state_hash(loaded.match) == state_hash(live.match)
        assert loaded.chain.fence == live.chain.fence + 1
        assert (loaded.chain.last_seq, loaded.chain.last_hash, loaded.chain.at_ms) == (
            live.chain.last_seq,
            live.chain.last_hash,
            live.chain.at_ms,
        )
        assert loaded.recent(0) is None
        assert loaded.recent(live.chain.last_seq) == []
        assert loaded.recent(live.chain.last_seq - 1) == (await table.records())[-1:]

    async def test_a_match_is_loaded_once(self) -> None:
        table = loaded_by(await played(5))
        first = await table.live()
        await table.act()

        assert await table.live() is first
        assert table.rig.faults.calls.count("fence_and_load") == 1

    async def test_a_snapshot_spares_the_records_before_it(self) -> None:
        table = await played(70)
        await take_snapshot(table)
        for _ in range(3):
            await table.act()
        loaded = loaded_by(table)

        assert state_hash(await loaded.match()) == state_hash(await table.match())
        assert (await loaded.live()).recent(0) is None
        kept = (await loaded.live())._recent
        assert [entry.record for entry in kept] == (await table.records())[-4:]
        await loaded.act()

    async def test_a_snapshot_of_the_head_is_all_it_takes(self) -> None:
        table = await played(70)
        await take_snapshot(table)
        loaded = await loaded_by(table).live()

        assert state_hash(loaded.match) == state_hash(await table.match())
        assert loaded.chain.at_ms == (await table.live()).chain.at_ms

    @pytest.mark.parametrize("wrong", ["hash", "state", "json", "place", "match", "rules"])
    async def test_a_wrong_snapshot_is_ignored(self, wrong: str) -> None:
        table = await played(70)
        good = await take_snapshot(table)
        for _ in range(3):
            await table.act()
        await table.rig.store.put_snapshot(table.match_id, _spoilt(good, wrong))
        loaded = loaded_by(table)

        assert state_hash(await loaded.match()) == state_hash(await table.match())
        assert len((await loaded.live())._recent) == RECENT_MAX
        await loaded.act()
        assert await table.rig.store.quarantined() == []

    async def test_a_snapshot_within_a_record_is_ignored(self) -> None:
        table = await played(20)
        match = await table.match()
        sequence = (await table.records())[-1].first_seq
        assert sequence < match.sequence
        match = match.copy()
        match.sequence = sequence
        await table.rig.store.put_snapshot(table.match_id, snapshot_of(match, sequence))

        assert (await loaded_by(table).live()).chain.last_seq > sequence

    async def test_the_draws_go_on_where_they_were(self) -> None:
        """Two engines that take turns roll the dice that one alone would have rolled."""
        table = await played(40)
        again = loaded_by(table)
        await again.live()
        seed = table.rig.seeds.unseal(table.match_id, stream_of(table).seed)

        assert (await again.live()).draws.reveal() == seed
        assert (await again.live()).draws.roll(99, third=False) == (await table.live()).draws.roll(
            99, third=False
        )

    async def test_while_seeds_are_given_too(self) -> None:
        table = await Rig().table(people=2, bots=0)
        await table.submit(c.ContributeSeed(0, bytes(range(16))))
        again = loaded_by(table)
        await again.submit(c.ContributeSeed(1, b""))

        assert (await again.match()).client_seeds == [bytes(range(16)), b""]
        assert state_hash(await again.match()) == state_hash(await loaded_by(again).match())


def _spoilt(snapshot: Snapshot, wrong: str) -> Snapshot:
    state = json.loads(snapshot.state)
    if wrong == "hash":
        return snapshot._replace(state_hash=bytes(32))
    if wrong == "state":
        state["cash"][0] += 1
        return snapshot._replace(state=json.dumps(state).encode())
    text = b"[]"
    if wrong != "json":
        key, value = {
            "place": ("sequence", state["sequence"] + 1),
            "match": ("match_id", "0190a000-0000-7000-8000-0000000000ff"),
            "rules": ("owner", [5] * 40),
        }[wrong]
        state[key] = value
        text = json.dumps(state).encode()
    return snapshot._replace(state=text, state_hash=sha256(text).digest())


class TestLeaving:
    async def test_the_match_that_was_not_used_for_longest_gives_way(self) -> None:
        rig = Rig(capacity=2)
        first, second = await rig.table(), await rig.table()
        await first.act()
        third = await rig.table()

        assert [live.match_id for live in rig.matches.loaded()] == [
            first.match_id,
            third.match_id,
        ]
        assert rig.heard.dropped_ids == [(second.match_id, Reason.NOT_OWNER_OF_SHARD)]
        await second.act()

    async def test_matches_that_are_over_give_way_long_before_those_that_go_on(self) -> None:
        rig = Rig(capacity=2 * OVER_SHARE)
        going_on, *over = [await rig.table() for _ in range(4)]
        for table in over[:2]:
            await table.submit(c.Surrender(0))
        await over[0].live()  # somebody looks at it again
        await over[2].submit(c.Surrender(0))

        kept = {live.match_id for live in rig.matches.loaded()}
        assert kept == {going_on.match_id, over[0].match_id, over[2].match_id}
        assert rig.heard.dropped_ids == [(over[1].match_id, Reason.NOT_OWNER_OF_SHARD)]
        assert (await over[1].live()).is_over
        assert len(rig.matches.loaded()) == 3

    async def test_a_match_that_is_dropped_is_loaded_anew(self) -> None:
        table = await played(5)
        before = await table.live()
        table.rig.matches.drop(table.match_id, Reason.NOT_OWNER_OF_SHARD)
        table.rig.matches.drop(table.match_id, Reason.NOT_OWNER_OF_SHARD)

        assert await table.live() is not before
        assert table.rig.heard.dropped_ids == [(table.match_id, Reason.NOT_OWNER_OF_SHARD)]

    async def test_all_are_dropped_when_the_lease_is_lost(self) -> None:
        rig = Rig()
        tables = [await rig.table() for _ in range(3)]
        rig.faults.plan("append", Fault.CONFLICT)
        rig.faults.plan("fence_and_load", Fault.UNAVAILABLE)
        with pytest.raises(StoreUnavailableError):
            await tables[1].act()  # to be loaded anew, and still followed
        rig.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)

        assert rig.matches.loaded() == []
        assert {match_id for match_id, _ in rig.heard.dropped_ids} == {t.match_id for t in tables}

    async def test_what_is_committed_while_it_is_dropped_is_answered_and_not_told(self) -> None:
        table = await played(5)
        turn = (await table.play_until("roll")).turn
        told = len(table.rig.heard.records)

        class Dropping:
            async def __call__(self, method: str) -> None:
                if method == "append":
                    table.rig.matches.drop(table.match_id, Reason.NOT_OWNER_OF_SHARD)

        assert isinstance(table.rig.far, MemoryMatchStore)
        table.rig.far._faults = Dropping()
        accepted = await table.submit(c.Roll(turn))

        assert (await table.records())[-1].last_seq == accepted.sequence
        assert len(table.rig.heard.records) == told

    async def test_a_shard_that_is_lost_while_its_match_is_loaded(self) -> None:
        table = loaded_by(await played(5))
        gate = Gate(table.rig.faults, "seed")
        loading = asyncio.create_task(table.live())
        await gate.reached.wait()
        table.rig.shards.owned = False
        table.rig.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
        gate.open.set()
        with refused_as(Reason.NOT_OWNER_OF_SHARD):
            await loading

        assert table.rig.matches.loaded() == []


class TestListenersAfterAReload:
    """What was committed and not heard of is told in order, each record once (W6, W7)."""

    async def test_nothing_is_missed(self) -> None:
        table = await a_table()
        for number in range(60):
            if number % 3 == 0:
                fault = [Fault.LOST_REPLY, Fault.LOST_REQUEST, Fault.CONFLICT][number // 3 % 3]
                table.rig.faults.plan("append", fault)
            await table.act()

        assert table.rig.heard.records == (await table.records())[1:]
        assert table.rig.heard.dropped_ids == []

    async def test_what_another_engine_wrote_in_between_is_told_too(self) -> None:
        table = await a_table()
        live = await table.live()
        table.rig.matches.reload(live)
        elsewhere = loaded_by(table)
        for _ in range(10):
            await elsewhere.act()
        await table.live()

        assert table.rig.heard.records == (await table.records())[1:]

    async def test_who_missed_too_much_begins_anew(self) -> None:
        table = await a_table()
        table.rig.matches.reload(await table.live())
        elsewhere = loaded_by(table)
        for _ in range(RECENT_MAX + 1):
            await elsewhere.act()
        await table.live()

        assert table.rig.heard.records == []
        assert table.rig.heard.dropped_ids == [(table.match_id, Reason.NOT_OWNER_OF_SHARD)]


async def test_a_match_that_is_over_can_be_read() -> None:
    table = await played(5)
    await table.submit(c.Abort("enough", OPERATOR))
    loaded = await loaded_by(table).live()

    assert loaded.is_over
    assert loaded.status is Status.ABORTED
    assert dump(loaded.match) == dump(await table.match())
