"""``opolyx demo``: one match of bots, drawn live in the terminal."""

from collections import deque
from collections.abc import Sequence
from time import sleep
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.simulation.playing import BrokenPlayError, Played, Setup, run_match, set_up
from services.console.drawing import HEIGHT, WIDTH, draw, tell
from services.console.exits import FAILED, stop
from services.console.narrating import narrate
from services.console.playing import (
    DEFAULT_RULE_SET,
    DEFAULT_SEATS,
    FreshSeedOption,
    RuleSetOption,
    SeatsOption,
    check_table,
    fresh_seed,
)

app = typer.Typer(add_completion=False)

PACE_S: Final = 0.25
"""A match has some 500 commands: it lasts two minutes."""
STORY_MOST: Final = 500
"""Sentences that are kept for the picture: more lines than any terminal has."""


@app.command()
def demo(
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: SeatsOption = DEFAULT_SEATS,
    seed: FreshSeedOption = None,
    pace: Annotated[
        float | None,
        typer.Option(
            "--pace",
            metavar="SECONDS",
            min=0,
            max=60,
            help=f"The pause after each command: {PACE_S} on a terminal, else none.",
        ),
    ] = None,
) -> None:
    """Watch one match of bots. Where there is no terminal to draw in, it is told line by line.

    Exit codes: 0 the match has ended, 1 nobody reads it any more (a pipe that was closed), 2 no
    such number of seats, 3 no such rule set.
    """
    check_table(rule_set, seats)
    seed = fresh_seed() if seed is None else seed
    console = Console(highlight=False)
    setup = set_up(rule_set, seats, seed, 0, tuple(STRENGTHS))
    pause_s = (PACE_S if console.is_terminal else 0) if pace is None else pace
    try:
        if console.is_terminal and not console.is_dumb_terminal:
            played = _show(setup, console, pause_s)
        else:
            played = run_match(setup, _Telling(pause_s))
    except BrokenPlayError as error:
        stop(f"a bug of the engine or a bot: {error!r}", FAILED)
    _conclude(played, setup.strengths)
    typer.echo(f"The same again: --rule-set {rule_set} --seats {seats} --seed {seed}")


def _show(setup: Setup, console: Console, pause_s: float) -> Played:
    """Play a match on a screen of its own, and leave the last picture of it behind."""
    with Live(console=console, auto_refresh=False, screen=True) as live:
        drawing = Drawing(live, setup.strengths, pause_s)
        played = run_match(setup, drawing)
    console.print(drawing.picture)
    return played


class Drawing:
    """Watches a match and draws it after each command, as large as the terminal is by then.

    Attributes:
        picture: the last one.

    """

    def __init__(self, live: Live, names: Sequence[str], pause_s: float) -> None:
        self.picture = Text()
        self._live = live
        self._names = names
        self._pause_s = pause_s
        self._news: deque[str] = deque(maxlen=STORY_MOST)

    def __call__(self, match: Match, _: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        """Draw the match; where the board does not fit, the end of its story alone."""
        self._news.extend(sentences(match, events))
        news = list(self._news)
        width, height = self._live.console.size
        if width >= WIDTH and height >= HEIGHT:
            self.picture = draw(match, self._names, news, at_ms, height)
        else:
            self.picture = Text("\n").join(tell(news, height, width))
        self._live.update(self.picture, refresh=True)
        sleep(self._pause_s)


class _Telling:
    """Watches a match and tells what happens, a line for each event."""

    def __init__(self, pause_s: float) -> None:
        self._pause_s = pause_s

    def __call__(self, match: Match, _: c.Command, __: int, events: Sequence[e.Event]) -> None:
        for sentence in sentences(match, events):
            typer.echo(sentence)
        sleep(self._pause_s)


def sentences(match: Match, events: Sequence[e.Event]) -> list[str]:
    """Return what is to be told about *events*."""
    told = (narrate(event, match.board) for event in events)
    return [sentence for sentence in told if sentence is not None]


def _conclude(played: Played, names: Sequence[str]) -> None:
    """Tell who was placed where."""
    match = played.match
    typer.echo("")
    typer.echo(f"The match took {played.commands} commands and {match.sequence} events.")
    for place, seat in enumerate(match.placing, start=1):
        how = "out" if match.out[seat] else f"net worth {match.net_worth(seat):,}"
        won = ", won" if seat in match.winners else ""
        typer.echo(f"{place}. seat {seat} ({names[seat]}), {how}{won}")
