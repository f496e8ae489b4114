"""A match as one of its seats sees it: a ring with everything inside it, or lines where none fits.

The ring takes 77 columns and 22 lines; with what is typed below it, it fits a terminal of 24.
"""

import textwrap
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.text import Text

from libs.rules.match import Match
from services.console.drawing import INSIDE, ROOM, heading, ring, seat_lines, tell
from services.console.terminal.options import Option, numbered
from services.console.terminal.people import People
from services.console.terminal.situation import details, pending

NEWS_LEAST: Final = 2
"""Lines that the news have at least, however much there is to choose from."""
COLUMNS: Final = 2
GAP: Final = 1
ALL_OF_THEM: Final = "`list` shows all"


class Scene(NamedTuple):
    """What there is to draw.

    Attributes:
        match: as it is. seat: of whom looks; `NOBODY` for a spectator.
        people: who sits where.
        news: sentences, the latest last.
        options: what the seat may do, None where it is not asked.
        now_ms: the server's time.

    """

    match: Match
    seat: int
    people: People
    news: Sequence[str]
    options: Sequence[Option] | None
    now_ms: int


def framed(scene: Scene) -> Text:
    """Return the board with all else inside it."""
    top = _top(scene)
    told = [Text(line, "italic") for line in _details(scene, INSIDE)]
    space = ROOM - len(top) - 1
    told = told[: space - NEWS_LEAST]
    choices = _in_columns(scene.options or (), space - len(told) - NEWS_LEAST - 1)
    news = tell(scene.news, space - len(told) - len(choices) - 1)
    blank = [Text()] * (space - len(told) - len(choices) - len(news))
    return Text("\n").join(ring(scene.match, [*top, Text(), *news, *blank, *told, *choices]))


def listed(scene: Scene, width: int) -> Text:
    """Return the same without a board, in lines of at most *width* columns."""
    lines = [
        *_top(scene),
        *map(Text, _details(scene, width)),
        *(Text(line) for line in numbered(scene.options or (), width)),
    ]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def _top(scene: Scene) -> list[Text]:
    """Return what stands above all else: the match, what it waits for, and its seats."""
    match, people = scene.match, scene.people
    return [
        Text(heading(match), "dim"),
        Text(pending(match, scene.seat, people, scene.now_ms), "bold"),
        *seat_lines(match, people.names),
    ]


def _details(scene: Scene, width: int) -> list[str]:
    told = details(scene.match, scene.seat, scene.people)
    return [line for text in told for line in textwrap.wrap(text, width, subsequent_indent="  ")]


def _in_columns(options: Sequence[Option], rows: int) -> list[Text]:
    """Return the list in columns, as much of it as fits, and a word about the rest."""
    width = (INSIDE - GAP * (COLUMNS - 1)) // COLUMNS
    lines = numbered(options, width)
    if len(lines) > rows * COLUMNS:
        hidden = len(lines) - rows * COLUMNS + 1
        lines = [*lines[: rows * COLUMNS - 1], f"    {hidden} more: {ALL_OF_THEM}"]
    height = -(-len(lines) // COLUMNS)
    columns = [lines[n : n + height] for n in range(0, len(lines), height)] if height else []
    return [
        Text(
            (" " * GAP).join(
                f"{column[row] if row < len(column) else '':<{width}}" for column in columns
            )
        )
        for row in range(height)
    ]
