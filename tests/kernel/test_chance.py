"""FAIR-1: the vectors, a second implementation, and dice that are evenly spread."""

import hashlib
import hmac
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.kernel import chance
from libs.kernel.chance import BlockReader, FairDraws, commitment, derive_key, roll_from

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "fair_vectors.json").read_text(encoding="utf-8")
)["cases"]
THIRD = {"bus": chance.BUS, "x": chance.X}


def client_seeds_of(case: dict[str, Any]) -> list[bytes | None]:
    given = {int(seat): bytes.fromhex(seed) for seat, seed in case["client_seeds"].items()}
    return [given.get(seat) for seat in range(6)]


def draws_of(case: dict[str, Any]) -> FairDraws:
    draws = FairDraws(case["match_id"], bytes.fromhex(case["seed"]))
    draws.bind(client_seeds_of(case))
    return draws


def play(draws: FairDraws, vector: dict[str, Any]) -> tuple[object, int]:
    """Make the draw that a vector names; returns its value, spelled as there, and its blocks."""
    counter = vector["counter"]
    match vector["label"]:
        case "first":
            return draws.first(counter, vector["n"])
        case "roll":
            *dice, third, blocks = draws.roll(counter, vector.get("third", False))
            names = {0: [], chance.BUS: ["bus"], chance.X: ["x"]}
            return [*dice, *names.get(third, [third])], blocks
        case "jackpot":
            return draws.jackpot(counter)
        case _:
            order, blocks = draws.shuffle(counter, vector["n"])
            return list(order), blocks


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["match_id"][-2:])
class TestVectors:
    def test_commitment_key_and_block(self, case: dict[str, Any]) -> None:
        seed = bytes.fromhex(case["seed"])

        assert commitment(case["match_id"], seed).hex() == case["commitment"]
        assert derive_key(case["match_id"], seed, client_seeds_of(case)).hex() == case["key"]
        assert draws_of(case).block("roll", 0).hex() == case["block_roll_0"]

    def test_draws_follow_each_other_without_a_gap(self, case: dict[str, Any]) -> None:
        draws = draws_of(case)
        counter = 0
        for vector in case["draws"]:
            assert vector["counter"] == counter

            value, blocks = play(draws, vector)

            assert value == vector["value"]
            counter += blocks

        assert counter == case["next_counter"]

    def test_bytes_that_would_favour_a_face_are_skipped(self, case: dict[str, Any]) -> None:
        draws = draws_of(case)
        vector = case["skipping"]

        assert draws.block("roll", vector["counter"]).hex() == vector["block"]
        assert play(draws, vector) == (vector["value"], 1)

    def test_edges(self, case: dict[str, Any]) -> None:
        draws = draws_of(case)
        for vector in case["edges"]:
            value, blocks = play(draws, vector)

            assert value == vector["value"]
            assert vector["counter"] + blocks == vector.get("next_counter", vector["counter"] + 1)


class Independent:
    """FAIR-1 written a second time, from its description alone, with plain HMAC and generators."""

    def __init__(self, match_id: str, seed: bytes, client_seeds: Sequence[bytes | None]) -> None:
        pieces = [b"opolyx/fair/1", match_id.encode("ascii")]
        for seat in range(len(client_seeds)):
            if client_seeds[seat]:
                given = client_seeds[seat] or b""
                pieces += [seat.to_bytes(1, "big"), len(given).to_bytes(1, "big"), given]
        self.key = hmac.new(seed, b"".join(pieces), hashlib.sha256).digest()
        self.opened = 0

    def bytes_of(self, label: str, counter: int) -> Iterator[int]:
        self.opened = 0
        for number in itertools.count(counter):
            self.opened += 1
            message = label.encode("ascii") + bytes(1) + number.to_bytes(8, "big")
            yield from hmac.new(self.key, message, hashlib.sha256).digest()

    def dice(self, label: str, counter: int, count: int) -> list[int]:
        usable = (byte for byte in self.bytes_of(label, counter) if byte < 252)
        return [1 + byte % 6 for byte in itertools.islice(usable, count)]

    def words(self, label: str, counter: int) -> Iterator[int]:
        stream = self.bytes_of(label, counter)
        while True:
            yield sum(next(stream) << shift for shift in range(56, -8, -8))

    def first(self, counter: int, seats: int) -> int:
        ceiling = 2**64 - 2**64 % seats
        return next(word for word in self.words("first", counter) if word < ceiling) % seats

    def shuffle(self, counter: int, size: int) -> list[int]:
        words = self.words("shuffle", counter)
        places = list(range(size))
        for i in reversed(range(1, size)):
            bound = i + 1
            j = next(word for word in words if word < 2**64 - 2**64 % bound) % bound
            places[i], places[j] = places[j], places[i]
        return places


