"""``opolyx serve``: the whole system in one process, or one service of it."""

import os
import sys
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer

from libs.chassis import process
from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.observing import telemetry_of
from libs.chassis.settings import SettingsError
from libs.kernel.clock import Clock
from libs.kernel.ids import fresh_id
from libs.telemetry import logs
from services.console.exits import FAILED, NOT_FOUND, USAGE, stop
from services.console.fleet import ALL, SERVICES, assemble, load_settings
from services.console.playing import DEFAULT_RULE_SET

app = typer.Typer(add_completion=False)

GREETING: Final = """
opolyx is up: gRPC, with reflection and health, at {address}; its data is in {folder}
Ctrl+C stops it, and whatever was acknowledged is kept. In another terminal:

  cd {here}
  {bin}opolyx demo                  # a match that plays itself, in a system of its own
{lines}
  {bin}buf curl --protocol grpc --http2-prior-knowledge \\
    -H "authorization: Bearer {bearer}" \\
    -d '{{"ruleSet": "{rule_set}", "seatCount": 2, "commandId": "{command_id}"}}' \\
    http://{address}/opolyx.lobby.v1.LobbyService/CreateRoom
"""
_AS_ADA: Final = """\
  {told}{bin}opolyx play --bot steady     # one that you play, as ada
  {told}{bin}opolyx token --player ada    # who ada is, for development
"""


@app.command()
def serve(
    service: Annotated[
        str, typer.Argument(metavar="all|SERVICE", help=f"One of {', '.join(SERVICES)}, or all.")
    ],
) -> None:
    """Run every service in this process, or one of them alone, until a signal says stop.

    Settings come from the environment: see `opolyx config show`. Logs go to stderr. Exit codes: 0
    stopped, 1 a service failed or could not start, 2 a setting is wrong, 3 no such service.
    """
    if service not in (ALL, *SERVICES):
        stop(f"no service is called {service}; there are {', '.join(SERVICES)}, and all", NOT_FOUND)
    names = SERVICES if service == ALL else (service,)
    try:
        settings = load_settings(names, os.environ)
        shared = settings[names[-1]]
        logs.configure(level=shared.telemetry.log_level, style=shared.telemetry.log_style)
        foundation = Foundation(shared)
        services = assemble(names, settings, foundation)
    except SettingsError as error:
        stop(str(error), USAGE)
    services.insert(0, telemetry_of(shared.telemetry, service=service, version=foundation.version))
    greet = partial(_greet, shared, foundation.clock) if service == ALL else None
    code = process.run(services, grace_s=shared.shutdown_grace_s, ready=greet)
    raise typer.Exit(FAILED if code else 0)


def greeting(settings: NodeSettings, command_id: str) -> str:
    """Return where the system is and how to talk to it, in lines that can be pasted as they are."""
    folder = _bin_folder()
    told = "".join(f"{name}={quote(value)} " for name, value in _own_settings(settings).items())
    is_development = settings.auth.mode == "dev"
    return GREETING.format(
        address=settings.peers.gateway,
        folder=settings.data_folder,
        here=quote(str(Path.cwd())),
        bin=folder,
        lines=_AS_ADA.format(told=told, bin=folder) if is_development else "",
        # Where tokens are a provider's, nobody gets in by one of ours.
        bearer=f"$({told}{folder}opolyx token --player ada)" if is_development else "$TOKEN",
        rule_set=DEFAULT_RULE_SET,
        command_id=command_id,
    )


def _greet(settings: NodeSettings, clock: Clock) -> None:
    typer.echo(greeting(settings, fresh_id(clock.now_ms())))
    sys.stdout.flush()


def _own_settings(settings: NodeSettings) -> dict[str, str]:
    """Return what another terminal must be told to get in here: variables, and their values."""
    usual, auth = NodeSettings(), settings.auth
    told = {
        "OPOLYX_DATA_FOLDER": (settings.data_folder, usual.data_folder),
        "OPOLYX_PEERS__GATEWAY": (settings.peers.gateway, usual.peers.gateway),
        "OPOLYX_AUTH__ISSUER": (auth.issuer, usual.auth.issuer),
        "OPOLYX_AUTH__AUDIENCE": (auth.audience, usual.auth.audience),
        "OPOLYX_AUTH__TOKEN_TYPE": (auth.token_type, usual.auth.token_type),
    }
    return {
        name: str(value.resolve() if isinstance(value, Path) else value)
        for name, (value, default) in told.items()
        if value != default
    }


def _bin_folder() -> str:
    """Return what stands before the name of a command that was installed with this one."""
    folder = Path(sys.executable).parent
    is_below = folder.is_relative_to(Path.cwd())
    return quote(f"{folder.relative_to(Path.cwd()) if is_below else folder}/")
