"""Every event survives the wire, and its bytes never change."""

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.rules import events as e
from libs.wire import readers, writers
from libs.wire.events import (
    NewerSchemaError,
    UnreadableError,
    read_events,
    reader_of,
    write_event,
)
from opolyx.record.v1 import event_pb2 as pb
from tests.support.events import ANY_EVENT, DECISIONS, EVENT_CLASSES, RARITIES, WORDS, instances


@pytest.mark.parametrize("kind", EVENT_CLASSES, ids=lambda kind: kind.__name__)
@settings(max_examples=40)
@given(st.data())
def test_every_event_comes_back_as_it_was(kind: type[e.Event], data: st.DataObject) -> None:
    event = data.draw(instances(kind))
    written = write_event(event)

    assert read_events([written]) == [event]
    assert read_events([written, written]) == [event, event]
    assert write_event(read_events([written])[0]) == written


@given(ANY_EVENT)
def test_the_schema_itself_reads_what_is_written(event: e.Event) -> None:
    message = pb.Event.FromString(write_event(event))

    assert message.WhichOneof("event") is not None
    assert message.SerializeToString(deterministic=True) == write_event(event)


@given(ANY_EVENT)
def test_any_encoding_of_an_event_is_read(event: e.Event) -> None:
    written = write_event(event)
    spread = _with_a_longer_length(written)

    assert read_events([spread]) == [event]


@given(ANY_EVENT, st.integers(100, 1_000))
def test_fields_of_a_later_version_are_passed_over(event: e.Event, number: int) -> None:
    """Additions do no harm to a reader that doesn't know them."""
    message = pb.Event.FromString(write_event(event))
    name = message.WhichOneof("event")
    assert name is not None
    getattr(message, name).MergeFromString(_varint(number << 3) + b"\x05")

    assert read_events([message.SerializeToString()]) == [event]


@given(st.lists(ANY_EVENT), st.sampled_from(EVENT_CLASSES))
def test_a_reader_of_some_kinds_gives_those_alone(events: list[e.Event], kind: type[Any]) -> None:
    framed = [write_event(event) for event in events]
    spread = [_with_a_longer_length(written) for written in framed]
    wanted = [event for event in events if type(event) is kind]

    assert reader_of([kind])(framed) == wanted
    assert reader_of([kind])(spread) == wanted


def test_a_reader_of_some_kinds_still_finds_what_is_not_known_here() -> None:
    read = reader_of([e.MatchEnded])

    with pytest.raises(NewerSchemaError):
        read([_varint(999 << 3 | 2) + b"\x00"])
    with pytest.raises(UnreadableError):
        read([b"\x01"])


class TestWhatCannotBeRead:
    def test_an_event_that_is_not_known_here_is_newer(self) -> None:
        with pytest.raises(NewerSchemaError):
            read_events([_varint(999 << 3 | 2) + b"\x00"])

    def test_no_event_at_all_is_newer(self) -> None:
        with pytest.raises(NewerSchemaError):
            read_events([_varint(999 << 3) + b"\x00"])

    @pytest.mark.parametrize("how", [0, 99])
    def test_a_word_that_is_not_known_here_is_newer(self, how: int) -> None:
        moved = pb.TokenMoved(seat=1, how=how)  # type: ignore[arg-type]

        with pytest.raises(NewerSchemaError):
            read_events([pb.Event(token_moved=moved).SerializeToString()])

    @pytest.mark.parametrize("damaged", ["", "c2", "c201", "c20108", "c20102ff", "ff", "c20180"])
    def test_damaged_bytes_are_no_event(self, damaged: str) -> None:
        with pytest.raises((UnreadableError, NewerSchemaError)):
            read_events([bytes.fromhex(damaged)])

    @given(st.binary(max_size=60))
    def test_arbitrary_bytes_never_do_worse(self, data: bytes) -> None:
        with contextlib.suppress(UnreadableError, NewerSchemaError):
            read_events([data])

    @given(ANY_EVENT, st.data())
    def test_cut_events_never_do_worse(self, event: e.Event, data: st.DataObject) -> None:
        written = write_event(event)
        cut = data.draw(st.integers(0, len(written) - 1))

        with pytest.raises((UnreadableError, NewerSchemaError)):
            read_events([written[:cut]])