SEED = st.binary(min_size=32, max_size=32)
CLIENT_SEED = st.none() | st.just(b"") | st.binary(min_size=16, max_size=32)
MATCH_ID = st.uuids().map(str)
COUNTER = st.integers(0, 2**40)


@given(MATCH_ID, SEED, st.lists(CLIENT_SEED, max_size=6), COUNTER, st.integers(2, 40))
@settings(max_examples=300)
def test_both_implementations_agree(
    match_id: str, seed: bytes, given_seeds: list[bytes | None], counter: int, size: int
) -> None:
    draws = FairDraws(match_id, seed)
    draws.bind(given_seeds)
    other = Independent(match_id, seed, given_seeds)

    assert draws.first(counter, size) == (other.first(counter, size), other.opened)
    expected = other.dice("roll", counter, 2)
    assert draws.roll(counter, third=False) == (*expected, chance.NOT_ROLLED, other.opened)
    *whites, third = other.dice("roll", counter, 3)
    assert draws.roll(counter, third=True) == (*whites, min(third, chance.X), other.opened)
    assert draws.jackpot(counter) == (*other.dice("jackpot", counter, 1), other.opened)
    order, blocks = draws.shuffle(counter, size)
    assert (list(order), blocks) == (other.shuffle(counter, size), other.opened)


def test_the_fast_roll_is_the_general_one() -> None:
    draws = draws_of(CASES[0])
    for counter in range(5_000):
        for third in (False, True):
            reader = BlockReader(lambda at: draws.block("roll", at), counter)

            assert draws.roll(counter, third) == roll_from(reader, third=third)


