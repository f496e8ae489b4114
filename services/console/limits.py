"""``opolyx limits``: what a gateway allows, and what it answers beyond that."""

import typer

from opolyx.gateway.v1 import gateway_service_pb2 as pb
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import send
from services.console.output import Format, FormatOption, write_rows

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
    asker = Asker(address, token_file, player)
    info: pb.ServerInfo = send(asker, "gateway", pb.GetServerInfoRequest())
    rows = [
        (each.name, _number(each.value), each.unit, each.scope, each.reason, each.description)
        for each in info.limits
    ]
    write_rows(HEADER, rows, output)


def _number(value: float) -> float:
    return int(value) if value.is_integer() else value
