"""``opolyx simulate``: many matches of bots on the pure engine, in numbers."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from libs.bots.strengths import STRENGTHS
from libs.simulation.invariants import BrokenInvariantError
from libs.simulation.playing import BrokenPlayError
from libs.simulation.simulating import Order, Outcome
from libs.simulation.simulating import simulate as play_all
from services.console.exits import FAILED, NOT_FOUND, stop
from services.console.output import Format, FormatOption, write_json, write_table
from services.console.playing import (
    DEFAULT_RULE_SET,
    DEFAULT_SEATS,
    RuleSetOption,
    SeatsOption,
    SeedOption,
    check_table,
)
from services.console.progress import Advance, progress

app = typer.Typer(add_completion=False)


def _folder(name: str) -> Path:
    """Read the name of a folder; an empty one would be the folder that one stands in."""
    if not name:
        raise typer.BadParameter("the name of the folder is empty")
    return Path(name)


KeepOption = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="DIR",
        parser=_folder,
        help="Write an export of each match and the public key into this new or empty folder; "
        "the measured speed falls a little.",
    ),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Hold every event to all invariants; slow, and the measured speed falls a little.",
    ),
]


@app.command()
def simulate(  # noqa: PLR0913 - a command has as many parameters as options
    *,
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: SeatsOption = DEFAULT_SEATS,
    matches: Annotated[
        int, typer.Option("--matches", metavar="M", min=1, help="How many matches.")
    ] = 100,
    seed: SeedOption = 1,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="J", min=1, help="How many processes.")
    ] = 1,
    bots: Annotated[
        str, typer.Option("--bots", help="Strengths, with commas between; they go round the table.")
    ] = "steady",
    keep: KeepOption = None,
    check: CheckOption = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Play many matches of bots, with nothing between them and the rules.

    The same seed gives the same final hash, and the same exports, for any number of jobs.

    Exit codes: 0 all matches ended, 1 one did not, or DIR is not empty (then none is played) or
    cannot be written to, 2 no such number of seats, 3 no such rule set or strength.
    """
    check_table(rule_set, seats)
    order = Order(
        rule_set=rule_set,
        seats=seats,
        matches=matches,
        seed=seed,
        strengths=_strengths(bots),
        keep=keep,
        check=check,
    )
    outcome = _play(order, jobs)
    if output != Format.TABLE:
        write_json(asdict(outcome), output)
    else:
        write_table(("what", "value"), asdict(outcome).items())


def _strengths(bots: str) -> tuple[str, ...]:
    strengths = tuple(bots.split(","))
    for strength in strengths:
        if strength not in STRENGTHS:
            known = ", ".join(STRENGTHS)
            stop(f"no bot is called {strength}; known are {known}", NOT_FOUND)
    return strengths


def _play(order: Order, jobs: int) -> Outcome:
    try:
        with progress("matches") as show:
            return play_all(order, jobs, _counting(order.matches, show))
    except (BrokenPlayError, BrokenInvariantError) as error:
        stop(f"a bug of the engine or a bot: {error!r}", FAILED)
    except OSError as error:
        stop(f"{error.filename or order.keep}: {error.strerror}", FAILED)


def _counting(total: int, show: Advance) -> Callable[[int], None]:
    """Return what is told of each few matches that are over."""
    done = 0

    def count(matches: int) -> None:
        nonlocal done
        done += matches
        show(done, total)

    return count
