"""Commands of the lobby: sent as somebody, and what came of them printed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from libs.client.client import Client
from libs.client.rooms import new_command_id
from libs.kernel.ids import is_uuid
from services.console.asking import Asker
from services.console.connection import ask
from services.console.exits import USAGE, stop
from services.console.lobby.describing import Plain, describe_room, room_lines
from services.console.output import Format, write_json

T = TypeVar("T")

RoomArgument = Annotated[str, typer.Argument(metavar="ROOM", help="The id of a room.")]
SeatArgument = Annotated[
    int, typer.Argument(metavar="SEAT", min=0, help="The number of a seat, from 0.")
]
SeatOption = Annotated[
    int | None,
    typer.Option(
        "--seat",
        metavar="SEAT",
        min=0,
        help="Which empty seat; the first one by default.",
        show_default=False,
    ),
]


class Caller(NamedTuple):
    """Who asks, and where: what the options of a command say."""

    player: str
    token_file: Path | None
    address: str | None

    def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Do *work* as this person; see `connection.ask`."""
        return ask(Asker(self.address, self.token_file, self.player), work)

    def call(self, request: Any) -> Any:
        """Send a request to the lobby, by the method that its name says, and return the reply."""
        method = request.DESCRIPTOR.name.removesuffix("Request")

        async def work(client: Client) -> Any:
            # Not again and again: where nothing answers, somebody waits to hear it.
            return await getattr(client.lobby, method)(request)

        return self.ask(work)


def on_room(room: str) -> dict[str, Any]:
    """Return the fields of a command that is given in a room, under an id of its own."""
    return {"room_id": check_room(room), "command_id": new_command_id()}


def check_room(room: str) -> str:
    """Return the id of a room, or end the command."""
    if not is_uuid(room):
        stop(f"{room}: a room is named by a UUID, 36 lower-case characters", USAGE)
    return room


def change(request: Any, caller: Caller, output: Format) -> None:
    """Have a room changed, and print it as it is then."""
    write_room(describe_room(caller.call(request)), output)


def write_room(room: Plain, output: Format) -> None:
    """Print a room."""
    if output != Format.TABLE:
        write_json(room, output)
        return
    for line in room_lines(room):
        typer.echo(line)