class TestDrawsThatNeedAnotherBlock:
    """No real match will ever see these; the blocks are made up."""

    def test_a_roll_goes_on_in_the_next_block(self) -> None:
        blocks = {7: bytes([255] * 31 + [6]), 8: bytes([252] * 32), 9: bytes([3, 4]) + bytes(30)}

        assert roll_from(BlockReader(blocks.__getitem__, 7), third=True) == (1, 4, chance.X, 3)

    def test_a_roll_that_ends_with_its_block_opens_no_other(self) -> None:
        block = bytes([255] * 30 + [0, 251])

        assert roll_from(BlockReader({0: block}.__getitem__, 0), third=False) == (1, 6, 0, 1)

    def test_a_word_in_the_incomplete_multiple_is_skipped(self) -> None:
        top = (2**64 // 3 * 3).to_bytes(8, "big")
        blocks = {0: top * 3 + b"\xff" * 8, 1: (5).to_bytes(8, "big") + bytes(24)}
        reader = BlockReader(blocks.__getitem__, 0)

        assert (reader.below(3), reader.blocks) == (2, 2)

    def test_the_last_word_of_the_complete_multiples_counts(self) -> None:
        word = (2**64 // 3 * 3 - 1).to_bytes(8, "big")

        assert BlockReader({0: word * 4}.__getitem__, 0).below(3) == 2


class TestClientSeeds:
    MATCH = CASES[0]["match_id"]
    SECRET = bytes(range(32))

    @pytest.mark.parametrize("size", [1, 15, 33, 255, 256])
    def test_other_lengths_are_refused(self, size: int) -> None:
        assert not chance.is_client_seed(bytes(size))
        with pytest.raises(ValueError, match="seat 1"):
            derive_key(self.MATCH, self.SECRET, [None, bytes(size)])

    @pytest.mark.parametrize("size", range(16, 33))
    def test_16_to_32_bytes_count(self, size: int) -> None:
        assert chance.is_client_seed(bytes(size))
        assert derive_key(self.MATCH, self.SECRET, [bytes(size)]) != derive_key(
            self.MATCH, self.SECRET, []
        )

    def test_declining_is_the_same_as_giving_none(self) -> None:
        assert derive_key(self.MATCH, self.SECRET, [b"", None, b""]) == derive_key(
            self.MATCH, self.SECRET, []
        )

    def test_the_seat_counts(self) -> None:
        seed = b"sixteen bytes ok"
        keys = {derive_key(self.MATCH, self.SECRET, [None] * seat + [seed]) for seat in range(6)}

        assert len(keys) == 6

    def test_binding_again_changes_nothing_and_other_seeds_do(self) -> None:
        draws = FairDraws(self.MATCH, self.SECRET)
        draws.bind([None, b""])
        before = draws.block("roll", 3)
        draws.bind([b"", None])

        assert draws.block("roll", 3) == before
        draws.bind([b"sixteen bytes ok"])
        assert draws.block("roll", 3) != before

    def test_nothing_is_drawn_before_the_seeds_are_bound(self) -> None:
        draws = FairDraws(self.MATCH, self.SECRET)

        with pytest.raises(AssertionError):
            draws.roll(0, third=False)
        with pytest.raises(AssertionError):
            draws.first(0, 4)


def test_the_seed_is_revealed_as_it_was() -> None:
    assert FairDraws(CASES[0]["match_id"], bytes(range(32))).reveal() == bytes(range(32))


def test_a_tiny_shuffle_needs_no_block() -> None:
    assert draws_of(CASES[0]).shuffle(9, 1) == ((0,), 0)


@pytest.mark.slow
def test_a_million_dice_are_evenly_spread() -> None:
    """Chi-square for faces and for pairs.

    The critical values are the 99.9 % quantiles by the Wilson-Hilferty approximation; the draws
    are fixed, so the test either always passes or never.
    """
    draws = draws_of(CASES[0])
    rolls = [draws.roll(counter, third=False)[:2] for counter in range(500_000)]
    pairs = Counter(rolls)
    faces = Counter(itertools.chain.from_iterable(rolls))

    assert sorted(faces) == [1, 2, 3, 4, 5, 6]
    assert chi_square(faces, cells=6) < critical(5)
    assert chi_square(pairs, cells=36) < critical(35)


@pytest.mark.slow
def test_third_and_jackpot_dice_are_evenly_spread() -> None:
    draws = draws_of(CASES[1])
    thirds = Counter(draws.roll(counter, third=True)[2] for counter in range(120_000))
    jackpots = Counter(draws.jackpot(counter)[0] for counter in range(60_000))

    # X has two of the six faces; half of it is what one face must have.
    thirds[6] = thirds[chance.X] // 2
    thirds[chance.X] -= thirds[6]
    assert chi_square(thirds, cells=6) < critical(5)
    assert chi_square(jackpots, cells=6) < critical(5)


def chi_square(counts: Counter[Any], cells: int) -> float:
    expected = counts.total() / cells
    return sum((count - expected) ** 2 / expected for count in counts.values())


def critical(freedom: int) -> float:
    """Return the value that chi-square passes once in a thousand, for so many degrees."""
    normal = 3.0902323
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + normal * spread**0.5) ** 3)


def test_a_fresh_secret_is_as_long_as_a_seed_and_never_the_same() -> None:
    secrets = {chance.fresh_secret() for _ in range(100)}

    assert len(secrets) == 100
    assert {len(secret) for secret in secrets} == {chance.SEED_SIZE}
