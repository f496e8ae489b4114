"""``opolyx admin``: matches of a running system, looked after by an operator."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from libs.client.client import Client
from libs.kernel.clock import SystemClock
from libs.kernel.ids import MatchId, fresh_id, is_uuid
from libs.wire.words import words_by_number
from opolyx.admin.v1 import admin_service_pb2 as pb
from opolyx.match.v1.access_pb2 import Access
from opolyx.match.v1.match_pb2 import MatchSummary
from opolyx.record.v1.event_pb2 import SeatSpec
from services.console.asking import AddressOption, Asker, TokenFileOption
from services.console.connection import ask, method_of, send
from services.console.exits import USAGE, stop
from services.console.exporting import MatchArgument, check_id
from services.console.lobby.describing import UNKNOWN
from services.console.output import Format, FormatOption, printable, table_lines, write
from services.console.paging import LIMIT, LimitOption, listed

app = typer.Typer(name="admin", no_args_is_help=True, add_completion=False)

NAME: Final = "opolyx-console"
"""Which operator this is, where nobody gives it a token."""

MATCH_COLUMNS: Final = tuple(
    "match_id rule_set status sequence created_ms watching people bots".split()
)
CALL_COLUMNS: Final = tuple("number at_ms operator_id method match_id outcome reason".split())
QUARANTINE_COLUMNS: Final = tuple("match_id sequence since_ms cause".split())

_STATUSES: Final = words_by_number(MatchSummary.Status)
_WATCHING: Final = words_by_number(Access.Watching)

Row = dict[str, object]


class Status(StrEnum):
    """What a match may be, as it is asked for."""

    RUNNING = "running"
    FROZEN = "frozen"
    ENDED = "ended"
    QUARANTINED = "quarantined"


ReasonOption = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why: 1 to 200 characters, kept for ever.")
]
CommandIdOption = Annotated[
    str | None,
    typer.Option(
        "--command-id",
        metavar="UUID",
        help="To send the same again: that changes nothing, and prints the same.",
        show_default=False,
    ),
]


@app.callback()
def admin() -> None:
    """Look after the matches of a running system, as an operator."""


@app.command()
def find(  # noqa: PLR0913 - its options
    *,
    match: Annotated[
        str | None, typer.Option("--match", metavar="ID", help="The one of this id.")
    ] = None,
    player: Annotated[
        str | None, typer.Option("--player", metavar="ID", help="Where this player sits.")
    ] = None,
    rule_set: Annotated[
        str | None, typer.Option("--rule-set", metavar="ID", help="Of this rule set.")
    ] = None,
    status: Annotated[Status | None, typer.Option("--status", help="Of this status.")] = None,
    limit: LimitOption = LIMIT,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Find matches, private ones too, the newest first.

    Exit codes: 0 printed, 1 nothing answers or it is refused, 2 an id is none.
    """
    wanted = "UNSPECIFIED" if status is None else status.name
    request = pb.FindMatchesRequest(
        match_id=_id(match),
        player_id=_id(player),
        rule_set=rule_set or "",
        status=MatchSummary.Status.Value(f"STATUS_{wanted}"),
    )
    found = _listed(address, token_file, request, "matches", limit)
    _print([_match_row(each) for each in found], MATCH_COLUMNS, output)


def _acting(kind: Callable[..., Any], what: str) -> Callable[..., None]:
    """Return the command that does *what* to a match, by a request of this kind."""

    def act(  # noqa: PLR0913 - its options
        match: MatchArgument,
        *,
        reason: ReasonOption,
        command_id: CommandIdOption = None,
        address: AddressOption = None,
        token_file: TokenFileOption = None,
        output: FormatOption = Format.TABLE,
    ) -> None:
        request = kind(**_command(match, reason, command_id))
        _do(address, token_file, request, output)

    act.__doc__ = f"""{what}

    Exit codes: 0 done, 1 it is refused, 2 an id is none, 3 there is no such match.
    """
    return act


for _name, _kind, _what in (
    (
        "freeze",
        pb.FreezeMatchRequest,
        "Stop all clocks of a match; nothing can be done in it but to look.",
    ),
    (
        "resume",
        pb.ResumeMatchRequest,
        "Let a frozen match go on; every clock gets back what it lost.",
    ),
    (
        "abort",
        pb.AbortMatchRequest,
        "End a match without a winner and reveal its seed; its people are free.",
    ),
):
    app.command(_name)(_acting(_kind, _what))


