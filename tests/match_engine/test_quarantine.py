"""Matches that do not check out, and those that somebody else may be able to read (W2)."""

from pathlib import Path

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.store.ports import SealedSeed, Status
from libs.wire.chain import Chain
from libs.wire.record import StoredRecord, chain_hash, decode, encode
from tests.match_engine.loads import loaded_by, played, stream_of, take_snapshot
from tests.match_engine.rig import Table, a_command_id, a_table, refused_as
from tests.support.damage import leave_only


class TestWhatDoesNotCheckOut:
    """Nobody plays it, and an operator hears of it."""

    async def test_changed_bytes(self) -> None:
        table = await played(10)
        records = stream_of(table)._records
        changed = decode(records[4].data)
        changed.actor = "seat:5"
        records[4] = records[4]._replace(data=encode(changed))
        await self._is_quarantined(table, "does not join on")

    async def test_bytes_that_are_no_record(self) -> None:
        table = await played(10)
        records = stream_of(table)._records
        records[4] = records[4]._replace(data=records[4].data + b"\0")
        await self._is_quarantined(table, "no record")

    async def test_a_missing_record(self) -> None:
        table = await played(10)
        del stream_of(table)._records[4]
        await self._is_quarantined(table, "does not join on")

    async def test_a_missing_end(self) -> None:
        table = await played(10)
        leave_only(stream_of(table), (await table.records())[:-1])
        await self._is_quarantined(table, "the head is at")

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
        await self._is_quarantined(table, "does not join on")

    async def test_another_hash_at_the_head(self) -> None:
        table = await played(5)
        stream = stream_of(table)
        stream._records[-1] = stream._records[-1]._replace(hash=bytes(32))
        await self._is_quarantined(table, "does not join on")

    async def test_a_fence_that_fell(self) -> None:
        table = loaded_by(await played(5))
        await table.act()
        stream_of(table)._fence = 0
        await self._is_quarantined(table, "has fence")

    async def test_the_records_of_another_match(self) -> None:
        table = await played(5)
        other = await table.rig.table()
        stream_of(table)._records[:] = stream_of(other)._records
        await self._is_quarantined(table, "is of")

    async def test_events_that_make_no_sense(self) -> None:
        table = await a_table()
        await self._forge(table, [e.TradeAccepted(77)])
        await self._is_quarantined(table, "cannot be replayed")

    async def test_a_head_with_another_status(self) -> None:
        table = await played(5)
        stream_of(table)._status = Status.FROZEN
        await self._is_quarantined(table, "the head frozen")

    async def test_a_seed_that_is_missing(self) -> None:
        table = await played(5)
        stream_of(table).seed = None  # type: ignore[assignment]
        await self._is_quarantined(table, "no seed")

    async def test_another_seed(self) -> None:
        table = await played(5)
        stream_of(table).seed = table.rig.seeds.seal(table.match_id, bytes(32))
        await self._is_quarantined(table, "committed")

    async def test_a_seed_under_a_key_that_was_given_up(self, tmp_path: Path) -> None:
        """Whoever waits for it to come back waits for ever: the people are to be free."""
        table = await played(5)
        good = stream_of(table).seed
        stream_of(table).seed = SealedSeed("seal-0099", good.sealed)
        (tmp_path / "seal-0099.lost").touch()
        loaded = loaded_by(table)
        loaded.rig.seeds._sealer._folder = tmp_path
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.act()
        with refused_as(Reason.MATCH_QUARANTINED) as told:
            await loaded.rig.decider.release(table.match_id)

        (kept,) = await table.rig.store.quarantined()
        assert kept.reason == "its seed cannot be opened: the key seal-0099 was given up"
        assert told == {"cause": kept.reason}
        stream_of(table).seed = good
        await loaded.rig.decider.release(table.match_id)
        await loaded.act()

    async def test_a_match_that_is_over_needs_no_seed(self, tmp_path: Path) -> None:
        table = await played(5)
        await table.submit(c.Surrender(0))
        stream_of(table).seed = SealedSeed("seal-0099", b"")
        (tmp_path / "seal-0099.lost").touch()
        loaded = loaded_by(table)
        loaded.rig.seeds._sealer._folder = tmp_path

        assert (await loaded.live()).is_over

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
        stored = chain.join(a_command_id(), "seat:0", live.chain.at_ms, events)
        stream_of(table)._records.append(stored)

    async def _is_quarantined(self, table: Table, reason: str) -> None:
        loaded = loaded_by(table)
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.act()
        with refused_as(Reason.MATCH_QUARANTINED):
            await loaded.submit(c.Roll(0))

        (told,) = await table.rig.store.quarantined()
        assert told.match_id == table.match_id
        assert reason in told.reason
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

        assert await table.rig.store.quarantined() == []
