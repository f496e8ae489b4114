"""``opolyx audit``: matches of a running system, held to every invariant."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Final, NamedTuple

import grpc
import typer

from libs import verify as verifier
from libs.chassis.status import answer_of
from libs.client.client import Client
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import phases
from libs.simulation.auditing import audit as audit_records
from libs.simulation.invariants import BrokenInvariantError
from libs.wire.chain import BrokenChainError
from libs.wire.events import NewerSchemaError, UnreadableError
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
from services.console.connection import ask, match_ids, public_keys, quarantined, read_match
from services.console.exits import MISMATCH, USAGE, stop
from services.console.exporting import check_id
from services.console.exports import verify_export
from services.console.output import Format, FormatOption, write_json, write_table
from services.console.progress import Advance, progress

app = typer.Typer(add_completion=False)


_OF_ONE_MATCH: Final = frozenset(
    {Reason.MATCH_QUARANTINED, Reason.MATCH_NOT_FOUND, Reason.STORE_UNAVAILABLE}
)
"""Why one match cannot be read: the last, where its key or its release is not here."""

NO_CAUSES: Final[Mapping[MatchId, str]] = MappingProxyType({})


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

    All are all that --player may see, or with --operator all that there are, those in quarantine
    too; what cannot be read is a finding like any other. Exit codes: 0 all sound, 1 nothing
    answers, 2 neither MATCH nor --all, or both, 3 there is no such match, 6 something is wrong.
    """
    if (match is None) is not everything:
        stop("give the id of a match, or --all", USAGE)
    wanted = None if match is None else check_id(match)
    asker = Asker(address, token_file, player, operator)

    with progress("matches") as advance:
        work = partial(_audit, wanted, advance, is_operator=operator)
        findings = ask(asker, work)
    if output != Format.TABLE:
        write_json([{**finding._asdict(), "ok": not finding.fault} for finding in findings], output)
    else:
        rows = [(*finding[:-1], finding.fault or "sound") for finding in findings]
        write_table(("match", "records", "events", "ended", "finding"), rows)
    if any(finding.fault for finding in findings):
        raise typer.Exit(MISMATCH)


async def _audit(
    wanted: MatchId | None, advance: Advance, client: Client, *, is_operator: bool
) -> list[Finding]:
    keys = await public_keys(client)
    causes = await quarantined(client) if is_operator else {}
    if wanted is not None:
        return [examine(wanted, *await read_match(client, wanted), keys, causes)]
    listed = await match_ids(client)
    # No list has those of which not even the first record can be read.
    ids = listed + [match_id for match_id in causes if match_id not in listed]
    findings = []
    for done, match_id in enumerate(ids):
        advance(done, len(ids))
        try:
            findings.append(examine(match_id, *await read_match(client, match_id), keys, causes))
        except grpc.aio.AioRpcError as error:
            findings.append(_unreadable(match_id, error))
    return findings


def _unreadable(match_id: MatchId, error: grpc.aio.AioRpcError) -> Finding:
    """Say why one match cannot be read; what has to do with no match in particular is raised."""
    told = answer_of(error).told
    if told is not None and told.reason in _OF_ONE_MATCH:
        return Finding(match_id, 0, 0, ended=False, fault=f"{told.reason}: {told.text}")
    if error.code() is grpc.StatusCode.INTERNAL:
        return Finding(match_id, 0, 0, ended=False, fault=f"INTERNAL: {error.details()}")
    raise error


def examine(
    match_id: MatchId,
    records: list[StoredRecord],
    head: SignedHead,
    keys: Mapping[str, bytes],
    causes: Mapping[MatchId, str] = NO_CAUSES,
) -> Finding:
    """Audit one match, and verify its export as a stranger would.

    *causes* say why matches are in quarantine.
    """
    finding = _examine(match_id, records, head, keys)
    if head.key_id != UNSIGNED:
        return finding
    cause = causes.get(match_id, "`opolyx admin quarantined` says why")
    return finding._replace(
        fault=f"in quarantine: {cause}; {finding.fault or 'its records check out'}"
    )


def _examine(
    match_id: MatchId, records: list[StoredRecord], head: SignedHead, keys: Mapping[str, bytes]
) -> Finding:
    events = records[-1].last_seq if records else 0
    finding = Finding(match_id, len(records), events, head.ended, "")
    if not records:
        return finding._replace(fault="no record of it is there")
    try:
        match = audit_records(records).match
    except (BrokenInvariantError, BrokenChainError, UnreadableError, NewerSchemaError) as error:
        return finding._replace(fault=f"{type(error).__name__}: {error}")
    if match.match_id != match_id:
        return finding._replace(fault="these are the records of another match")
    if (match.phase == phases.ENDED) is not head.ended:
        return finding._replace(fault="the head is not what the records come to")
    export = write_export(match_id, records, head)
    key_file = spell_keys(keys.items()).encode("ascii")
    report = verify_export(export, key_file if head.key_id != UNSIGNED else None)
    return finding._replace(fault="" if report.code == verifier.OK else report.lines[0])
