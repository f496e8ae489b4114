"""Secrets at rest: sealed by AES-256-GCM under a key that lies in a file, not in the store."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from libs.chassis.key_files import make_key_file
from libs.chassis.settings import SettingsError
from libs.kernel.chance import fresh_secret
from libs.telemetry import logs

SUFFIX: Final = ".key"
FIRST_KEY: Final = "seal-0001"
"""The id of the key that is made where there is none."""

KEY_SIZE: Final = 32
NONCE_SIZE: Final = 12

_KEY_ID: Final = re.compile(r"[a-z0-9-]{1,64}")

_log: Final = logs.get()


class Sealed(NamedTuple):
    """A secret, encrypted under the key of that id: the nonce, then the text with its tag."""

    key_id: str
    sealed: bytes


class UnsealableError(Exception):
    """A secret cannot be read: its key is not in the folder, or it is not what was sealed."""


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
    def open(cls, folder: Path) -> "Sealer":
        """Use the keys in *folder*, making both if need be. Safe in several processes.

        Raises:
            SettingsError: a file there is no key, or cannot be read.

        """
        if not any(folder.glob(f"*{SUFFIX}")):
            path = folder / f"{FIRST_KEY}{SUFFIX}"
            if make_key_file(path, fresh_secret(KEY_SIZE).hex().encode() + b"\n"):
                _log.info("sealing_key_made", path=str(path))
        paths = sorted(folder.glob(f"*{SUFFIX}"))
        return cls(folder, {path.name.removesuffix(SUFFIX): _read(path) for path in paths})

    def seal(self, secret: bytes, *, bound_to: bytes) -> Sealed:
        """Encrypt *secret*, which opens only for who names the same *bound_to*: whose it is."""
        nonce = fresh_secret(NONCE_SIZE)
        return Sealed(self.key_id, nonce + self._keys[self.key_id].encrypt(nonce, secret, bound_to))

    def unseal(self, sealed: Sealed, *, bound_to: bytes) -> bytes:
        """Return the secret.

        Raises:
            UnsealableError: it was sealed for something else, has been changed, or its key is gone.

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
            if not _KEY_ID.fullmatch(key_id):
                raise UnsealableError("names no key")
            try:
                key = self._keys[key_id] = _read(self._folder / f"{key_id}{SUFFIX}")
            except SettingsError as error:
                raise UnsealableError(str(error)) from None
        return key


def _read(path: Path) -> AESGCM:
    if not _KEY_ID.fullmatch(path.name.removesuffix(SUFFIX)):
        raise SettingsError(f"{path}: a key's id is of lower-case letters, digits and hyphens")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise SettingsError(f"{path} holds no key that can be read") from None
    if len(key) != KEY_SIZE:
        raise SettingsError(f"{path} holds a key of another size")
    return AESGCM(key)
