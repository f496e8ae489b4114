"""Exports of matches, as commands take them."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from libs import verify as verifier
from libs.wire.chain import BrokenChainError, follow
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.export import ExportError, read_export
from libs.wire.record import Record
from services.console.exits import NOT_FOUND, USAGE, stop


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes, or end the command."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        stop(f"{path}: there is no such file", NOT_FOUND)
    except OSError as error:
        stop(f"{path}: cannot be read: {error.strerror}", USAGE)


def read_records(path: Path) -> list[Record]:
    """Return the records of an export, each joined on to the one before, or end the command."""
    records: list[Record] = []
    try:
        for record in follow(read_export(read_bytes(path)).records):
            records.append(record)  # noqa: PERF402 - those before a fault are counted
    except (UnreadableError, NewerSchemaError) as error:
        # The verifier may find nothing wrong: it does not look into most events.
        where = f"line {len(records) + 2}, record {len(records) + 1}"
        stop(f"{path}: {_first_fault(path, f'{where}: {error}')}", USAGE)
    except (ExportError, BrokenChainError) as error:
        stop(f"{path}: {_first_fault(path, str(error))}", USAGE)
    if not records:
        stop(f"{path}: holds no record", USAGE)
    return records


def _first_fault(path: Path, otherwise: str) -> str:
    """Say what is wrong with an export that could not be read, as `opolyx verify` does.

    Reading stops at whatever it stumbles over, which may be the hash at the very end of the file;
    the verifier goes line by line and finds where the damage is.
    """
    report = verifier.verify(path)
    return report.lines[0] if report.code == verifier.MISMATCH else otherwise


def verify_export(export: bytes, key_file: bytes | None) -> verifier.Report:
    """Return what a stranger finds who checks an export with the public keys, if there are any.

    By files, as they come to one: the verifier shares no code with what it verifies.
    """
    with TemporaryDirectory() as folder:
        exported, keys = Path(folder) / "match", Path(folder) / "keys"
        exported.write_bytes(export)
        if key_file is not None:
            keys.write_bytes(key_file)
        return verifier.verify(exported, keys if key_file is not None else None)


def check_sequence(records: Sequence[Record], sequence: int | None, argument: str = "--at") -> int:
    """Return the sequence that *argument* asks for, the last where none is, or end the command."""
    last = records[-1].last_seq
    if sequence is None:
        return last
    if not 1 <= sequence <= last:
        stop(f"{argument} {sequence}: the match has the sequences 1 to {last}", USAGE)
    return sequence