@app.command()
def quarantined(
    limit: LimitOption = LIMIT,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List the matches that take no commands, since something in them does not check out.

    Exit codes: 0 printed, 1 nothing answers or it is refused.
    """
    request = pb.ListQuarantinedMatchesRequest()
    found = _listed(address, token_file, request, "matches", limit)
    _print([_row(each, QUARANTINE_COLUMNS) for each in found], QUARANTINE_COLUMNS, output)


@app.command()
def release(
    match: MatchArgument,
    reason: ReasonOption,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Let a match out of quarantine, if all of it checks out from its first record on.

    Exit codes: 0 done, 1 it is refused: what is wrong is said; 2 the id is none, 3 there is no
    such match.
    """
    request = pb.ReleaseMatchRequest(match_id=check_id(match), reason=reason)
    response = send(_operator(address, token_file), "admin", request)
    row: Row = {"match_id": match, "sequence": response.sequence}
    _print(row, tuple(row), output)


@app.command()
def calls(  # noqa: PLR0913 - its options
    *,
    match: Annotated[
        str | None, typer.Option("--match", metavar="ID", help="About this match.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option("--operator", metavar="ID", help="By this operator.")
    ] = None,
    limit: LimitOption = LIMIT,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List what operators have asked for, and what became of it, the latest first.

    Exit codes: 0 printed, 1 nothing answers or it is refused, 2 an id is none.
    """
    request = pb.ListAdminCallsRequest(match_id=_id(match), operator_id=_id(operator))
    found = _listed(address, token_file, request, "calls", limit)
    _print([_row(each, CALL_COLUMNS) for each in found], CALL_COLUMNS, output)


def _match_row(found: pb.FoundMatch) -> Row:
    summary = found.summary
    people = [seat.player for seat in summary.seats if seat.kind == SeatSpec.KIND_PERSON]
    return {
        "match_id": summary.match_id,
        "rule_set": summary.rule_set,
        "status": _STATUSES.get(summary.status, UNKNOWN),
        "sequence": summary.sequence,
        "created_ms": summary.created_ms,
        "watching": _WATCHING.get(found.watching, UNKNOWN),
        "people": people,
        "bots": len(summary.seats) - len(people),
    }


def _row(message: Any, columns: tuple[str, ...]) -> Row:
    return {name: getattr(message, name) for name in columns}


def _id(given: str | None) -> str:
    """Return an id that may be left out, empty then, or end the command."""
    if given is not None and not is_uuid(given):
        stop(f"{given}: an id is a UUID, 36 lower-case characters", USAGE)
    return given or ""


def _command(match: str, reason: str, command_id: str | None) -> dict[str, str]:
    """Return the fields of a command, under an id of its own if none is given."""
    match_id: MatchId = check_id(match)
    fresh = _id(command_id) or fresh_id(SystemClock().now_ms())
    return {"match_id": match_id, "command_id": fresh, "reason": reason}


def _do(address: str | None, token_file: Path | None, request: Any, output: Format) -> None:
    """Have a command carried out, and print what came of it."""
    done = send(_operator(address, token_file), "admin", request).done
    row: Row = {
        "match_id": request.match_id,
        "command_id": request.command_id,
        "sequence": done.sequence,
        "chain_hash": done.chain_hash.hex(),
        "at_ms": done.at_ms,
    }
    _print(row, tuple(row), output)


def _listed(
    address: str | None, token_file: Path | None, request: Any, field: str, limit: int
) -> list[Any]:
    """Return the first entries of a list."""

    def work(client: Client) -> Awaitable[list[Any]]:
        return listed(method_of(client.admin, request), request, field, limit)

    return ask(_operator(address, token_file), work)


def _operator(address: str | None, token_file: Path | None) -> Asker:
    return Asker(address, token_file, NAME, is_operator=True)


def _print(rows: Row | list[Row], columns: tuple[str, ...], output: Format) -> None:
    entries = rows if isinstance(rows, list) else [rows]
    lines = table_lines(columns, ([_cell(row[name]) for name in columns] for row in entries))
    write(rows, lines, output)


def _cell(value: object) -> object:
    """Return a value as a table has it: lists by their length, texts without what is no text."""
    if isinstance(value, list):
        return len(value)
    return printable(value) if isinstance(value, str) else value
