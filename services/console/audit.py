"""``opolyx audit``: matches of a running system, held to every invariant."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, NamedTuple

import typer

from libs import verify as verifier
from libs.client.client import Client
from libs.kernel.ids import MatchId
from libs.rules import phases
from libs.simulation.auditing import audit as audit_records
from libs.simulation.invariants import BrokenInvariantError
from libs.wire.chain import BrokenChainError
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.export import write_export
from libs.wire.heads import SignedHead, spell_keys
from libs.wire.record import StoredRecord
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.connection import ask, match_ids, public_keys, read_match
from services.console.exits import MISMATCH, USAGE, stop
from services.console.exporting import check_id
from services.console.exports import verify_export
from services.console.output import Format, FormatOption, write_json, write_table
from services.console.progress import Advance, progress

app = typer.Typer(add_completion=False)


class Finding(NamedTuple):
    """What the audit of one match came to; *fault* is the first thing wrong, if anything is."""

    match_id: str
    records: int
    events: int
    ended: bool
    fault: str


@app.command("audit")
def run(  # noqa: PLR0913 - the options of the command
    match: Annotated[str | None, typer.Argument(metavar="[MATCH]", help="The id of one.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All that one may see.")] = False,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    operator: OperatorOption = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Rebuild matches from their records: chain, invariants, signed head, and of ended ones draws.

    All are all that --player may see, or with --operator all that there are. Exit codes: 0 all
    sound, 1 nothing answers, 2 neither MATCH nor --all, or both, 3 there is no such match, 6
    something is wrong.
    """
    if (match is None) is not everything:
        stop("give the id of a match, or --all", USAGE)
    wanted = None if match is None else check_id(match)
    asker = Asker(address, token_file, player, operator)

    with progress("matches") as advance:
        findings = ask(asker, partial(_audit, wanted=wanted, advance=advance))
    if output != Format.TABLE:
        write_json([{**finding._asdict(), "ok": not finding.fault} for finding in findings], output)
    else:
        rows = [(*finding[:-1], finding.fault or "sound") for finding in findings]
        write_table(("match", "records", "events", "ended", "finding"), rows)
    if any(finding.fault for finding in findings):
        raise typer.Exit(MISMATCH)


async def _audit(client: Client, wanted: MatchId | None, advance: Advance) -> list[Finding]:
    keys = await public_keys(client)
    ids = [wanted] if wanted is not None else [one async for one in match_ids(client)]
    findings = []
    for done, match_id in enumerate(ids):
        advance(done, len(ids))
        findings.append(examine(match_id, *await read_match(client, match_id), keys))
    return findings


def examine(
    match_id: MatchId,
    records: list[StoredRecord],
    head: SignedHead,
    keys: Mapping[str, bytes],
) -> Finding:
    """Audit one match, and verify its export as a stranger would."""
    events = records[-1].last_seq if records else 0
    finding = Finding(match_id, len(records), events, head.ended, "")
    try:
        match = audit_records(records).match
    except (BrokenInvariantError, BrokenChainError, UnreadableError, NewerSchemaError) as error:
        return finding._replace(fault=f"{type(error).__name__}: {error}")
    if match.match_id != match_id:
        return finding._replace(fault="these are the records of another match")
    if (match.phase == phases.ENDED) is not head.ended:
        return finding._replace(fault="the head is not what the records come to")
    export = write_export(match_id, records, head)
    report = verify_export(export, spell_keys(keys.items()).encode("ascii"))
    return finding._replace(fault="" if report.code == verifier.OK else report.lines[0])
