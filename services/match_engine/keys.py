"""The keys of this deployment, as its engines find them at their start."""

from pathlib import Path
from typing import NamedTuple

from libs.chassis.key_files import has_key
from libs.store.directory import Keyring, KeysUsed
from services.match_engine.seeds import FOLDER as SEED_KEYS
from services.match_engine.seeds import Seeds
from services.match_engine.signing import FIRST_KEY, SigningKeys
from services.match_engine.signing import FOLDER as HEAD_KEYS


class Keys(NamedTuple):
    """What seals the seeds of matches, and what signs their heads."""

    seeds: Seeds
    signing: SigningKeys


async def open_keys(data_folder: Path, keyring: Keyring) -> Keys:
    """Use the keys in *data_folder*, making at the first start what there never was.

    What was used is asked for only where a key is to be made.

    Raises:
        LostKeysError: there is no key of a kind, and the store has used one.
        SettingsError: a file there is no key, or cannot be read.
        StoreUnavailableError: the store did not answer.

    """
    used = KeysUsed({}, {})
    if not all(has_key(data_folder / folder) for folder in (SEED_KEYS, HEAD_KEYS)):
        used = await keyring.keys_used()
    # Heads of matches that go on are signed for whoever asks, and written down nowhere.
    signs = used.signs or (dict.fromkeys([FIRST_KEY], 0) if used.seals else {})
    seeds = Seeds.open(data_folder, used.seals)
    return Keys(seeds, SigningKeys.open(data_folder, signs))
