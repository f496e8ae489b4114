"""Simulated matches as exports that anyone can verify, the same bytes each time."""

from collections.abc import Sequence
from errno import ENOTEMPTY
from hashlib import sha256
from pathlib import Path
from typing import Final

from libs.kernel.ids import derived_command_id
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.simulation.playing import Setup
from libs.wire.chain import Chain
from libs.wire.export import SUFFIX, write_export
from libs.wire.heads import SigningKey, key_file
from libs.wire.record import SYSTEM, StoredRecord

KEY_FILE: Final = "keys.json"
"""The name of the file with the public key."""


class Recording:
    """Watches a match and makes its records.

    Attributes:
        records: those so far.

    """

    def __init__(self, setup: Setup) -> None:
        self.records: list[StoredRecord] = []
        self._chain = Chain(setup.match_id)

    def __call__(self, _: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        """Join the record of an accepted command on."""
        chain = self._chain
        actor, name = _origin(command, chain.last_seq)
        command_id = derived_command_id(chain.match_id, name)
        self.records.append(chain.join(command_id, actor, at_ms, events))

    def export(self, key: SigningKey) -> bytes:
        """Return the export of the match, which has ended, its head signed with *key*."""
        chain = self._chain
        head = key.sign(chain.match_id, chain.last_seq, chain.last_hash, ended=True)
        return write_export(chain.match_id, self.records, head)


def simulation_key(seed: int) -> SigningKey:
    """Return the key that signs the matches of the simulation with this seed; no secret at all."""
    name = f"opolyx/simulation/1 {seed} key"
    return SigningKey(sha256(name.encode()).digest())


def write_key(folder: Path, key: SigningKey) -> None:
    """Write the public key into *folder*, which is made if need be.

    Raises:
        OSError: it cannot be written, or the folder holds something already. Exports of two seeds
            side by side would all look alike, and one key file would fit only some of them.

    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise OSError(ENOTEMPTY, "the folder is not empty: give a new or an empty one", str(folder))
    write_whole(folder / KEY_FILE, key_file([key]).encode("ascii"))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file.

    Raises:
        OSError: it cannot be written; the error names the file even where the disk is full.

    """
    try:
        path.write_bytes(data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def export_path(folder: Path, number: int) -> Path:
    """Return where match *number* of a simulation goes; names sort as numbers do."""
    return folder / f"match-{number:06d}{SUFFIX}"


def _origin(command: c.Command, sequence: int) -> tuple[str, str]:
    """Return the actor of a command, and the name that its id is derived from."""
    if isinstance(command, c.FireDeadline):
        return SYSTEM, f"fire:{command.deadline_id}"
    if not isinstance(command, c.SeatCommand):
        return SYSTEM, f"simulation:{sequence}"
    return f"seat:{command.seat}", f"bot:{sequence}:{command.seat}"
