"""Options that commands playing matches of bots share."""

from time import time_ns  # noqa: TID251 - for `fresh_seed` alone
from typing import Annotated, Final

import typer

from libs.bots.strengths import STRENGTHS
from libs.rules.rule_sets import CLASSIC_2, RULE_SETS
from services.console.exits import NOT_FOUND, USAGE, stop

DEFAULT_RULE_SET = CLASSIC_2.rule_set_id
DEFAULT_SEATS = 4
NS_PER_MS: Final = 1_000_000

RuleSetOption = Annotated[str, typer.Option("--rule-set", metavar="ID", help="Which rules.")]
SeatsOption = Annotated[int, typer.Option("--seats", metavar="N", help="How many seats.")]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="S", help="Everything follows from it, dice included.")
]

FreshSeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="S",
        help="Everything follows from it, dice included. Without one, another match each time; "
        "its seed is told.",
        show_default=False,
    ),
]
_SEEDS: Final = 1_000_000
"""Fresh seeds are below this, so that one can be typed."""


def fresh_seed() -> int:
    """Return a seed for a match that nobody asked for in particular."""
    # A match of bots for a pastime: the clock is chance enough, and what it gave is told.
    return time_ns() // NS_PER_MS % _SEEDS


def check_rule_set(rule_set_id: str) -> None:
    """End the command unless there are such rules."""
    if rule_set_id not in RULE_SETS:
        known = ", ".join(RULE_SETS)
        stop(f"no rule set is called {rule_set_id}; known are {known}", NOT_FOUND)


def check_strength(strength: str) -> None:
    """End the command unless there is such a bot."""
    if strength not in STRENGTHS:
        stop(f"no bot is called {strength}; there are {', '.join(STRENGTHS)}", USAGE)


def check_table(rule_set_id: str, seats: int) -> None:
    """End the command unless there are such rules, for so many seats."""
    check_rule_set(rule_set_id)
    allowed_seats = RULE_SETS[rule_set_id].seats
    if seats not in allowed_seats:
        allowed = ", ".join(map(str, allowed_seats))
        stop(f"{rule_set_id} is for {allowed} seats, not {seats}", USAGE)
