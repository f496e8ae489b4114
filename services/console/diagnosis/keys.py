"""The keys in the data folder: whether they are there, whose they are, how old, and of use."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from libs.chassis.issuing import KEY_FILE
from libs.chassis.key_files import SUFFIX, read_key
from libs.chassis.sealing import KEY_SIZE, Sealer
from libs.chassis.settings import SettingsError
from libs.kernel.clock import SystemClock
from libs.wire.heads import KEY_SEED_SIZE
from services.console.diagnosis.finding import Finding, failed, ok, skipped, warning
from services.match_engine.seeds import FOLDER as SEED_KEYS
from services.match_engine.signing import FOLDER as HEAD_KEYS
from services.progression.settings import KEYS_FOLDER as CARD_KEYS

AGE_MOST_DAYS: Final = 365
_MS_PER_DAY: Final = 24 * 60 * 60 * 1000
_ANYBODY_ELSE: Final = stat.S_IRWXG | stat.S_IRWXO


class KeyFolder(NamedTuple):
    """Where keys of one kind are: the check's name, the folder in the data folder, their size."""

    check: str
    folder: Path
    size: int


SEEDS: Final = KeyFolder("keys of seeds", Path(SEED_KEYS), KEY_SIZE)
CARDS: Final = KeyFolder("keys of cards", CARD_KEYS, KEY_SIZE)
HEADS: Final = KeyFolder("keys of heads", Path(HEAD_KEYS), KEY_SEED_SIZE)

DEVELOPMENT: Final = "development key"


def check_keys(data_folder: Path) -> list[Finding]:
    """Look at every file with a secret key; what is in them is told to nobody."""
    return [
        _check_development(data_folder / KEY_FILE),
        *(_check_folder(data_folder, kind) for kind in (HEADS, SEEDS, CARDS)),
    ]


def sealer_of(data_folder: Path, kind: KeyFolder) -> Sealer | None:
    """Return what opens what was sealed with the keys of a folder; None if it holds none."""
    folder = data_folder / kind.folder
    try:
        keys = {
            path.stem: AESGCM(read_key(path, kind.size))
            for path in sorted(folder.glob(f"*{SUFFIX}"))
        }
    except SettingsError:
        return None
    return Sealer(folder, keys) if keys else None


def _check_development(path: Path) -> Finding:
    if not path.exists():
        return _not_there(DEVELOPMENT, path)
    if trouble := next(_troubles(DEVELOPMENT, [path]), None):
        return trouble
    try:
        load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError):
        return _unreadable(DEVELOPMENT, f"{path} holds no key that can be read")
    return ok(DEVELOPMENT, f"{path} is there, for its owner alone")


def _check_folder(data_folder: Path, kind: KeyFolder) -> Finding:
    folder = data_folder / kind.folder
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    if not paths:
        return _not_there(kind.check, folder)
    for path in paths:
        try:
            read_key(path, kind.size)
        except SettingsError as error:
            return _unreadable(kind.check, str(error))
    if trouble := next(_troubles(kind.check, paths), None):
        return trouble
    days = _age_days(paths[-1])
    if days > AGE_MOST_DAYS:
        return warning(
            kind.check,
            f"{paths[-1].stem} in {folder} has been in use for {days} days",
            "put a key with a later name beside it and restart; keep the old one",
        )
    return ok(kind.check, f"{len(paths)} in {folder}, {paths[-1].stem} in use for {days} days")


def _troubles(check: str, paths: list[Path]) -> Iterator[Finding]:
    for path in paths:
        if path.stat().st_mode & _ANYBODY_ELSE:
            yield failed(
                check,
                f"{path} is open to others than its owner, who could be anybody with it",
                f"chmod 600 {path}, and make another key if somebody has read it",
            )


def _not_there(check: str, where: Path) -> Finding:
    advice = "the first start makes one; if there was one, bring it back from your backup"
    return skipped(check, f"nothing at {where} yet", advice)


def _unreadable(check: str, why: str) -> Finding:
    return failed(check, why, "bring the key back from your backup, or run as its owner")


def _age_days(path: Path) -> int:
    return (SystemClock().now_ms() - round(path.stat().st_mtime * 1000)) // _MS_PER_DAY
