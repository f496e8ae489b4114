"""``opolyx bundle``: all that a bug report about a match needs, in one file."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from libs.client.client import Client
from libs.kernel.ids import MatchId
from libs.simulation.keeping import write_whole
from libs.wire.export import write_export
from libs.wire.heads import UNSIGNED, SignedHead, spell_keys
from libs.wire.record import StoredRecord
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.bundling import Report, pack
from services.console.config import in_force
from services.console.connection import ask, public_keys, quarantined, read_match
from services.console.diagnosis.versions import versions
from services.console.doctor import examine
from services.console.exits import FAILED, stop
from services.console.exporting import MatchArgument, check_id
from services.console.progress import Advance, progress

app = typer.Typer(add_completion=False)


class Read(NamedTuple):
    """What the system gave of a match; *cause* says why it is in quarantine, if it is."""

    records: list[StoredRecord]
    head: SignedHead
    keys: dict[str, bytes]
    cause: str


@app.command()
def bundle(  # noqa: PLR0913 - the options of the command
    match: MatchArgument,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write it, a zip.")],
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    *,
    operator: OperatorOption = False,
) -> None:
    """Write what a bug report about a match needs into one archive, with a README inside.

    That is its export, its state, its last events in words, versions, settings without secrets, and
    what the doctor finds here; no token, no secret key and nobody's name. One in quarantine needs
    --operator, and says in fault.txt what is wrong. Exit codes: 0 written, 1
    nothing answers or FILE cannot be written, 2 MATCH is no id, 3 there is no such match.
    """
    match_id, asker = check_id(match), Asker(address, token_file, player, operator)
    with progress("events") as advance:
        read = ask(asker, partial(_read, match_id=match_id, advance=advance))
    report = Report(
        match_id=match_id,
        records=read.records,
        export=write_export(match_id, read.records, read.head),
        key_file=spell_keys(read.keys.items()),
        versions=versions(),
        settings=[setting._asdict() for setting in in_force()],
        findings=[finding._asdict() for finding in examine(os.environ)],
        cause=read.cause,
    )
    try:
        write_whole(out, pack(report))
    except OSError as error:
        stop(f"{error.filename}: {error.strerror}", FAILED)
    typer.echo(f"{out}: {len(read.records)} records; its README says what else", err=True)


async def _read(client: Client, match_id: MatchId, advance: Advance) -> Read:
    records, head = await read_match(client, match_id, advance)
    cause = ""
    if head.key_id == UNSIGNED:
        cause = (await quarantined(client)).get(match_id, "it has been released meanwhile")
    return Read(records, head, await public_keys(client), cause)
