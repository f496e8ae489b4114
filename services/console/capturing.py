"""What ``opolyx scenario --from`` does: a moment of a recorded match, written as a scenario."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from libs.scenarios.capture import capture
from libs.scenarios.retelling import NotSayableError
from libs.wire.record import Record
from services.console.exits import FAILED, stop
from services.console.exports import check_sequence
from services.console.folding import fold
from services.console.output import printable


def capture_scenario(
    source: Path, records: Sequence[Record], sequence: int | None
) -> dict[str, Any]:
    """Return the scenario that leads to a moment of a match, or end the command.

    *source* is what the records were read from.
    """
    at = check_sequence(records, sequence)
    # What is captured is trusted: whatever does not fit has to be found before.
    fold(source, records, at)
    try:
        captured = capture(records, at)
    except NotSayableError as error:
        stop(printable(f"{source}: {error}"), FAILED)
    start, end = captured.setup_sequence, captured.end_sequence
    typer.echo(f"set up at sequence {start}, steps lead to {end}", err=True)
    if not captured.opens_round:
        typer.echo("it begins within a round, so later rounds would be counted otherwise", err=True)
    return captured.document
