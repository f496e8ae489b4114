"""Secrets at rest: sealed by AES-256-GCM under a key that lies in a file, not in the store."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from libs.chassis.key_files import (
    NONE_USED,
    SUFFIX,
    is_given_up,
    is_key_id,
    make_key,
    read_key,
)
from libs.chassis.settings import SettingsError
from libs.kernel.chance import fresh_secret
from libs.telemetry import logs

FIRST_KEY: Final = "seal-0001"
"""The id of the key that is made where there never was one."""

KEY_SIZE: Final = 32
NONCE_SIZE: Final = 12

_log: Final = logs.get()


class Sealed(NamedTuple):
    """A secret, encrypted under the key of that id: the nonce, then the text with its tag."""

    key_id: str
    sealed: bytes


class UnsealableError(Exception):
    """A secret cannot be read: its key is not in the folder, or it is not what was sealed."""


class GivenUpError(UnsealableError):
    """Its key is gone for good, as an operator has said: nobody will ever read it."""


class Sealer:
    """Seals secrets and opens them again; made by `Sealer.open`.

    Keys are files in one folder, `KEY_ID.key`, each of 64 hexadecimal digits. The one whose id
    comes last in the alphabet seals, and all of them open: to rotate, put a file with a later name
    where every process finds it, restart, and keep the old ones for as long as what they sealed.

    Attributes:
        key_id: of the key that seals.

    """

    def __init__(self, folder: Path, keys: Mapping[str, AESGCM]) -> None:
        assert keys, "there is a key to seal with"
        self._folder = folder
        self._keys = dict(keys)
        self.key_id: Final = max(keys)

    @classmethod
    def open(
        cls, folder: Path, used: Mapping[str, int] = NONE_USED, loss: str = "{} secrets with it"
    ) -> "Sealer":
        """Use the keys in *folder*, making both if need be. Safe in several processes.

        For *used* and *loss* see `make_key`: what is sealed already, where there is no key.

        Raises:
            LostKeysError: a key that was used is missing.
            SettingsError: a file there is no key, or cannot be read.

        """
        made = make_key(folder, FIRST_KEY, KEY_SIZE, used, loss)
        if made is not None:
            _log.info("sealing_key_made", path=str(made))
        paths = sorted(folder.glob(f"*{SUFFIX}"))
        return cls(folder, {path.stem: AESGCM(read_key(path, KEY_SIZE)) for path in paths})

    def seal(self, secret: bytes, *, bound_to: bytes) -> Sealed:
        """Encrypt *secret*, which opens only for who names the same *bound_to*: whose it is."""
        nonce = fresh_secret(NONCE_SIZE)
        return Sealed(self.key_id, nonce + self._keys[self.key_id].encrypt(nonce, secret, bound_to))

    def unseal(self, sealed: Sealed, *, bound_to: bytes) -> bytes:
        """Return the secret.

        Raises:
            UnsealableError: it was sealed for something else, has been changed, or its key is not
                here; `GivenUpError` if that is gone for good.

        """
        key = self._key(sealed.key_id)
        nonce, text = sealed.sealed[:NONCE_SIZE], sealed.sealed[NONCE_SIZE:]
        try:
            return key.decrypt(nonce, text, bound_to)
        except (InvalidTag, ValueError):
            raise UnsealableError("is not what was sealed under its key") from None

    def _key(self, key_id: str) -> AESGCM:
        key = self._keys.get(key_id)
        if key is None:
            # Another process may have been given a newer key and have sealed with it already.
            if not is_key_id(key_id):
                raise UnsealableError("names no key")
            try:
                key = AESGCM(read_key(self._folder / f"{key_id}{SUFFIX}", KEY_SIZE))
            except SettingsError as error:
                if is_given_up(self._folder, key_id):
                    raise GivenUpError(f"the key {key_id} was given up") from None
                raise UnsealableError(str(error)) from None
            self._keys[key_id] = key
        return key
