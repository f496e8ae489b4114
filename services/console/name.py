"""``opolyx name``: what others call you."""

from typing import Annotated

import typer

from libs.client.rooms import new_command_id
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import send
from services.console.lobby.describing import describe_player
from services.console.output import Format, FormatOption, printable, write_json, write_table

app = typer.Typer(add_completion=False)


@app.command()
def name(
    new: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The name that others are to see.")
    ] = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print your player id and the name that others see, or give yourself another.

    Exit codes: 0 printed, 1 nothing answers, or the name is none; 2 wrong usage.
    """
    request: pb.GetPlayerRequest | pb.SetDisplayNameRequest = pb.GetPlayerRequest()
    if new is not None:
        request = pb.SetDisplayNameRequest(command_id=new_command_id(), display_name=new)
    found = describe_player(send(Asker(address, token_file, player), "lobby", request))
    if output != Format.TABLE:
        write_json(found, output)
        return
    write_table(("player", "name"), [(found["player_id"], printable(found["name"] or "") or None)])
