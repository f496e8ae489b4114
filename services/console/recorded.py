"""Recorded matches, as commands name them: an export, or a match of a running system."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from libs.kernel.ids import MatchId, is_uuid
from libs.wire.chain import follow
from libs.wire.record import Record
from services.console.asking import Asker
from services.console.exports import read_records

SourceArgument = Annotated[
    Path, typer.Argument(metavar="FILE|MATCH", help="An export of a match, or the id of one.")
]


def is_match(source: Path) -> bool:
    """Tell whether a match of a running system is meant: an id, and no file is called that."""
    return is_uuid(str(source)) and not source.exists()


def records_of(source: Path, asker: Asker) -> Sequence[Record]:
    """Return the records of a file, or of a match of a running system, or end the command."""
    if not is_match(source):
        return read_records(source)
    # Here and not above: who replays a file does not wait for what speaks gRPC.
    from services.console.connection import ask, read_match  # noqa: PLC0415

    stored, _ = ask(asker, partial(read_match, match_id=MatchId(str(source))))
    return list(follow(stored))
