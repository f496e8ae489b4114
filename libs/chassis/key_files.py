"""Files that hold keys: made once, whole, and for their owner alone."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import Final

from libs.chassis.settings import SettingsError
from libs.kernel.chance import fresh_secret

SUFFIX: Final = ".key"
"""What the name of a file with a secret key ends in; before it stands the id of the key."""

PUBLIC: Final = ".pub"
"""What the name of a file ends in that holds the public half of a key whose secret one may go."""

LOST: Final = ".lost"
"""What the name of an empty file ends in by which an operator gives a key up: it is gone for good,
and what was sealed or signed by it with it."""

NONE_USED: Final[Mapping[str, int]] = MappingProxyType({})

_KEY_ID: Final = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)


class LostKeysError(SettingsError):
    """Keys that were used are not where they should be. Another one would not do what they did."""


def is_key_id(text: str) -> bool:
    """Tell whether a key may be called this."""
    return _KEY_ID.fullmatch(text) is not None


def has_key(folder: Path) -> bool:
    """Tell whether there is a secret key in *folder*."""
    return any(folder.glob(f"*{SUFFIX}"))


def is_given_up(folder: Path, key_id: str) -> bool:
    """Tell whether an operator has said that a key is gone for good."""
    return (folder / f"{key_id}{LOST}").exists()


def missing_keys(folder: Path, used: Iterable[str]) -> list[str]:
    """Return which of the *used* keys are not in *folder* and were not given up either."""
    told = _ids(folder, SUFFIX, PUBLIC, LOST)
    return sorted(key_id for key_id in used if key_id not in told)


def make_key(
    folder: Path, first_id: str, size: int, used: Mapping[str, int] = NONE_USED, loss: str = "{}"
) -> Path | None:
    """Make a key of *size* bytes where *folder* has none; returns its file if this call made it.

    *used* are the keys by which the store has something sealed or signed, each with how much would
    be lost with it; *loss* says so of that number. No id is ever used again: theirs, and those that
    the folder tells of, come before that of the key that is made.

    Raises:
        LostKeysError: such a key is missing, and nobody has given it up.

    """
    if has_key(folder):
        return None
    if missing := missing_keys(folder, used):
        lost = loss.format(sum(used[key_id] for key_id in missing))
        markers = ", ".join(f"{key_id}{LOST}" for key_id in missing)
        raise LostKeysError(
            f"{folder} has no key, and the store has used {', '.join(missing)}: bring the folder "
            f"back from the backup; if it is gone for good, {lost}, and to go on "
            f"without make an empty file there for each: {markers}"
        )
    before = {*used, *_ids(folder, PUBLIC, LOST)}
    path = folder / f"{_next_id(max(before)) if before else first_id}{SUFFIX}"
    is_made = make_key_file(path, fresh_secret(size).hex().encode() + b"\n")
    return path if is_made else None


def _ids(folder: Path, *suffixes: str) -> set[str]:
    """Return of which keys there are files that end so."""
    return {path.stem for suffix in suffixes for path in folder.glob(f"*{suffix}")}


def _next_id(last: str) -> str:
    """Return an id that comes after *last* in the alphabet: `seal-0002` after `seal-0001`."""
    stem = last.rstrip("0123456789")
    digits = last[len(stem) :]
    following = f"{int(digits or 0) + 1:0{len(digits)}}"
    return f"{stem}{following}" if len(following) == len(digits) else f"{last}-0001"


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
