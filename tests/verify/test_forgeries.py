"""Every class of forgery is found, and the first bad line named.

The forger here is the worst there is: the engine itself, which holds the key and makes every hash
anew. What only an outsider cannot do is in `test_heads.py`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.kernel.chance import FairDraws, commitment
from libs.verify import MISMATCH, OK, verify
from libs.wire.heads import key_file
from libs.wire.record import GENESIS, HASH_SIZE, StoredRecord, chain_hash
from opolyx.record.v1 import event_pb2, record_pb2
from tests.support.forging import KEY, Evidence, evidence, exported

Records = list[record_pb2.Record]
MATCH = evidence()


@pytest.fixture
def check(tmp_path: Path) -> Callable[[bytes], tuple[int, str]]:
    keys = tmp_path / "keys.json"
    keys.write_text(key_file([KEY]))

    def run(export: bytes) -> tuple[int, str]:
        path = tmp_path / "match.opolyx"
        path.write_bytes(export)
        report = verify(path, keys)
        return report.code, report.lines[0]

    return run


Check = Callable[[bytes], tuple[int, str]]


def found(records: Records, kind: str) -> Iterator[tuple[int, event_pb2.Event]]:
    """Yield the events of a kind, each with the number of its record."""
    for number, record in enumerate(records, 1):
        for event in record.events:
            if event.WhichOneof("event") == kind:
                yield number, event


def rolls(records: Records) -> list[tuple[int, event_pb2.DiceRolled]]:
    return [(number, event.dice_rolled) for number, event in found(records, "dice_rolled")]


def test_nothing_forged_is_all_well(check: Check) -> None:
    assert check(MATCH.export())[0] == OK


class TestDice:
    def test_dice_that_did_not_fall(self, check: Check) -> None:
        number, _ = rolls(MATCH.messages())[3]

        def forge(records: Records) -> None:
            _, roll = rolls(records)[3]
            roll.white_1 = roll.white_1 % 6 + 1

        code, said = check(MATCH.forged(forge).export())
        assert code == MISMATCH
        assert said.startswith(f"mismatch in line {number + 1}, record {number}: roll is ")
        assert "the seed gives" in said

    def test_a_third_die_that_did_not_fall(self, check: Check) -> None:
        def forge(records: Records) -> None:
            _, roll = next((n, r) for n, r in rolls(records) if r.third)
            roll.third = event_pb2.THIRD_DIE_BUS if roll.third != 4 else event_pb2.THIRD_DIE_ONE

        match = evidence(records_max=250)
        code, said = check(match.forged(forge).export())
        assert (code, "the seed gives" in said) == (MISMATCH, True)

    def test_another_first_seat(self, check: Check) -> None:
        def forge(records: Records) -> None:
            _, event = next(found(records, "match_started"))
            event.match_started.first_seat = (event.match_started.first_seat + 1) % 4

        code, said = check(MATCH.forged(forge).export())
        assert code == MISMATCH
        assert "first is" in said

    def test_a_jackpot_that_did_not_fall(self, check: Check) -> None:
        match = evidence("opolyx.classic@2", records_max=400, seed=1)

        def forge(records: Records) -> None:
            _, event = next(found(records, "jackpot_rolled"))
            event.jackpot_rolled.die = event.jackpot_rolled.die % 6 + 1

        assert check(match.export())[0] == OK
        code, said = check(match.forged(forge).export())
        assert code == MISMATCH
        assert "jackpot is" in said

    def test_drawing_until_the_dice_please(self, check: Check) -> None:
        """The dice are true ones, of the next counter: the gap tells."""

        def forge(records: Records) -> None:
            draws = FairDraws(MATCH.match_id, seed_of(records))
            draws.bind(client_seeds_of(records))
            for _, roll in rolls(records)[5:]:
                roll.draw.counter += 1
                roll.white_1, roll.white_2, *_ = draws.roll(roll.draw.counter, third=False)

        number, roll = rolls(MATCH.messages())[5]
        counter = roll.draw.counter
        what = f"it draws block {counter + 1} and not {counter}"
        said = f"mismatch in line {number + 1}, record {number}: {what}"
        assert check(MATCH.forged(forge).export()) == (MISMATCH, said)

    def test_a_block_used_twice(self, check: Check) -> None:
        def forge(records: Records) -> None:
            (_, before), (_, roll) = rolls(records)[4:6]
            roll.CopyFrom(before)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "it draws block" in said) == (MISMATCH, True)

    def test_the_label_of_another_kind_of_draw(self, check: Check) -> None:
        def forge(records: Records) -> None:
            _, roll = rolls(records)[2]
            roll.draw.label = "jackpot"

        code, said = check(MATCH.forged(forge).export())
        assert (code, "labelled jackpot and not roll" in said) == (MISMATCH, True)

    @pytest.mark.parametrize("blocks", [1, 2, 2**62])
    def test_more_blocks_than_were_used(self, check: Check, blocks: int) -> None:
        def forge(records: Records) -> None:
            last = rolls(records)[-1][1]
            # An int32 on the wire, a varint for the verifier: the largest that fits.
            last.draw.blocks = min(blocks, 2**31 - 1)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "blocks" in said) == (MISMATCH, True)


class TestSeeds:
    def test_a_seed_that_was_not_committed_to(self, check: Check) -> None:
        def forge(records: Records) -> None:
            _, event = next(found(records, "seed_revealed"))
            event.seed_revealed.seed = bytes(32)

        code, said = check(MATCH.forged(forge).export())
        assert code == MISMATCH
        assert f"record {len(MATCH.records)}: the seed is not the one" in said

    def test_a_commitment_made_afterwards(self, check: Check) -> None:
        """With another seed and a commitment to it, every draw differs."""

        def forge(records: Records) -> None:
            _, created = next(found(records, "match_created"))
            _, revealed = next(found(records, "seed_revealed"))
            created.match_created.commitment = commitment(MATCH.match_id, bytes(32))
            revealed.seed_revealed.seed = bytes(32)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "the seed gives" in said) == (MISMATCH, True)

    def test_a_client_seed_that_was_not_given(self, check: Check) -> None:
        def forge(records: Records) -> None:
            _, event = next(found(records, "seed_contributed"))
            event.seed_contributed.client_seed = b"another of 16 to 32"

        code, said = check(MATCH.forged(forge).export())
        assert (code, "the seed gives" in said) == (MISMATCH, True)

    def test_a_client_seed_left_out(self, check: Check) -> None:
        def forge(records: Records) -> None:
            number, event = next(found(records, "seed_contributed"))
            records[number - 1].events.remove(event)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "the seed gives" in said) == (MISMATCH, True)

    @pytest.mark.parametrize("size", [1, 15, 33, 300])
    def test_a_client_seed_of_another_size(self, check: Check, size: int) -> None:
        def forge(records: Records) -> None:
            _, event = next(found(records, "seed_contributed"))
            event.seed_contributed.client_seed = bytes(size)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "16 to 32 bytes" in said) == (MISMATCH, True)

    @pytest.mark.parametrize(
        ("seat", "said"), [(0, "a second seed"), (1, "after the first draw"), (4, "no seat 4")]
    )
    def test_a_client_seed_too_many(self, check: Check, seat: int, said: str) -> None:
        def forge(records: Records) -> None:
            records[-2].events.add().seed_contributed.seat = seat

        code, line = check(MATCH.forged(forge).export())
        assert (code, said in line) == (MISMATCH, True)

    def test_a_seed_that_is_not_revealed(self, check: Check) -> None:
        def forge(records: Records) -> None:
            del records[-1].events[-1]

        code, said = check(MATCH.forged(forge).export())
        assert (code, "its seed is not revealed" in said) == (MISMATCH, True)

    def test_a_seed_that_is_revealed_a_record_later(self, check: Check) -> None:
        def forge(records: Records) -> None:
            last = record_pb2.Record()
            last.CopyFrom(records[-1])
            last.command_id = "0190a000-0000-7000-8000-0000000000ee"
            del records[-1].events[-1], last.events[:-1]
            records.append(last)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "its seed is not revealed" in said) == (MISMATCH, True)

    def test_a_seed_that_is_revealed_before_the_end(self, check: Check) -> None:
        def forge(records: Records) -> None:
            records[9].events.add().CopyFrom(records[-1].events[-1])

        code, said = check(MATCH.forged(forge).export())
        assert (code, "record 10: the seed is revealed before the end" in said) == (MISMATCH, True)

    def test_what_happens_after_the_end(self, check: Check) -> None:
        def after_the_end(records: Records) -> None:
            records[-1].events.insert(1, records[-2].events[-1])

        def after_the_seed(records: Records) -> None:
            records[-1].events.append(records[-2].events[-1])

        assert "after the end" in check(MATCH.forged(after_the_end).export())[1]
        assert "after the seed" in check(MATCH.forged(after_the_seed).export())[1]


class TestBirth:
    def test_a_match_that_is_not_created_first(self, check: Check) -> None:
        def forge(records: Records) -> None:
            records[0].events.insert(0, records[-2].events[-1])

        assert "not created first" in check(MATCH.forged(forge).export())[1]

    def test_a_match_that_is_created_or_started_twice(self, check: Check) -> None:
        def created(records: Records) -> None:
            records[5].events.append(records[0].events[0])

        def started(records: Records) -> None:
            _, event = next(found(records, "match_started"))
            records[5].events.append(event)

        assert "created twice" in check(MATCH.forged(created).export())[1]
        assert "starts twice" in check(MATCH.forged(started).export())[1]

    def test_dice_before_the_start(self, check: Check) -> None:
        def forge(records: Records) -> None:
            number, event = next(found(records, "dice_rolled"))
            records[0].events.append(event)
            del records[number - 1]
            event.dice_rolled.draw.counter = 0

        assert "before the match has started" in check(MATCH.forged(forge).export())[1]

    def test_another_match_in_the_first_event(self, check: Check) -> None:
        def forge(records: Records) -> None:
            records[0].events[0].match_created.match_id = "x"

        assert "another match is created" in check(MATCH.forged(forge).export())[1]

    @pytest.mark.parametrize("seats", [0, 1])
    def test_too_few_seats(self, check: Check, seats: int) -> None:
        def forge(records: Records) -> None:
            del records[0].events[0].match_created.seats[seats:]

        assert f"a match for {seats}" in check(MATCH.forged(forge).export())[1]


class TestRecords:
    @pytest.mark.parametrize(
        ("field", "value", "said"),
        [
            ("version", 2, "the version"),
            ("version", 0, "the version"),
            ("match_id", "0190a000-0000-7000-8000-000000000009", "of another match"),
            ("fence", 0, "the fence fell"),
            ("fence", -1, "no number"),
            ("at_ms", 5, "time fell"),
            ("command_id", "again", "no UUID"),
            ("actor", "somebody", "the actor is nobody"),
        ],
    )
    def test_a_field_that_does_not_fit(
        self, check: Check, field: str, value: object, said: str
    ) -> None:
        def forge(records: Records) -> None:
            setattr(records[7], field, value)

        code, line = check(MATCH.forged(forge).export())
        assert code == MISMATCH
        assert line.startswith("mismatch in line 9, record 8: ")
        assert said in line

    def test_a_fence_that_rose_may_not_fall_again(self, check: Check) -> None:
        def forge(records: Records) -> None:
            records[7].fence = 2

        assert "record 9: the fence fell" in check(MATCH.forged(forge).export())[1]

    def test_a_command_that_was_taken_twice(self, check: Check) -> None:
        def forge(records: Records) -> None:
            records[7].command_id = records[3].command_id

        assert (
            "record 8: the command's id is that of record 4 too"
            in (check(MATCH.forged(forge).export())[1])
        )

    def test_swapped_records(self, check: Check) -> None:
        def forge(records: Records) -> None:
            earlier, later = record_pb2.Record(), record_pb2.Record()
            earlier.CopyFrom(records[6])
            later.CopyFrom(records[7])
            records[6].CopyFrom(later)
            records[7].CopyFrom(earlier)

        code, said = check(MATCH.forged(forge).export())
        assert (code, "record 8: time fell" in said) == (MISMATCH, True)

    def test_a_record_without_events(self, check: Check) -> None:
        def forge(records: Records) -> None:
            del records[7].events[:]

        assert "record 8: it has 0 events" in check(MATCH.forged(forge).export())[1]

    def test_a_record_over_256_kib(self, check: Check) -> None:
        def forge(records: Records) -> None:
            records[7].events.add().match_frozen.reason = "x" * 262_144

        code, said = check(MATCH.forged(forge).export())
        assert code == MISMATCH
        assert "record 8" in said or "line 9" in said


class TestChain:
    """What the records tell is right; how they are put together is not."""

    @pytest.mark.parametrize(
        ("field", "said"),
        [("first_seq", "other sequences"), ("last_seq", "other sequences")],
    )
    def test_inner_sequences_that_differ_from_the_line(
        self, check: Check, field: str, said: str
    ) -> None:
        stored = MATCH.chained()
        last = record_pb2.Record.FromString(stored[-1].data)
        setattr(last, field, getattr(last, field) + 1)
        stored[-1] = rehashed(stored[-1], last.SerializeToString(), stored[-2].hash)

        assert said in check(exported(MATCH.match_id, stored))[1]

    def test_an_inner_link_that_differs(self, check: Check) -> None:
        stored = MATCH.chained()
        last = record_pb2.Record.FromString(stored[-1].data)
        last.prev_hash = bytes(32)
        stored[-1] = rehashed(stored[-1], last.SerializeToString(), stored[-2].hash)

        assert "another record went before it" in check(exported(MATCH.match_id, stored))[1]

    def test_a_line_with_other_sequences(self, check: Check) -> None:
        stored = MATCH.chained()
        stored[4] = stored[4]._replace(first_seq=stored[4].first_seq + 1)

        assert "record 5: it begins at" in check(exported(MATCH.match_id, stored))[1]

    def test_a_missing_record(self, check: Check) -> None:
        stored = MATCH.chained()
        del stored[4]

        assert "record 5: it begins at" in check(exported(MATCH.match_id, stored))[1]

    def test_a_hash_that_is_not_that_of_the_bytes(self, check: Check) -> None:
        stored = MATCH.chained()
        stored[4] = stored[4]._replace(hash=bytes(32))

        assert "line 6, record 5: the hash is not" in check(exported(MATCH.match_id, stored))[1]

    @pytest.mark.parametrize("damage", ["ff", "00", "0a", "08", "4a0100", "52ff", "7b", "5a00ff"])
    def test_bytes_that_are_no_message(self, check: Check, damage: str) -> None:
        stored = MATCH.chained()
        data = stored[-1].data + bytes.fromhex(damage)
        stored[-1] = rehashed(stored[-1], data, stored[-2].hash)

        assert check(exported(MATCH.match_id, stored))[0] == MISMATCH

    def test_a_field_that_is_there_twice(self, check: Check) -> None:
        """Parsers disagree on which one counts, so neither does."""
        stored = MATCH.chained()
        data = stored[-1].data + b"\x28\x7f"
        stored[-1] = rehashed(stored[-1], data, stored[-2].hash)

        assert "field 5 is there twice" in check(exported(MATCH.match_id, stored))[1]


@settings(max_examples=300)
@given(st.data())
def test_chained_rubbish_is_told_and_never_does_worse(data: st.DataObject) -> None:
    """A flipped byte may still tell a match that could have been; it may not stop the verifier."""
    messages = list(MATCH.records)
    at = data.draw(st.integers(0, len(messages) - 1))
    rubbish = bytearray(messages[at])
    for _ in range(data.draw(st.integers(1, 3))):
        rubbish[data.draw(st.integers(0, len(rubbish) - 1))] = data.draw(st.integers(0, 255))
    places = MATCH.chained()
    stored, last_hash = places[:at], places[at - 1].hash if at else GENESIS
    for number, message in enumerate([bytes(rubbish), *messages[at + 1 :]], at):
        linked = message[:-HASH_SIZE] + last_hash
        last_hash = chain_hash(last_hash, linked)
        stored.append(places[number]._replace(hash=last_hash, data=linked))

    with TemporaryDirectory() as folder:
        path = Path(folder) / "match.opolyx"
        path.write_bytes(exported(MATCH.match_id, stored))
        assert verify(path).code in (OK, MISMATCH)


def rehashed(record: StoredRecord, data: bytes, prev_hash: bytes) -> StoredRecord:
    return record._replace(data=data, hash=chain_hash(prev_hash, data))


def seed_of(records: Records) -> bytes:
    _, event = next(found(records, "seed_revealed"))
    return event.seed_revealed.seed


def client_seeds_of(records: Records) -> list[bytes | None]:
    given: list[bytes | None] = [None] * 4
    for _, event in found(records, "seed_contributed"):
        given[event.seed_contributed.seat] = event.seed_contributed.client_seed
    return given


def test_evidence_has_what_is_forged_here() -> None:
    """Were it otherwise, tests above would prove less than they say."""
    assert isinstance(MATCH, Evidence)
    assert len(rolls(MATCH.messages())) > 10
    assert sum(1 for _ in found(MATCH.messages(), "seed_contributed")) == 1
