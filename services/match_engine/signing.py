"""The keys by which this deployment signs the heads of matches (write protocol, W10)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from libs.chassis.key_files import make_key_file
from libs.chassis.settings import SettingsError
from libs.kernel.chance import fresh_secret
from libs.kernel.ids import MatchId
from libs.telemetry import logs
from libs.wire.heads import KEY_SEED_SIZE, SignedHead, SigningKey

FOLDER: Final = "head-keys"
"""Where the keys are, in the data folder."""

PRIVATE: Final = ".key"
PUBLIC: Final = ".pub"

FIRST_KEY: Final = "head-0001"
"""The id of the key that is made where there is none."""

_KEY_ID: Final = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)

_log: Final = logs.get()


class PublicKey(NamedTuple):
    """By what the signatures of one key are checked: the raw 32 bytes."""

    key_id: str
    public_key: bytes


class SigningKeys:
    """Signs heads, and tells by what to check them.

    Keys are files of 64 hexadecimal digits in one folder: `KEY_ID.key` is a secret one, and
    `KEY_ID.pub` the public half of one whose secret was thrown away. The secret key whose id comes
    last in the alphabet signs: to rotate, put one with a later name there and restart; what was
    signed before stays good for as long as either half of its key is there.
    """

    def __init__(self, signing: SigningKey, retired: Sequence[PublicKey] = ()) -> None:
        """Sign by one key; *retired* are those of before, the newest first."""
        self._signing = signing
        self._public = (PublicKey(signing.key_id, signing.public_key), *retired)

    @classmethod
    def open(cls, data_folder: Path) -> "SigningKeys":
        """Use the keys in *data_folder*, making one at the first start. Safe in several processes.

        Raises:
            SettingsError: a file there is no key, or cannot be read.

        """
        folder = data_folder / FOLDER
        if not any(folder.glob(f"*{PRIVATE}")):
            path = folder / f"{FIRST_KEY}{PRIVATE}"
            if make_key_file(path, fresh_secret(KEY_SEED_SIZE).hex().encode() + b"\n"):
                _log.info("signing_key_made", path=str(path))
        secret = {
            path.stem: SigningKey(_read(path), path.stem) for path in folder.glob(f"*{PRIVATE}")
        }
        public = {path.stem: _read(path) for path in folder.glob(f"*{PUBLIC}")}
        public |= {key_id: key.public_key for key_id, key in secret.items()}
        signing = secret[max(secret)]
        retired = [PublicKey(*key) for key in sorted(public.items(), reverse=True)]
        return cls(signing, [key for key in retired if key.key_id != signing.key_id])

    def sign(
        self, match_id: MatchId, last_seq: int, last_hash: bytes, *, ended: bool
    ) -> SignedHead:
        """Sign the head of a match. The same head is signed alike each time, by the same key."""
        return self._signing.sign(match_id, last_seq, last_hash, ended=ended)

    def public(self) -> Sequence[PublicKey]:
        """Return all public keys: the one in use, then those of before, the newest first."""
        return self._public


def _read(path: Path) -> bytes:
    if not _KEY_ID.fullmatch(path.stem):
        raise SettingsError(f"{path}: a key's id is of lower-case letters, digits and hyphens")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise SettingsError(f"{path} holds no key that can be read") from None
    if len(key) != KEY_SEED_SIZE:
        raise SettingsError(f"{path} holds a key of another size")
    return key
