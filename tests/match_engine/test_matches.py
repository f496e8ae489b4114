"""How matches get into memory, what is not let in, and how they leave (write protocol, W2, W9)."""

import asyncio
import json
from hashlib import sha256

import pytest

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.snapshot import dump, state_hash
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.memory_stream import MemoryStream
from libs.store.ports import SealedSeed, Snapshot, Status, StoreUnavailableError
from libs.wire.chain import Chain
from libs.wire.record import StoredRecord, chain_hash, decode, encode
from services.match_engine.live import RECENT_MAX
from services.match_engine.snapshots import snapshot_of
from tests.match_engine.rig import Gate, Rig, Table, a_table, refused_as

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


def stream_of(table: Table) -> MemoryStream:
    """Return what the store has of a match, to be tampered with."""
    assert isinstance(table.rig.store, MemoryMatchStore)
    return table.rig.store._streams[table.match_id]


async def played(records: int = 100) -> Table:
    table = await a_table()
    for _ in range(records):
        await table.act()
    return table


async def take_snapshot(table: Table) -> Snapshot:
    match = await table.match()
    snapshot = snapshot_of(match, match.sequence)
    await table.rig.store.put_snapshot(table.match_id, snapshot)
    return snapshot


def loaded_by(table: Table) -> Table:
    """Return the match at an engine that has not loaded it yet."""
    return table.at(table.rig.other())


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
        assert await table.rig.store.quarantined() == {}

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


class TestWhatDoesNotCheckOut:
    """Nobody plays it, and an operator hears of it."""

    async def test_changed_bytes(self) -> None:
        table = await played(10)
        records = stream_of(table)._records
        records[4] = records[4]._replace(data=records[4].data + b"\0")
        await self._is_quarantined(table)

    async def test_a_missing_record(self) -> None:
        table = await played(10)
        del stream_of(table)._records[4]
        await self._is_quarantined(table)

    async def test_a_missing_end(self) -> None:
        table = await played(10)
        stream = stream_of(table)
        head = stream.head
        del stream._records[-1]

        class Longer(MemoryStream):
            @property
            def head(self) -> object:  # type: ignore[override]
                return head

        stream.__class__ = Longer
        await self._is_quarantined(table)

    async def test_a_history_that_was_made_anew_behind_a_snapshot(self) -> None:
        """The record that a snapshot follows must be the one that its next record joins on to."""
        table = await played(20)
        await take_snapshot(table)
        await table.act()
        records = stream_of(table)._records
        forged = decode(records[-2].data)
        forged.actor = "seat:5"
        data = encode(forged)
        records[-2] = StoredRecord(
            records[-2].first_seq, records[-2].last_seq, chain_hash(forged.prev_hash, data), data
        )
        await self._is_quarantined(table)

    async def test_another_hash_at_the_head(self) -> None:
        table = await played(5)
        stream = stream_of(table)
        stream._records[-1] = stream._records[-1]._replace(hash=bytes(32))
        await self._is_quarantined(table)

    async def test_a_fence_that_fell(self) -> None:
        table = loaded_by(await played(5))
        await table.act()
        stream_of(table)._fence = 0
        await self._is_quarantined(table)

    async def test_the_records_of_another_match(self) -> None:
        table = await played(5)
        other = await table.rig.table()
        stream_of(table)._records[:] = stream_of(other)._records
        await self._is_quarantined(table)

    async def test_events_that_make_no_sense(self) -> None:
        table = await a_table()
        await self._forge(table, [e.TradeAccepted(77)])
        await self._is_quarantined(table)

    async def test_a_head_with_another_status(self) -> None:
        table = await played(5)
        stream_of(table)._status = Status.FROZEN
        await self._is_quarantined(table)

    async def test_a_seed_that_is_missing(self) -> None:
        table = await played(5)
        stream_of(table).seed = None  # type: ignore[assignment]
        await self._is_quarantined(table)

    async def test_another_seed(self) -> None:
        table = await played(5)
        stream_of(table).seed = table.rig.seeds.seal(table.match_id, bytes(32))
        await self._is_quarantined(table)

    async def test_a_quarantined_match_stays_out_until_it_is_released(self) -> None:
        table = await played(5)
        await table.rig.store.quarantine(table.match_id, "a suspicion")
        loaded = loaded_by(table)
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.live()
        await table.rig.store.release(table.match_id)

        await loaded.act()

    async def _forge(self, table: Table, events: list[e.Event]) -> None:
        live = await table.live()
        chain = Chain(table.match_id)
        chain.last_seq, chain.last_hash = live.chain.last_seq, live.chain.last_hash
        stored = chain.join(MatchId(table.match_id), "seat:0", live.chain.at_ms, events)  # type: ignore[arg-type]
        stream_of(table)._records.append(stored)

    async def _is_quarantined(self, table: Table) -> None:
        loaded = loaded_by(table)
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.act()
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.submit(c.Roll(0))

        assert list(await table.rig.store.quarantined()) == [table.match_id]
        assert loaded.rig.matches.loaded() == []


class TestWhatIsLeftAlone:
    """Somebody else may be able to play it: it is not quarantined."""

    async def test_a_record_of_a_newer_release(self) -> None:
        table = await played(5)
        records = stream_of(table)._records
        last = records[-1]
        newer = b"\x08\x02" + last.data[2:]
        assert last.data.startswith(b"\x08\x01")
        prev = decode(last.data).prev_hash
        records[-1] = last._replace(data=newer, hash=chain_hash(prev, newer))
        await self._is_left_alone(table)

    async def test_a_seed_under_a_key_that_is_not_here(self) -> None:
        table = await played(5)
        sealed = stream_of(table).seed
        stream_of(table).seed = SealedSeed("seal-0099", sealed.sealed)
        await self._is_left_alone(table)

    async def _is_left_alone(self, table: Table) -> None:
        with refused_as(Reason.STORE_UNAVAILABLE):
            await loaded_by(table).live()

        assert await table.rig.store.quarantined() == {}


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
