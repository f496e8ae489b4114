"""Records joined on to each other, and followed."""

from typing import Any

import pytest

from libs.kernel.ids import CommandId, MatchId
from libs.rules import events as e
from libs.rules.rule_sets import RULE_SETS
from libs.wire.chain import BrokenChainError, Chain, ChainReader, follow, rebuild
from libs.wire.record import GENESIS, Record, StoredRecord, chain_hash, encode
from tests.support.matches import play_match

MATCH = MatchId("0190a000-0000-7000-8000-000000000001")


def three_records() -> list[StoredRecord]:
    chain = Chain(MATCH)
    return [
        chain.join(CommandId(f"command-{n}"), "seat:0", 1_000 * n, [e.TurnEnded(n), e.TurnEnded(0)])
        for n in range(1, 4)
    ]


def test_records_are_joined_without_a_gap() -> None:
    records = list(follow(three_records()))

    assert [(r.first_seq, r.last_seq) for r in records] == [(1, 2), (3, 4), (5, 6)]
    assert records[0].prev_hash == GENESIS
    assert [r.at_ms for r in records] == [1_000, 2_000, 3_000]


def test_time_never_falls() -> None:
    chain = Chain(MATCH)
    chain.join(CommandId("a"), "system", 5_000, [e.TurnEnded(0)])
    late = chain.join(CommandId("b"), "system", 4_000, [e.TurnEnded(1)])

    assert [r.at_ms for r in follow([*three_records()])] == [1_000, 2_000, 3_000]
    assert late.first_seq == 2


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_match_is_rebuilt_from_its_records(rule_set: str) -> None:
    table = play_match(rule_set, seats=4, seed=11, records_max=500)
    match = rebuild(table.records)

    for name in type(match).__slots__:
        assert _plain(getattr(match, name)) == _plain(getattr(table.match, name)), name


def _plain(value: Any) -> Any:
    """Return a state's part with what has no equality of its own spelled out."""
    if hasattr(value, "board_id"):
        return value.board_id
    return value


class TestBrokenChains:
    def test_a_missing_record(self) -> None:
        first, _, third = three_records()

        with pytest.raises(BrokenChainError):
            list(follow([first, third]))

    def test_a_stream_that_does_not_begin_at_1(self) -> None:
        with pytest.raises(BrokenChainError):
            list(follow(three_records()[1:]))

    def test_swapped_records(self) -> None:
        first, second, third = three_records()

        with pytest.raises(BrokenChainError):
            list(follow([first, third, second]))

    @pytest.mark.parametrize("field", ["first_seq", "last_seq"])
    def test_a_wrong_place(self, field: str) -> None:
        records = three_records()
        records[1] = records[1]._replace(**{field: getattr(records[1], field) + 1})

        with pytest.raises(BrokenChainError):
            list(follow(records))

    def test_a_wrong_hash(self) -> None:
        records = three_records()
        records[2] = records[2]._replace(hash=bytes(32))

        with pytest.raises(BrokenChainError):
            list(follow(records))

    def test_changed_bytes(self) -> None:
        records = three_records()
        records[1] = records[1]._replace(data=records[1].data.replace(b"seat:0", b"seat:1"))

        with pytest.raises(BrokenChainError):
            list(follow(records))

    @pytest.mark.parametrize(
        "changed",
        [{"fence": 0}, {"at_ms": 1}, {"match_id": "0190a000-0000-7000-8000-000000000002"}],
        ids=lambda changed: next(iter(changed)),
    )
    def test_a_record_that_is_chained_but_does_not_fit(self, changed: dict[str, Any]) -> None:
        first = three_records()[0]
        fields: dict[str, Any] = {"match_id": MATCH, "fence": 1, "at_ms": 9_000} | changed
        record = Record(
            fields["match_id"],
            3,
            fields["fence"],
            CommandId("x"),
            "system",
            fields["at_ms"],
            [e.TurnEnded(0)],
            first.hash,
        )
        data = encode(record)

        with pytest.raises(BrokenChainError):
            list(follow([first, StoredRecord(3, 3, chain_hash(first.hash, data), data)]))


def test_records_are_read_as_they_come() -> None:
    reader = ChainReader()
    first, second, third = three_records()

    assert (reader.last_seq, reader.last_hash) == (0, GENESIS)
    assert [reader.take(r).first_seq for r in (first, second)] == [1, 3]
    assert (reader.last_seq, reader.last_hash) == (second.last_seq, second.hash)
    with pytest.raises(BrokenChainError):
        reader.take(second)
    assert reader.take(third).last_seq == 6


def test_records_are_read_from_anywhere_on() -> None:
    _, second, third = three_records()
    reader = ChainReader.at(second)

    assert [reader.take(r).at_ms for r in (second, third)] == [2_000, 3_000]


def test_a_record_that_was_tampered_with_is_no_beginning() -> None:
    second = three_records()[1]
    tampered = second._replace(data=second.data.replace(b"seat:0", b"seat:1"))

    with pytest.raises(BrokenChainError):
        ChainReader.at(tampered).take(tampered)


def test_a_draft_leaves_the_chain_as_it_is_until_it_is_written() -> None:
    chain = Chain(MATCH)
    draft = chain.draft(CommandId("a"), "system", 5_000, [e.TurnEnded(0)])

    assert (chain.last_seq, chain.last_hash, chain.at_ms) == (0, GENESIS, 0)
    assert draft == chain.draft(CommandId("a"), "system", 5_000, [e.TurnEnded(0)])

    chain.advance(draft, 5_000)

    assert (chain.last_seq, chain.last_hash, chain.at_ms) == (1, draft.hash, 5_000)


def test_a_chain_goes_on_behind_its_last_record() -> None:
    records = three_records()
    last = list(follow(records))[-1]
    chain = Chain.behind(last, records[-1].hash, fence=7)
    joined = chain.join(CommandId("x"), "system", 1, [e.TurnEnded(0)])

    assert list(follow([*records, joined]))[-1] == Record(
        MATCH, 7, 7, CommandId("x"), "system", 3_000, [e.TurnEnded(0)], records[-1].hash
    )
