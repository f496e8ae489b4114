"""Commands about invitations: whoever has the code of one may enter the room."""

# ruff: noqa: PLR0913, PLR0917 - each command says who asks, where, and how it is printed

import re
from typing import Annotated, Final

import typer
from google.protobuf.duration_pb2 import Duration

from libs.client.rooms import new_command_id
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import send
from services.console.exits import USAGE, stop
from services.console.lobby.calling import RoomArgument, change, on_room
from services.console.lobby.describing import describe_invite, moment
from services.console.output import Format, FormatOption, write_json, write_table

TTL: Final = "1h"
S_BY_UNIT: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN: Final = re.compile(r"([0-9]{1,9})([smhd])")


def invite(
    room: RoomArgument,
    ttl: Annotated[
        str,
        typer.Option(
            "--ttl", metavar="TIME", help="For how long it is of use, such as 90s, 30m, 1h or 7d."
        ),
    ] = TTL,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Make an invitation to a room that you sit in, and print its code, for any number of people.

    Exit codes: 0 done, 1 nothing answers or it is refused, 2 wrong usage, 3 there is no such room.
    """
    request = pb.CreateInviteRequest(**on_room(room), ttl=span(ttl))
    made = describe_invite(send(Asker(address, token_file, player), "lobby", request))
    if output != Format.TABLE:
        write_json(made, output)
        return
    row = (made["code"], made["room_id"], moment(made["expire_ms"]))
    write_table(("code", "room", "of use until (UTC)"), [row])
    hint = f"opolyx play --invite {made['code']} --player NAME"
    typer.echo(f"Others join by: {hint}", err=True)


def accept(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The code of an invitation.")],
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Take an invitation: you may see and join the room from now on, and watch its match.

    It seats nobody; `rooms join` does. Exit codes: 0 done, 1 nothing answers or it is refused, 2
    wrong usage, 3 there is no such invitation, or it is of no use any more.
    """
    request = pb.AcceptInviteRequest(code=code, command_id=new_command_id())
    change(request, Asker(address, token_file, player), output)


def span(text: str) -> Duration:
    """Return how long `1h` or the like is, or end the command."""
    found = _SPAN.fullmatch(text)
    if found is None:
        stop(f"{text}: a time is a number with s, m, h or d, such as 1h", USAGE)
    return Duration(seconds=int(found[1]) * S_BY_UNIT[found[2]])
