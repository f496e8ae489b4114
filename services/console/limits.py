"""``opolyx limits``: what a gateway allows, and what it answers beyond that."""

import typer

from libs.client.client import Client
from opolyx.gateway.v1 import gateway_service_pb2 as pb
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask
from services.console.output import Format, FormatOption, write_json, write_table

HEADER = ("name", "value", "unit", "scope", "reason", "description")

app = typer.Typer(add_completion=False)


@app.command()
def limits(
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print every limit of a running system: how much, for whom, and the reason beyond it.

    Exit codes: 0 printed, 1 nothing answers, 2 a setting is wrong.
    """
    info = ask(Asker(address, token_file, player), _info)
    rows = [
        (each.name, _number(each.value), each.unit, each.scope, each.reason, each.description)
        for each in info.limits
    ]
    if output == Format.TABLE:
        write_table(HEADER, rows)
    else:
        write_json([dict(zip(HEADER, row, strict=True)) for row in rows], output)


async def _info(client: Client) -> pb.ServerInfo:
    return await client.gateway.GetServerInfo(pb.GetServerInfoRequest())


def _number(value: float) -> float:
    return int(value) if value.is_integer() else value
