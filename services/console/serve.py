"""``opolyx serve``: the whole system in one process, or one service of it."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from libs.chassis import process
from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.observing import telemetry_of
from libs.chassis.process import Service
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
Ctrl+C stops it, and whatever was acknowledged is kept. In another terminal, with the same settings:

  {bin}opolyx demo       # one match, through services of its own
{token}
  {bin}buf curl --protocol grpc --http2-prior-knowledge \\
    -H "authorization: Bearer {bearer}" \\
    -d '{{"ruleSet": "{rule_set}", "seatCount": 2, "commandId": "{command_id}"}}' \\
    http://{address}/opolyx.lobby.v1.LobbyService/CreateRoom
"""
_WHO_YOU_ARE: Final = "  {bin}opolyx token --player ada       # who you are, for development\n"


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
    if service == ALL:
        greet = partial(_greeted, shared, foundation.clock)
        services.append(Service("greeting", greet))
    raise typer.Exit(FAILED if process.run(services, grace_s=shared.shutdown_grace_s) else 0)


def greeting(settings: NodeSettings, command_id: str) -> str:
    """Return where the system is and how to talk to it, in lines that can be pasted."""
    folder = _bin_folder()
    is_development = settings.auth.mode == "dev"
    return GREETING.format(
        address=settings.peers.gateway,
        folder=settings.data_folder,
        bin=folder,
        token=_WHO_YOU_ARE.format(bin=folder) if is_development else "",
        # Where tokens are a provider's, nobody gets in by one of ours.
        bearer=f"$({folder}opolyx token --player ada)" if is_development else "$TOKEN",
        rule_set=DEFAULT_RULE_SET,
        command_id=command_id,
    )


@asynccontextmanager
async def _greeted(settings: NodeSettings, clock: Clock) -> AsyncIterator[None]:
    """Greet, once all of the system is there."""
    typer.echo(greeting(settings, fresh_id(clock.now_ms())))
    sys.stdout.flush()
    yield


def _bin_folder() -> str:
    """Return what stands before the name of a command that was installed with this one."""
    folder = Path(sys.executable).parent
    is_below = folder.is_relative_to(Path.cwd())
    return f"{folder.relative_to(Path.cwd()) if is_below else folder}/"
