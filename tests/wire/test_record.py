"""A record's bytes: that they come back, that they never change, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.kernel.ids import CommandId, MatchId
from libs.rules import events as e
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.record import (
    GENESIS,
    SIZE_MAX,
    Record,
    RecordTooLargeError,
    chain_hash,
    decode,
    encode,
)
from opolyx.record.v1 import record_pb2 as pb
from tests.support.events import ANY_EVENT

MATCH = MatchId("0190a000-0000-7000-8000-000000000001")
COMMAND = CommandId("0190a000-0000-7000-8000-00000000000c")


def record_of(*events: e.Event) -> Record:
    return Record(MATCH, 41, 3, COMMAND, "seat:2", 1_700_000_000_000, list(events), GENESIS)


@given(st.lists(ANY_EVENT, min_size=1, max_size=8), st.integers(1, 2**62), st.integers(0, 2**62))
def test_a_record_comes_back_as_it_was(events: list[e.Event], seq: int, at_ms: int) -> None:
    record = Record(MATCH, seq, 3, COMMAND, "system", at_ms, events, bytes(range(32)))
    data = encode(record)

    assert decode(data) == record
    assert encode(decode(data)) == data


@given(st.lists(ANY_EVENT, min_size=1, max_size=8))
def test_the_schema_itself_reads_a_record(events: list[e.Event]) -> None:
    data = encode(record_of(*events))
    message = pb.Record.FromString(data)

    assert len(message.events) == len(events)
    assert message.last_seq == 40 + len(events)
    assert message.SerializeToString(deterministic=True) == data


def test_bytes_never_change() -> None:
    """Hashes of matches that are over depend on these. Never edit them."""
    data = encode(record_of(e.DiceRolled(2, 6, 1, 0, 300, 1), e.TokenMoved(2, 35, 2, "roll")))

    assert data.hex() == (
        "0801122430313930613030302d303030302d373030302d383030302d3030303030303030303030311829202a"
        "2803322430313930613030302d303030302d373030302d383030302d3030303030303030303030633a067365"
        "61743a324080d095ffbc314a14c201110802100618012a090a04726f6c6c10ac024a0bca0108080210231802"
        "200152200000000000000000000000000000000000000000000000000000000000000000"
    )
    assert (
        chain_hash(GENESIS, data).hex()
        == "69e4278d00e7091d776ca47d750f147af7e1f6519e9108646ee946127de448b2"
    )


def test_a_record_may_have_256_kib_and_no_more() -> None:
    empty = len(encode(record_of(e.MatchAborted("", "operator:x"))))
    # The reason adds its own length to the event's, and lengths that then take 3 bytes.
    reason = "x" * (SIZE_MAX - empty - 8)

    assert len(encode(record_of(e.MatchAborted(reason, "operator:x")))) == SIZE_MAX
    with pytest.raises(RecordTooLargeError):
        encode(record_of(e.MatchAborted(reason + "x", "operator:x")))


class TestWhatCannotBeRead:
    def test_a_newer_version(self) -> None:
        message = pb.Record.FromString(encode(record_of(e.TurnEnded(0))))
        message.version = 2

        with pytest.raises(NewerSchemaError):
            decode(message.SerializeToString())

    def test_no_version(self) -> None:
        with pytest.raises(UnreadableError):
            decode(b"")

    def test_another_number_of_events(self) -> None:
        message = pb.Record.FromString(encode(record_of(e.TurnEnded(0))))
        message.last_seq += 1

        with pytest.raises(UnreadableError):
            decode(message.SerializeToString())

    @given(st.integers(0, 10_000), st.integers(1, 255))
    def test_damaged_bytes_are_told_and_never_do_worse(self, at: int, by: int) -> None:
        data = bytearray(encode(record_of(e.DiceRolled(2, 6, 1, 0, 300, 1), e.TurnEnded(0))))
        data[at % len(data)] ^= by
        try:
            decode(bytes(data))
        except (UnreadableError, NewerSchemaError):
            return

    @given(st.integers(1, 150))
    def test_cut_bytes_are_told(self, size: int) -> None:
        data = encode(record_of(e.DiceRolled(2, 6, 1, 0, 300, 1), e.TurnEnded(0)))

        with pytest.raises((UnreadableError, NewerSchemaError)):
            decode(data[: -min(size, len(data))])


def test_fields_of_a_later_version_are_passed_over() -> None:
    record = record_of(e.TurnEnded(0))

    assert decode(encode(record) + b"\x78\x05") == record
