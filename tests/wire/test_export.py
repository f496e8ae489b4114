"""Exports and signed heads: their spelling, and that they come back."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from libs.kernel.ids import CommandId, MatchId
from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.export import ExportError, read_export, write_export
from libs.wire.heads import SigningKey, head_message, key_file
from libs.wire.record import StoredRecord

MATCH = MatchId("0190a000-0000-7000-8000-000000000001")
KEY = SigningKey(bytes(range(32)), "test-1")


def two_records() -> list[StoredRecord]:
    chain = Chain(MATCH)
    return [
        chain.join(CommandId("a"), "seat:0", 1_000, [e.TurnEnded(0)]),
        chain.join(CommandId("b"), "seat:1", 2_000, [e.TurnEnded(1), e.TurnEnded(2)]),
    ]


def an_export(*, ended: bool = False) -> bytes:
    records = two_records()
    head = KEY.sign(MATCH, records[-1].last_seq, records[-1].hash, ended=ended)
    return write_export(MATCH, records, head)


def test_an_export_is_spelled_as_the_protocol_says() -> None:
    first, second = two_records()
    header, one, two, trailer, checksum, nothing = an_export(ended=True).decode().split("\n")

    assert header == f'{{"format":"opolyx/export/1","match_id":"{MATCH}","records":2}}'
    assert one == f"1 1 {first.hash.hex()} {first.data.hex()}"
    assert two == f"2 3 {second.hash.hex()} {second.data.hex()}"
    assert trailer.startswith(
        f'{{"last_seq":3,"hash":"{second.hash.hex()}","ended":true,"key_id":"test-1","signature":"'
    )
    assert len(checksum) == 64
    assert nothing == ""


@pytest.mark.parametrize("ended", [False, True])
def test_an_export_comes_back(ended: bool) -> None:  # noqa: FBT001 - a parameter of the test
    export = read_export(an_export(ended=ended))

    assert export.match_id == MATCH
    assert export.records == two_records()
    assert export.head == KEY.sign(MATCH, 3, two_records()[-1].hash, ended=ended)
    assert write_export(*export) == an_export(ended=ended)


@given(st.data())
def test_another_spelling_is_no_export(data: st.DataObject) -> None:
    export = bytearray(an_export())
    at = data.draw(st.integers(0, len(export) - 1))
    export[at] ^= data.draw(st.integers(1, 255))

    with pytest.raises(ExportError):
        read_export(bytes(export))


@given(st.data())
def test_a_cut_or_longer_file_is_no_export(data: st.DataObject) -> None:
    export = an_export()
    cut = export[: data.draw(st.integers(0, len(export) - 1))]
    longer = export + data.draw(st.binary(min_size=1, max_size=9))

    with pytest.raises(ExportError):
        read_export(cut)
    with pytest.raises(ExportError):
        read_export(longer)


def test_a_head_is_signed_over_all_that_it_says() -> None:
    head = KEY.sign(MATCH, 3, bytes(32), ended=True)
    message = b"opolyx/head/1" + MATCH.encode() + bytes(7) + b"\x03" + bytes(32) + b"\x01"

    assert head_message(MATCH, 3, bytes(32), ended=True) == message
    Ed25519PublicKey.from_public_bytes(KEY.public_key).verify(head.signature, message)


def test_the_key_file_names_every_public_key() -> None:
    other = SigningKey(bytes(32))
    listed = json.loads(key_file([KEY, other]))

    assert listed["keys"][0] == {"key_id": "test-1", "public_key": KEY.public_key.hex()}
    assert listed["keys"][1]["key_id"] == other.key_id
    assert other.key_id.startswith("ed25519-")
