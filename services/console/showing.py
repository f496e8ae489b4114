"""A match while it is played: drawn on a screen of its own, told line by line, or neither."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from libs.rules import events as e
from libs.rules.match import Match
from services.console.drawing import HEIGHT, WIDTH, draw, tell
from services.console.narrating import narrate

STORY_MOST: Final = 500
"""Sentences that are kept for the picture: more lines than any terminal has."""


Show = Callable[[Match, Sequence[str], int, Sequence[e.Event]], None]
"""Sees each record of a match: the match after it, its seats' names, its time, its events."""


@contextmanager
def shown(console: Console, *, is_drawn: bool, is_told: bool) -> Iterator[Show]:
    """Yield what shows a match; a picture has a screen of its own, and its last one stays."""
    if not is_drawn:
        yield telling if is_told else silence
        return
    with Live(console=console, auto_refresh=False, screen=True) as live:
        drawing = Drawing(live)
        yield drawing
    console.print(drawing.picture)


class Drawing:
    """Draws a match after each command, as large as the terminal is by then.

    Attributes:
        picture: the last one.

    """

    def __init__(self, live: Live) -> None:
        self.picture = Text()
        self._live = live
        self._news: deque[str] = deque(maxlen=STORY_MOST)

    def __call__(
        self, match: Match, names: Sequence[str], at_ms: int, events: Sequence[e.Event]
    ) -> None:
        """Draw the match; where the board does not fit, the end of its story alone."""
        self._news.extend(sentences(match, events))
        news = list(self._news)
        width, height = self._live.console.size
        if width >= WIDTH and height >= HEIGHT:
            self.picture = draw(match, names, news, at_ms, height)
        else:
            self.picture = Text("\n").join(tell(news, height, width))
        self._live.update(self.picture, refresh=True)


def telling(match: Match, _: Sequence[str], __: int, events: Sequence[e.Event]) -> None:
    """Tell what happens, a line for each event."""
    for sentence in sentences(match, events):
        typer.echo(sentence)


def silence(_: Match, __: Sequence[str], ___: int, ____: Sequence[e.Event]) -> None:
    """Show nothing."""


def sentences(match: Match, events: Sequence[e.Event]) -> list[str]:
    """Return what is to be told about *events*."""
    told = (narrate(event, match.board) for event in events)
    return [sentence for sentence in told if sentence is not None]
