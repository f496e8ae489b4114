"""``opolyx watch``: a match followed to its end, in words or as data."""

from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from libs.chassis.together import first_of
from libs.client.client import Client
from libs.client.table import Table
from libs.kernel.ids import MatchId
from libs.rules import events as e
from libs.scenarios.plain import describe_event
from libs.wire.readers import spec_of
from libs.wire.record import Record
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.connection import ask
from services.console.exporting import MatchArgument, check_id
from services.console.following import mind
from services.console.narrating import placing
from services.console.output import Format, json_lines
from services.console.terminal.people import People, people_of
from services.console.terminal.picture import Scene, framed
from services.console.terminal.story import Story

app = typer.Typer(add_completion=False)

FIRST: Final = 1
NEWS: Final = 16


class WatchFormat(StrEnum):
    """How a match is told: in sentences, or a JSON object for each event."""

    TABLE = "table"
    NDJSON = "ndjson"


@app.command()
def watch(  # noqa: PLR0913 - the options of the command
    match: MatchArgument,
    first: Annotated[
        int,
        typer.Option("--from", metavar="SEQ", min=1, help="The first event that is told."),
    ] = FIRST,
    *,
    board: Annotated[bool, typer.Option("--board", help="Draw the board at each turn.")] = False,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    operator: OperatorOption = False,
    output: Annotated[
        WatchFormat, typer.Option("-o", "--output", help="How to tell it.")
    ] = WatchFormat.TABLE,
) -> None:
    """Follow a match to its end, as a spectator, over whatever breaks in between.

    With -o ndjson each event is an object: sequence, at_ms, type and fields. Who was cut off goes
    on by --from, with the sequence after the last that came. Exit codes: 0 it is over, 1 nothing
    answers, 2 MATCH is no id, 3 there is no such match.
    """
    match_id = check_id(match)
    console = Console(highlight=False)
    work = partial(_watch, match_id=match_id, first=first, board=board, output=output)
    ask(Asker(address, token_file, player, operator), partial(work, console=console))


async def _watch(  # noqa: PLR0913 - what `watch` has gathered
    client: Client,
    *,
    match_id: MatchId,
    first: int,
    board: bool,
    output: WatchFormat,
    console: Console,
) -> None:
    # Where nothing answers, or there is no such match, it is said at once.
    seen = await client.match.GetMatch(pb.GetMatchRequest(match_id=match_id))
    async with client.watch(match_id) as table:
        if output == WatchFormat.NDJSON:
            await first_of(_write(table, first), mind(table.signs))
            return
        people = await people_of(client, [spec_of(seat.spec) for seat in seen.seats])
        telling = _Telling(table, people, console, first, seen.sequence if board else None)
        await first_of(telling.tell(), mind(table.signs))


async def _write(table: Table, first: int) -> None:
    async for record in table:
        for sequence, event in enumerate(record.events, start=record.first_seq):
            if sequence >= first:
                [line] = json_lines(_plain(sequence, record.at_ms, event), Format.NDJSON)
                typer.echo(line)


def _plain(sequence: int, at_ms: int, event: e.Event) -> dict[str, Any]:
    fields = describe_event(event)
    kind = fields.pop("type")
    return {"sequence": sequence, "at_ms": at_ms, "type": kind, "fields": fields}


class _Telling:
    """Tells a match in sentences, and draws it at each turn after the sequence *past*."""

    def __init__(
        self, table: Table, people: People, console: Console, first: int, past: int | None
    ) -> None:
        self._table = table
        self._people = people
        self._console = console
        self._first = first
        self._past = past
        self._story = Story(people)

    async def tell(self) -> None:
        match = self._table.match
        async for record in self._table:
            for sequence, sentence in self._story.take(record, match):
                if sequence >= self._first:
                    self._print(sentence)
            if self._is_drawn(record):
                self._print(framed(self._scene()))
        for line in placing(match, self._people.names):
            self._print(line)

    def _is_drawn(self, record: Record) -> bool:
        """Tell whether this is the time for a board: a turn that begins, in the present."""
        if self._past is None or record.last_seq < max(self._past, self._first):
            return False
        is_turn = any(isinstance(event, e.TurnStarted) for event in record.events)
        return (is_turn or record.last_seq == self._past) and not self._table.has_waiting

    def _scene(self) -> Scene:
        news = [sentence for _, sentence in self._story.last(NEWS)]
        now_ms = self._table.signs.server_ms()
        return Scene(self._table.match, e.NOBODY, self._people, news, None, now_ms)

    def _print(self, text: str | Text) -> None:
        self._console.print(text, soft_wrap=True, markup=False, highlight=False)
