"""Signed heads: what makes a chain of hashes somebody's word.

A hash chain alone can be made anew from any record on; the signature over its last hash cannot.
"""

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from libs.kernel.ids import MatchId

KEY_SEED_SIZE: Final = 32
SIGNATURE_SIZE: Final = 64

UNSIGNED: Final = "unsigned"
"""The id of no key: it stands where nobody has signed, as for a match in quarantine."""

_KEY_ID: Final = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)


class SignedHead(NamedTuple):
    """The end of a match's stream, signed.

    *ended* tells whether the match is over, its seed revealed. *key_id* names the public key.
    """

    last_seq: int
    hash: bytes
    ended: bool
    key_id: str
    signature: bytes


def unsigned(last_seq: int, last_hash: bytes, *, ended: bool) -> SignedHead:
    """Return a head without a signature: nobody's word, and no key says otherwise."""
    return SignedHead(last_seq, last_hash, ended, UNSIGNED, bytes(SIGNATURE_SIZE))


class SigningKey:
    """An Ed25519 key with a name, so that keys can be rotated.

    Attributes:
        key_id: the name, of ``[a-z0-9-]{1,64}``; without one it is made from the public key.
        public_key: the raw 32 bytes.

    """

    def __init__(self, seed: bytes, key_id: str = "") -> None:
        """Make the key that 32 secret bytes stand for."""
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = self._private.public_key().public_bytes_raw()
        self.key_id = key_id or f"ed25519-{sha256(self.public_key).hexdigest()[:16]}"
        assert _KEY_ID.fullmatch(self.key_id), self.key_id

    def sign(
        self, match_id: MatchId, last_seq: int, last_hash: bytes, *, ended: bool
    ) -> SignedHead:
        """Sign the head of a match. The same head is signed alike each time."""
        signature = self._private.sign(head_message(match_id, last_seq, last_hash, ended=ended))
        return SignedHead(last_seq, last_hash, ended, self.key_id, signature)


def head_message(match_id: MatchId, last_seq: int, last_hash: bytes, *, ended: bool) -> bytes:
    """Return the bytes that a head's signature is over."""
    numbers = last_seq.to_bytes(8, "big") + last_hash + bytes([ended])
    return b"opolyx/head/1" + match_id.encode("ascii") + numbers


def key_file(keys: Iterable[SigningKey]) -> str:
    """Return the public keys as `opolyx verify --key` reads them, one line of JSON."""
    return spell_keys((key.key_id, key.public_key) for key in keys)


def spell_keys(keys: Iterable[tuple[str, bytes]]) -> str:
    """Return public keys, each with its id before it, as `key_file` does."""
    listed = [{"key_id": key_id, "public_key": key.hex()} for key_id, key in keys]
    return json.dumps({"keys": listed}, separators=(",", ":")) + "\n"
