"""Commands of the lobby: sent as somebody, and what came of them printed."""

from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from libs.client.rooms import new_command_id
from libs.kernel.ids import is_uuid
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import send
from services.console.exits import USAGE, stop
from services.console.lobby.describing import Plain, describe_room, room_lines
from services.console.output import Format, FormatOption, write

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


_CODES: Final = (
    "Exit codes: 0 done, 1 nothing answers or it is refused, 2 wrong usage, 3 there is no such "
    "room."
)


def of_room(name: str, kind: Callable[..., Any], what: str) -> Callable[..., None]:
    """Return the command *name* that does *what* in a room, by a request of this kind."""

    def act(
        room: RoomArgument,
        player: PlayerOption = PLAYER,
        token_file: TokenFileOption = None,
        address: AddressOption = None,
        output: FormatOption = Format.TABLE,
    ) -> None:
        change(kind(**on_room(room)), Asker(address, token_file, player), output)

    return _described(act, name, what)


def of_seat(name: str, kind: Callable[..., Any], what: str) -> Callable[..., None]:
    """Return the command *name* that does *what* to a seat, by a request of this kind."""

    def act(  # noqa: PLR0913, PLR0917 - its options
        room: RoomArgument,
        seat: SeatArgument,
        player: PlayerOption = PLAYER,
        token_file: TokenFileOption = None,
        address: AddressOption = None,
        output: FormatOption = Format.TABLE,
    ) -> None:
        change(kind(**on_room(room), seat=seat), Asker(address, token_file, player), output)

    return _described(act, name, what)


def _described(act: Callable[..., None], name: str, what: str) -> Callable[..., None]:
    act.__name__ = name
    act.__doc__ = f"""{what}

    {_CODES}
    """
    return act


def on_room(room: str) -> dict[str, Any]:
    """Return the fields of a command that is given in a room, under an id of its own."""
    return {"room_id": check_room(room), "command_id": new_command_id()}


def check_room(room: str) -> str:
    """Return the id of a room, or end the command."""
    if not is_uuid(room):
        stop(f"{room}: a room is named by a UUID, 36 lower-case characters", USAGE)
    return room


def change(request: Any, asker: Asker, output: Format) -> None:
    """Have a room changed, and print it as it is then."""
    write_room(describe_room(send(asker, "lobby", request)), output)


def write_room(room: Plain, output: Format) -> None:
    """Print a room."""
    write(room, room_lines(room), output)
