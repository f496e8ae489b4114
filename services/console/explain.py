"""``opolyx explain``: why something happened in a match, by which rules, with their numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules.explain import explain as explain_event
from libs.scenarios.plain import describe_event
from libs.wire.record import Record
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.exits import FAILED, USAGE, stop
from services.console.exports import check_sequence, read_records
from services.console.folding import fold
from services.console.output import (
    Format,
    FormatOption,
    printable,
    spell_plain,
    write_json,
    write_table,
)
from services.console.recorded import SourceArgument, is_match

app = typer.Typer(add_completion=False)


class Explained(NamedTuple):
    """An event of a match, the ids of the rules that it rests on, and what they did, in words."""

    match_id: str
    sequence: int
    event: e.Event
    rules: Sequence[str]
    text: str


@app.command()
def explain(  # noqa: PLR0913 - the options of the command
    source: SourceArgument,
    sequence: Annotated[int, typer.Argument(metavar="SEQ", min=1, help="Which event.")],
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    *,
    operator: OperatorOption = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print an event of a match: what happened, by which rules, with every number in it.

    A running system is asked; of a file it is found out here. Exit codes: 0 printed, 1 nothing
    answers where the match should be, 2 the file is no export, an event does not fit, or the match
    has no such sequence, 3 there is no such file or match.
    """
    if is_match(source):
        explained = _ask(
            MatchId(str(source)), sequence, Asker(address, token_file, player, operator)
        )
    else:
        explained = explain_at(source, read_records(source), sequence)
    described = describe_event(explained.event)
    if output == Format.TABLE:
        _print(explained, described)
        return
    fields = {**explained._asdict(), "event": described, "rules": list(explained.rules)}
    write_json(fields, output)


def explain_at(source: Path, records: Sequence[Record], sequence: int) -> Explained:
    """Explain an event of a match whose records are at hand, or end the command.

    *source* is what they were read from.
    """
    at = check_sequence(records, sequence, "SEQ")
    record = next(record for record in records if record.last_seq >= at)
    fold(source, records, at)  # which sees to it that the event fits
    before, _ = fold(source, records, at - 1)
    event = record.events[at - record.first_seq]
    explanation = explain_event(before, event)
    return Explained(record.match_id, at, event, explanation.rules, explanation.text)


def _ask(match_id: MatchId, sequence: int, asker: Asker) -> Explained:
    # Here and not above: who explains a file does not wait for what speaks gRPC.
    import grpc  # noqa: PLC0415

    from libs.client.client import Client  # noqa: PLC0415
    from libs.wire.events import NewerSchemaError, read_events  # noqa: PLC0415
    from opolyx.match.v1 import match_service_pb2 as pb  # noqa: PLC0415
    from services.console.connection import ask, reason_of  # noqa: PLC0415

    async def work(client: Client) -> pb.ExplainResponse | None:
        request = pb.ExplainRequest(match_id=match_id, sequence=sequence)
        try:
            response: pb.ExplainResponse = await client.match.Explain(request)
        except grpc.aio.AioRpcError as error:
            if reason_of(error) != Reason.STALE_SEQUENCE:
                raise
            return None
        return response

    response = ask(asker, work)
    if response is None:
        stop(f"SEQ {sequence}: the match has not got so far", USAGE)
    try:
        (event,) = read_events([response.event.SerializeToString()])
    except NewerSchemaError as error:
        stop(f"event {sequence}: {error}: the system is newer than this command", FAILED)
    return Explained(match_id, sequence, event, tuple(response.rules), response.text)


def _print(explained: Explained, described: dict[str, Any]) -> None:
    kind = described.pop("type")
    typer.echo(f"match {explained.match_id}, event {explained.sequence}: {kind}")
    typer.echo(printable(explained.text))
    typer.echo("")
    rows = [("rules", ", ".join(explained.rules))]
    rows += [(name, spell_plain(value)) for name, value in described.items()]
    write_table(("what", "value"), rows)
