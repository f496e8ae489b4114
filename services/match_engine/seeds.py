"""The secret seeds of matches, which leave the memory only sealed (FAIR-1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from libs.chassis.key_files import NONE_USED
from libs.chassis.sealing import Sealed, Sealer
from libs.kernel.ids import MatchId
from libs.store.ports import SealedSeed

FOLDER: Final = "seed-keys"
"""Where the keys are, in the data folder."""


class Seeds:
    """Seals the seeds of matches, each bound to its match. See `Sealer` for keys and rotation."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    @classmethod
    def open(cls, data_folder: Path, used: Mapping[str, int] = NONE_USED) -> "Seeds":
        """Use the keys in *data_folder*, making one at the first start.

        *used* are those that seeds were sealed with, with how many matches that go on.

        Raises:
            LostKeysError: there is none, and such a one is missing.
            SettingsError: a file there is no key, or cannot be read.

        """
        loss = "{} matches that go on can never be played again"
        return cls(Sealer.open(data_folder / FOLDER, used, loss))

    def seal(self, match_id: MatchId, seed: bytes) -> SealedSeed:
        """Encrypt a match's seed; each time anew."""
        return SealedSeed(*self._sealer.seal(seed, bound_to=match_id.encode("ascii")))

    def unseal(self, match_id: MatchId, sealed: SealedSeed) -> bytes:
        """Return a match's seed.

        Raises:
            UnsealableError: it is another match's, was changed, or its key is not here;
                `GivenUpError` if that is gone for good.

        """
        return self._sealer.unseal(Sealed(*sealed), bound_to=match_id.encode("ascii"))
