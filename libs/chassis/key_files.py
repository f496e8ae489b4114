"""Files that hold keys: made once, whole, and for their owner alone."""

import os
import re
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from libs.chassis.settings import SettingsError
from libs.kernel.chance import fresh_secret

SUFFIX: Final = ".key"
"""What the name of a file with a secret key ends in; before it stands the id of the key."""

_KEY_ID: Final = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)


def is_key_id(text: str) -> bool:
    """Tell whether a key may be called this."""
    return _KEY_ID.fullmatch(text) is not None


def make_first_key(folder: Path, key_id: str, size: int) -> Path | None:
    """Make a key of *size* bytes where *folder* has none; returns its file if this call made it."""
    path = folder / f"{key_id}{SUFFIX}"
    if any(folder.glob(f"*{SUFFIX}")):
        return None
    is_made = make_key_file(path, fresh_secret(size).hex().encode() + b"\n")
    return path if is_made else None


def read_key(path: Path, size: int) -> bytes:
    """Return the key of *size* bytes that a file holds in hexadecimal digits.

    Raises:
        SettingsError: its name is no id of a key, or it holds none of that size.

    """
    if not is_key_id(path.stem):
        raise SettingsError(f"{path}: a key's id is of lower-case letters, digits and hyphens")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise SettingsError(f"{path} holds no key that can be read") from None
    if len(key) != size:
        raise SettingsError(f"{path} holds a key of another size")
    return key


def make_key_file(path: Path, content: bytes) -> bool:
    """Write a key where there is none; returns whether this call did. Makes the folder too.

    The file is there whole or not at all, and of two processes the first one wins, so that whoever
    reads it afterwards has the key that everybody has.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        try:
            os.link(file.name, path)
        except FileExistsError:
            return False
    return True
