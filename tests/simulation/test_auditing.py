"""A match is audited from its records alone."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from libs.kernel.command_ids import fire_id
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import GRACE_MS, next_deadline
from libs.rules.decide import play
from libs.rules.refusals import Refusal
from libs.simulation.auditing import audit
from libs.simulation.invariants import BrokenInvariantError
from libs.simulation.keeping import Recording
from libs.simulation.playing import run_match, set_up
from libs.wire.chain import BrokenChainError
from libs.wire.record import GENESIS, SYSTEM, Record, StoredRecord, chain_hash, decode, encode
from tests.support.matches import Table

Forge = Callable[[list[Record]], object]


@pytest.fixture(scope="module")
def records() -> list[StoredRecord]:
    """Return the records of a match that was played to its end."""
    setup = set_up("opolyx.classic@2", 3, 5, 0, ("novice", "steady"))
    recording = Recording(setup)
    run_match(setup, recording)
    return recording.records


def forged(records: list[StoredRecord], forge: Forge) -> list[StoredRecord]:
    """Return the records after a lie, chained anew."""
    opened = [decode(stored.data) for stored in records]
    forge(opened)
    chained, last_hash = [], GENESIS
    for record in opened:
        data = encode(replace(record, prev_hash=last_hash))
        last_hash = chain_hash(last_hash, data)
        chained.append(StoredRecord(record.first_seq, record.last_seq, last_hash, data))
    return chained


def timed_out(at_offset_ms: int) -> list[StoredRecord]:
    """Return a match whose first roll timed out, so long after it was due."""
    table = Table("opolyx.classic@2", 2, 1, people=0)
    deadline = next_deadline(table.match)
    assert deadline is not None
    at_ms = deadline.due + at_offset_ms
    decision = play(table.match, c.FireDeadline(deadline.deadline_id), table.draws, deadline.due)
    assert not isinstance(decision, Refusal)
    command_id = fire_id(table.chain.match_id, deadline.deadline_id)
    table.records.append(table.chain.join(command_id, SYSTEM, at_ms, decision))
    return table.records


def late(by_ms: int) -> Forge:
    """Return what lets the first decision after the start come so late."""

    def forge(opened: list[Record]) -> None:
        due = next(event.due for event in opened[0].events if isinstance(event, e.DeadlineSet))
        for record in opened[1:]:
            record.at_ms = max(record.at_ms, due + by_ms)

    return forge


def test_a_match_as_it_was_played_is_sound(records: list[StoredRecord]) -> None:
    audited = audit(records)

    assert audited.match.winners
    assert (audited.records, audited.events) == (len(records), records[-1].last_seq)
    assert audited.last_hash == records[-1].hash


def test_a_match_that_goes_on_is_sound_as_far_as_it_is(records: list[StoredRecord]) -> None:
    audited = audit(records[:40])

    assert audited.events == records[39].last_seq


def test_no_records_are_no_match() -> None:
    assert audit([]).last_hash == GENESIS


def test_a_record_that_is_missing_is_found(records: list[StoredRecord]) -> None:
    """I1, I3."""
    with pytest.raises(BrokenChainError):
        audit(records[:5] + records[6:])


def test_a_command_that_was_accepted_twice_is_found(records: list[StoredRecord]) -> None:
    """I5."""

    def forge(opened: list[Record]) -> None:
        opened[7].command_id = opened[3].command_id

    with pytest.raises(BrokenInvariantError, match="accepted once"):
        audit(forged(records, forge))


def test_money_from_nowhere_is_found(records: list[StoredRecord]) -> None:
    """I9."""

    def forge(opened: list[Record]) -> None:
        salary = next(
            (record, number)
            for record in opened
            for number, event in enumerate(record.events)
            if isinstance(event, e.SalaryPaid)
        )
        record, number = salary
        event = record.events[number]
        assert isinstance(event, e.SalaryPaid)
        record.events[number] = replace(event, amount=-event.amount)

    with pytest.raises(BrokenInvariantError):
        audit(forged(records, forge))


def test_a_deadline_that_was_fired_in_time_is_sound() -> None:
    assert audit(timed_out(0)).records == 2


def test_a_deadline_that_acted_early_is_found() -> None:
    """I12."""
    with pytest.raises(BrokenInvariantError, match="acts early"):
        audit(timed_out(-1))


def test_a_decision_within_the_grace_counts(records: list[StoredRecord]) -> None:
    """T5."""
    opened = [decode(stored.data) for stored in forged(records[:2], late(GRACE_MS))]

    assert audit(forged(records[:2], late(GRACE_MS))).events == opened[-1].last_seq


def test_a_decision_after_the_grace_is_found(records: list[StoredRecord]) -> None:
    """T5, CLOCK-1."""
    with pytest.raises(BrokenInvariantError, match="after the deadline"):
        audit(forged(records[:2], late(GRACE_MS + 1)))
