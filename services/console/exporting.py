"""``opolyx export``: a match of a running system, as a file that anyone can check."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from libs.kernel.ids import MatchId, is_uuid
from libs.simulation.keeping import write_whole
from libs.wire.export import write_export
from libs.wire.heads import UNSIGNED
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.connection import ask, read_match
from services.console.exits import FAILED, USAGE, stop
from services.console.progress import progress

app = typer.Typer(add_completion=False)

MatchArgument = Annotated[str, typer.Argument(metavar="MATCH", help="The id of a match.")]


@app.command()
def export(  # noqa: PLR0913 - the options of the command
    match: MatchArgument,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write it.")],
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    *,
    operator: OperatorOption = False,
) -> None:
    """Write a match with its signed head into FILE, for `verify`, `replay` and `scenario --from`.

    One that goes on is exported as far as it is; one in quarantine with --operator alone, and
    without a signature, which nobody gives. Exit codes: 0 written, 1 nothing answers or FILE
    cannot be written, 2 MATCH is no id, 3 there is no such match.
    """
    match_id = check_id(match)
    with progress("events") as advance:
        reading = partial(read_match, match_id=match_id, advance=advance)
        records, head = ask(Asker(address, token_file, player, operator), reading)
    try:
        write_whole(out, write_export(match_id, records, head))
    except OSError as error:
        stop(f"{error.filename}: {error.strerror}", FAILED)
    how = "to its end" if head.ended else "as far as it is"
    if head.key_id == UNSIGNED:
        how = "as they are stored: it is in quarantine, and its head is not signed"
    typer.echo(f"{out}: {len(records)} records, {how}", err=True)


def check_id(match: str) -> MatchId:
    """Return the id of a match, or end the command."""
    if not is_uuid(match):
        stop(f"{match}: a match is named by a UUID, 36 lower-case characters", USAGE)
    return MatchId(match)
