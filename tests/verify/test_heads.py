"""The signed head: what a chain of hashes cannot prove."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.verify import MISMATCH, OK, is_signature, verify
from libs.wire.heads import SigningKey, key_file
from opolyx.record.v1 import record_pb2
from tests.support.forging import KEY, Evidence, evidence, exported

ENDED = evidence(records_max=20)
GOING_ON = Evidence(ENDED.match_id, ENDED.records[:-1], ended=False)
OTHER_KEY = SigningKey(bytes(32), "other-1")
ORDER = 2**252 + 27742317777372353535851937790883648493
PRIME = 2**255 - 19

Verify = Callable[..., tuple[int, tuple[str, ...]]]


@pytest.fixture
def run(tmp_path: Path) -> Verify:
    def run(export: bytes, *keys: SigningKey) -> tuple[int, tuple[str, ...]]:
        path, key_path = tmp_path / "match.opolyx", tmp_path / "keys.json"
        path.write_bytes(export)
        key_path.write_text(key_file(keys))
        report = verify(path, key_path if keys else None)
        return report.code, report.lines

    return run


def rewritten() -> Evidence:
    """Give somebody a little more cash than it got, where no other check can see it."""

    def forge(records: list[record_pb2.Record]) -> None:
        for record in records:
            for event in record.events:
                if event.WhichOneof("event") == "match_started":
                    event.match_started.starting_cash += 1

    return ENDED.forged(forge)


class TestTheHead:
    def test_a_signed_head_is_authenticated(self, run: Verify) -> None:
        code, (first, second) = run(ENDED.export(), OTHER_KEY, KEY)

        assert code == OK
        assert first.startswith(f"ok: match {ENDED.match_id}: {len(ENDED.records)} records")
        assert second == "the head is signed by engine-1"

    def test_without_a_key_it_says_that_it_is_not(self, run: Verify) -> None:
        code, (first, second) = run(ENDED.export())

        assert code == OK
        assert first.startswith("ok: ")
        assert second == "the head is not authenticated: give --key"

    def test_a_match_that_goes_on_is_unfinished_in_the_first_line(self, run: Verify) -> None:
        code, (first, _) = run(GOING_ON.export(), KEY)

        assert code == OK
        assert first.startswith("unfinished, ")

    def test_one_record_and_all_hashes_after_it_rewritten(self, run: Verify) -> None:
        """Nobody but the holder of the key can do this so that it is not found."""
        true_head = KEY.sign(
            ENDED.match_id, ENDED.chained()[-1].last_seq, ENDED.chained()[-1].hash, ended=True
        )
        stored = rewritten().chained()
        honest_hash = true_head._replace(hash=stored[-1].hash)

        assert run(exported(ENDED.match_id, stored, honest_hash))[0] == OK
        assert run(exported(ENDED.match_id, stored, honest_hash), KEY) == (
            MISMATCH,
            (f"mismatch in line {len(stored) + 2}: the key engine-1 did not sign this head",),
        )
        assert run(exported(ENDED.match_id, stored, true_head), KEY)[0] == MISMATCH

    def test_a_key_that_is_not_in_the_file(self, run: Verify) -> None:
        code, (said,) = run(ENDED.export(key=OTHER_KEY), KEY)

        assert code == MISMATCH
        assert "the key other-1 is not in the key file" in said

    def test_another_key_of_the_same_name(self, run: Verify) -> None:
        impostor = SigningKey(bytes(32), KEY.key_id)

        assert run(ENDED.export(key=impostor), KEY)[0] == MISMATCH

    def test_the_signature_of_another_match(self, run: Verify) -> None:
        other = evidence(records_max=20, seed=6)
        theirs, ours = other.chained()[-1], ENDED.chained()[-1]
        signature = KEY.sign(other.match_id, theirs.last_seq, theirs.hash, ended=True).signature
        head = KEY.sign(ENDED.match_id, ours.last_seq, ours.hash, ended=True)

        forged = head._replace(signature=signature)
        assert run(ENDED.export(forged), KEY)[0] == MISMATCH

    @pytest.mark.parametrize("match", [ENDED, GOING_ON], ids=["ended", "going on"])
    def test_an_end_that_is_none_and_none_that_is(self, run: Verify, match: Evidence) -> None:
        last = match.chained()[-1]
        head = KEY.sign(match.match_id, last.last_seq, last.hash, ended=not match.ended)

        code, (said, *_) = run(match.export(head), KEY)
        assert (code, "whether the match has ended" in said) == (MISMATCH, True)

    @pytest.mark.parametrize("field", ["last_seq", "hash"])
    def test_a_head_that_is_not_that_of_the_last_record(self, run: Verify, field: str) -> None:
        last = ENDED.chained()[-1]
        wrong: dict[str, Any] = {"last_seq": last.last_seq - 1, "hash": bytes(32)}
        head = KEY.sign(ENDED.match_id, last.last_seq, last.hash, ended=True)

        code, (said,) = run(ENDED.export(head._replace(**{field: wrong[field]})), KEY)
        assert (code, f"line {len(ENDED.records) + 2}" in said) == (MISMATCH, True)

    def test_an_end_cut_off_and_signed_by_nobody(self, run: Verify) -> None:
        """The true head of an ended match fits no shorter one."""
        last = ENDED.chained()[-1]
        head = KEY.sign(ENDED.match_id, last.last_seq, last.hash, ended=True)
        stored = GOING_ON.chained()
        cut = head._replace(last_seq=stored[-1].last_seq, hash=stored[-1].hash, ended=False)

        assert run(exported(ENDED.match_id, stored, cut), KEY)[0] == MISMATCH


class TestEd25519:
    # The first three vectors of RFC 8032, 7.1.
    VECTORS = tuple(
        tuple(line.split("/"))
        for line in (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a//"
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39"
            "701cf9b46bd25bf5f0595bbe24655141438e7a100b\n"
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c/72/"
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f36"
            "13d0f11d8c387b2eaeb4302aeeb00d291612bb0c00\n"
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025/af82/"
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7"
            "60984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ).split("\n")
    )

    @pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
    def test_the_vectors_of_the_standard(self, key: str, message: str, signature: str) -> None:
        spelled = bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)

        assert is_signature(*spelled)
        assert not is_signature(spelled[0], spelled[1] + b"x", spelled[2])

    @settings(max_examples=30)
    @given(st.binary(min_size=32, max_size=32), st.binary(max_size=80), st.integers(0, 511))
    def test_it_agrees_with_another_implementation(
        self, seed: bytes, message: bytes, bit: int
    ) -> None:
        private = Ed25519PrivateKey.from_private_bytes(seed)
        key, signature = private.public_key().public_bytes_raw(), private.sign(message)
        damaged = bytearray(signature)
        damaged[bit // 8] ^= 1 << bit % 8

        assert is_signature(key, message, signature)
        assert not is_signature(key, message, bytes(damaged))
        with pytest.raises(InvalidSignature):
            Ed25519PublicKey.from_public_bytes(key).verify(bytes(damaged), message)

    def test_a_number_has_one_spelling(self) -> None:
        """Adding the order makes the same number, and so a second signature."""
        key, _, signature = (bytes.fromhex(text) for text in self.VECTORS[0])
        number = int.from_bytes(signature[32:], "little") + ORDER

        assert not is_signature(key, b"", signature[:32] + number.to_bytes(32, "little"))

    @pytest.mark.parametrize("y", [PRIME, PRIME + 1, 2**255 - 1, PRIME + 1 + 2**255])
    def test_a_point_has_one_spelling(self, y: int) -> None:
        spelled = y.to_bytes(32, "little")
        _, _, signature = (bytes.fromhex(text) for text in self.VECTORS[0])

        assert not is_signature(spelled, b"", signature)
        assert not is_signature(OTHER_KEY.public_key, b"", spelled + signature[32:])

    @pytest.mark.parametrize(
        "y",
        [
            0,
            1,
            2**255,
            2**255 + 1,
            PRIME - 1,
            0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
            0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD83D3D706A17C7,
        ],
    )
    def test_points_of_small_order_sign_nothing(self, y: int) -> None:
        """With the neutral point as key and commitment, and number 0, any message would do."""
        spelled = y.to_bytes(32, "little")

        assert not is_signature(spelled, b"anything", spelled + bytes(32))
        assert not is_signature(spelled, b"anything", (1).to_bytes(32, "little") + bytes(32))

    @given(st.binary(min_size=32, max_size=32), st.binary(min_size=64, max_size=64))
    @settings(max_examples=50)
    def test_arbitrary_bytes_are_no_signature(self, key: bytes, signature: bytes) -> None:
        assert not is_signature(key, b"", signature)
