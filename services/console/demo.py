"""``opolyx demo``: one match through every service, drawn live, then rebuilt and checked."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import grpc
import typer
from rich.console import Console

from libs.chassis.status import RefusedError
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.client.stream import StreamBrokenError
from libs.simulation.keeping import write_whole
from libs.telemetry import logs
from libs.wire.chain import BrokenChainError
from services.console.exits import FAILED, MISMATCH, stop
from services.console.narrating import placing
from services.console.output import Format, FormatOption, write_json
from services.console.playing import (
    DEFAULT_RULE_SET,
    DEFAULT_SEATS,
    FreshSeedOption,
    RuleSetOption,
    SeatsOption,
    check_table,
    fresh_seed,
)
from services.console.showing import Show, shown
from services.console.staging import Stage, SystemStoppedError, on_stage
from services.console.trial import Trial, Verdict

app = typer.Typer(add_completion=False)

PACE_S: Final = 0.25
"""A match has some 500 commands: it lasts two minutes."""

PaceOption = Annotated[
    float | None,
    typer.Option(
        "--pace",
        metavar="SECONDS",
        min=0,
        max=60,
        help=f"The pause before each move: {PACE_S} on a terminal, else none.",
    ),
]
KeepOption = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="FILE",
        help="Leave the export of the match behind, and the public key as FILE.key.",
        show_default=False,
    ),
]

_FAULTS: Final = (
    grpc.aio.AioRpcError,
    RefusedError,
    BrokenChainError,
    StreamBrokenError,
    ConnectionLostError,
    SystemStoppedError,
    TimeoutError,
)
"""What a system that does not do as it should may end the demonstration with."""


@app.command()
def demo(  # noqa: PLR0913, PLR0917 - the options of the command
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: SeatsOption = DEFAULT_SEATS,
    seed: FreshSeedOption = None,
    pace: PaceOption = None,
    keep: KeepOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Play one match through every service, on a fresh store, and check it when it is over.

    Seat 0 is a person's, played by this command; the others are bots. Where there is no terminal to
    draw in, it is told line by line. Exit codes: 0 the match has ended and all checks hold, 1 the
    system failed, or the output has nowhere to go, 2 no such number of seats, 3 no such rule set,
    6 a check does not hold.
    """
    check_table(rule_set, seats)
    if keep is not None and not keep.parent.is_dir():
        stop(f"{keep.parent}: there is no such folder", FAILED)  # said before the match, not after
    seed = fresh_seed() if seed is None else seed
    console = Console(highlight=False)
    is_drawn = console.is_terminal and not console.is_dumb_terminal and output == Format.TABLE
    pace_s = (PACE_S if is_drawn else 0) if pace is None else pace
    trial = Trial(rule_set, seats, seed, pace_s)
    logs.configure(level="error")
    with shown(console, is_drawn=is_drawn, is_told=output == Format.TABLE) as show:
        try:
            verdict = asyncio.run(_run(trial, show))
        except _FAULTS as fault:
            cause = fault.__cause__ or fault
            stop(f"{type(cause).__name__}: {cause}", FAILED)
    if keep is not None:
        _keep(keep, verdict)
    if output != Format.TABLE:
        write_json(verdict.report(), output)
    else:
        _conclude(verdict)
    if not verdict.is_well:
        raise typer.Exit(MISMATCH)


async def _run(trial: Trial, show: Show) -> Verdict:
    async def play(stage: Stage) -> Verdict:
        token = stage.foundation.issuer.issue("demo")
        async with Client.connect(stage.gateway, lambda: token) as client:
            return await trial.run(client, show)

    return await on_stage(round(trial.pace_s * 1000), play)


def _keep(path: Path, verdict: Verdict) -> None:
    try:
        write_whole(path, verdict.export)
        write_whole(path.with_name(path.name + ".key"), verdict.key_file)
    except OSError as error:
        stop(f"{error.filename}: {error.strerror}", FAILED)


def _conclude(verdict: Verdict) -> None:
    """Tell who was placed where, and what the checks came to."""
    match = verdict.match
    typer.echo("")
    took = f"{match.round} rounds, {verdict.records} records, {match.sequence} events"
    typer.echo(f"The match took {took}.")
    names = [f"seat {seat} ({name})" for seat, name in enumerate(verdict.names)]
    for line in placing(match, names):
        typer.echo(line)
    typer.echo(f"Seat 0 earned {verdict.experience} experience.")
    for holds, what in verdict.checks():
        typer.echo(f"{'ok ' if holds else 'NOT'} {what}")