def test_the_words_on_the_wire_are_those_of_the_vocabulary() -> None:
    tables: dict[str, Any] = {
        name: set(table)
        for name, table in vars(writers).items()
        if isinstance(table, dict) and name.isupper() and name != "_THIRDS"
    }
    expected = [set(words) for words in [*WORDS.values(), RARITIES]]

    assert all(words in expected for words in tables.values())
    assert all(words in tables.values() for words in expected)
    assert set(DECISIONS) == tables["_DECISIONS"]


def test_what_recurs_is_read_once() -> None:
    written = write_event(e.TurnEnded(3))

    assert read_events([written])[0] is read_events([written])[0]


def test_what_was_read_once_does_not_fill_the_memory() -> None:
    known = readers._Known(lambda data: data)
    for number in range(readers._KNOWN_MAX + 5):
        assert known[number.to_bytes(4, "big")] == number.to_bytes(4, "big")

    assert len(known) <= readers._KNOWN_MAX


GOLDEN = [
    (e.TurnEnded(0), "9a0400"),
    (e.TurnEnded(5), "9a04020805"),
    (e.TokenMoved(1, 39, 4, "roll"), "ca01080801102718042001"),
    (e.DiceRolled(2, 6, 1, e.BUS, 300, 1), "c2011308021006180120042a090a04726f6c6c10ac02"),
    (e.DiceRolled(2, 6, 1, 0, 300, 2), "c201130802100618012a0b0a04726f6c6c10ac021802"),
    (
        e.DeadlineSet("debt", 7, 130, 0, 1_700_000_000_000, 12_000),
        "aa01130805100718820120002880d095ffbc3130e05d",
    ),
    (
        e.DeadlineSet("seeding", e.NOBODY, 1, e.NOBODY, 1_700_000_000_000, 0),
        "aa0116080110ffffffffffffffffff0118012880d095ffbc31",
    ),
    (
        e.DebtOpened(1, 2, "rent", 500, 5, 100, ((0, 500),), "a rule", (("level", 2),)),
        "ba022708011002180120f403280530643a05080010f4034206612072756c654a090a056c6576656c1002",
    ),
    (e.DebtPaid(3, 0, ((e.BANK, 250), (0, 250)), 0), "c2020e08031a0310fa011a05080010fa01"),
    (
        e.SeedRevealed(bytes(range(32))),
        "ba04220a20000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    ),
    (e.AuctionClosed(5, e.NOBODY, 0), "a202020805"),
    (
        e.TradeOffered(1, 0, 3, e.Side(0, (5, 15)), e.Side(2_000), 1_700_000_000_000),
        "ea03160801180322041202050f2a0308d00f3080d095ffbc31",
    ),
    (
        e.MatchCreated(
            "0190a000-0000-7000-8000-000000000001",
            "opolyx.classic@2",
            "opolyx.classic",
            (e.SeatSpec(e.PERSON, "p", cards=((39, "epic"),)), e.SeatSpec(e.BOT, "", "plain")),
            bytes(32),
        ),
        "820182010a2430313930613030302d303030302d373030302d383030302d30303030303030303030303112106f706f6c79782e636c617373696340321a0e6f706f6c79782e636c6173736963220b0801120170220408271004220908021a05706c61696e2a200000000000000000000000000000000000000000000000000000000000000000",
    ),
]


@pytest.mark.parametrize(
    ("event", "written"), GOLDEN, ids=[f"{type(v).__name__}-{i}" for i, (v, _) in enumerate(GOLDEN)]
)
def test_bytes_never_change(event: e.Event, written: str) -> None:
    """Hashes of matches that are over depend on these. Never edit one: add the next."""
    assert write_event(event).hex() == written.replace(" ", "")


def _varint(number: int) -> bytes:
    written = b""
    while number > 0x7F:
        written += bytes([number & 0x7F | 0x80])
        number >>= 7
    return written + bytes([number])


def _with_a_longer_length(framed: bytes) -> bytes:
    """Write the length of a framed event in more bytes than it takes, which protobuf allows."""
    end = next(at for at in range(2, len(framed)) if framed[at] < 0x80)
    return framed[:end] + bytes([framed[end] | 0x80, 0]) + framed[end + 1 :]
