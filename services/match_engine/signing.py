"""The keys by which this deployment signs the heads of matches (write protocol, W10)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from libs.chassis.key_files import NONE_USED, PUBLIC, SUFFIX, make_key, read_key
from libs.kernel.ids import MatchId
from libs.telemetry import logs
from libs.wire.heads import KEY_SEED_SIZE, SignedHead, SigningKey

FOLDER: Final = "head-keys"
"""Where the keys are, in the data folder."""

FIRST_KEY: Final = "head-0001"
"""The id of the key that is made where there never was one."""

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
    def open(cls, data_folder: Path, used: Mapping[str, int] = NONE_USED) -> "SigningKeys":
        """Use the keys in *data_folder*, making one at the first start. Safe in several processes.

        *used* are those that heads were signed by, with how many.

        Raises:
            LostKeysError: there is none, and neither half of such a one.
            SettingsError: a file there is no key, or cannot be read.

        """
        folder = data_folder / FOLDER
        loss = "{} heads of matches that are over can never be checked again"
        made = make_key(folder, FIRST_KEY, KEY_SEED_SIZE, used, loss)
        if made is not None:
            _log.info("signing_key_made", path=str(made))
        secret = {
            path.stem: SigningKey(read_key(path, KEY_SEED_SIZE), path.stem)
            for path in folder.glob(f"*{SUFFIX}")
        }
        public = {path.stem: read_key(path, KEY_SEED_SIZE) for path in folder.glob(f"*{PUBLIC}")}
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
