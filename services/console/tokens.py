"""``opolyx token``: who somebody is, for development."""

import os
from typing import Annotated

import typer

from libs.chassis.foundation import NodeSettings
from libs.chassis.issuing import PERSON_TOKEN_MS
from libs.chassis.roles import OPERATOR, SPECTATOR
from libs.chassis.settings import SettingsError, load
from libs.telemetry import logs
from services.console.development import development_issuer
from services.console.exits import USAGE, stop
from services.console.output import Format, FormatOption, write_json

app = typer.Typer(add_completion=False)

MS_PER_S = 1000


@app.command()
def token(
    player: Annotated[str, typer.Option("--player", metavar="NAME", help="Whose token it is.")],
    *,
    operator: Annotated[
        bool, typer.Option("--operator", help="One who may intervene in matches.")
    ] = False,
    spectator: Annotated[
        bool, typer.Option("--spectator", help="One who may watch, and nothing else.")
    ] = False,
    ttl_s: Annotated[
        int, typer.Option("--ttl", metavar="SECONDS", min=1, help="How long it is good.")
    ] = PERSON_TOKEN_MS // MS_PER_S,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print a token by the development key of the data folder, which is made if need be.

    A system of the same data folder accepts it, while it is set to development tokens; that a key
    was made is said on stderr. Exit codes: 0 printed, 2 the key cannot be read, or a setting is
    wrong.
    """
    if operator and spectator:
        stop("a spectator may do nothing else: give --operator or --spectator", USAGE)
    logs.configure(level="warning")
    roles = [role for role, wanted in ((OPERATOR, operator), (SPECTATOR, spectator)) if wanted]
    try:
        settings = load(NodeSettings, os.environ)
        if settings.auth.mode != "dev":
            stop("OPOLYX_AUTH__MODE: tokens are issued by the identity provider", USAGE)
        issuer = development_issuer(settings)
    except SettingsError as error:
        stop(str(error), USAGE)
    issued = issuer.issue(player, roles=roles, ttl_ms=ttl_s * MS_PER_S)
    if output == Format.TABLE:
        typer.echo(issued)  # alone, so that a shell can pass it on
    else:
        described = {"player": player, "roles": roles, "ttl_s": ttl_s, "token": issued}
        write_json(described, output)
