"""A match as a picture for the terminal: the board as a ring, and in it the seats and the news.

It takes 77 columns and 22 lines, or more lines for a longer story, and uses plain characters only,
so that it can be read without colours: a square shows its number, its owner and its level, and the
seats whose tokens are on it.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.text import Text

from libs.rules.clocks import next_deadline
from libs.rules.events import NOBODY
from libs.rules.match import Match
from libs.rules.state import THIRD_FACES, seconds
from services.console.naming import name_seats

SIDE: Final = 10
"""Squares from one corner of the board to the next."""
CELL: Final = 7
WIDTH: Final = (SIDE + 1) * CELL
HEIGHT: Final = (SIDE + 1) * 2
INSIDE: Final = WIDTH - 2 * CELL - 2
ROOM: Final = HEIGHT - 4
"""Lines inside the ring, each of `INSIDE` columns."""
NAME: Final = 12
"""Columns of a player's name."""

TOP: Final = range(2 * SIDE, 3 * SIDE + 1)
LEFT: Final = range(2 * SIDE - 1, SIDE, -1)
RIGHT: Final = range(3 * SIDE + 1, 4 * SIDE)
BOTTOM: Final = range(SIDE, -1, -1)

SEAT_STYLES: Final = ("cyan", "magenta", "green", "yellow", "red", "blue")
GROUP_STYLES: Final = {
    "brown": "black on color(137)",
    "light_blue": "black on color(117)",
    "pink": "black on color(175)",
    "orange": "black on color(214)",
    "red": "white on color(160)",
    "yellow": "black on color(227)",
    "green": "white on color(28)",
    "dark_blue": "white on color(25)",
    "station": "black on color(250)",
    "utility": "black on color(188)",
}
OTHERS: Final = {
    "start": "START",
    "jail": "JAIL",
    "go_to_jail": "TO JAIL",
    "corner20": "CORNER",
    "chance": "chance",
    "tax": "tax",
}


def draw(
    match: Match, names: Sequence[str], news: Sequence[str], now_ms: int, height: int = HEIGHT
) -> Text:
    """Return the picture of *match*, with the names of its players and the end of the story.

    The story stands inside the ring and goes on below it, down to *height* lines in all.
    """
    head = _head(match, names, now_ms)
    room = ROOM - len(head)
    story = tell(news, room + height - HEIGHT)
    lines = ring(match, head + story[:room])
    lines += [_padded(line, WIDTH) for line in story[room:]]
    return Text("\n").join(lines)


def ring(match: Match, content: Sequence[Text]) -> list[Text]:
    """Return the lines of the board, with up to `ROOM` lines of *content* inside it."""
    inside = _inside(content)
    lines = [*_row(match, TOP)]
    for left, right in zip(LEFT, RIGHT, strict=True):
        for left_line, right_line in zip(_cell(match, left), _cell(match, right), strict=True):
            lines.append(Text.assemble(left_line, " ", next(inside), " ", right_line))
    return lines + _row(match, BOTTOM)


def tell(news: Sequence[str], lines: int, width: int = INSIDE) -> list[Text]:
    """Return the end of the story, as much as *lines* hold, with no sentence cut at its end."""
    if lines <= 0:
        return []
    wrapped = [
        line
        for sentence in news[-lines:]
        for line in textwrap.wrap(sentence, width, subsequent_indent="  ")
    ]
    return [Text(line) for line in wrapped[-lines:]]


def _row(match: Match, squares: Iterable[int]) -> list[Text]:
    cells = [_cell(match, square) for square in squares]
    return [Text.assemble(*line) for line in zip(*cells, strict=True)]


def _cell(match: Match, square: int) -> tuple[Text, Text]:
    """Return the two lines of a square: what it is, and who is there."""
    here = match.board.squares[square]
    if match.board.is_property(square):
        what = Text.assemble((f"{square:>2}", GROUP_STYLES[here.group]), _ownership(match, square))
    else:
        what = Text(OTHERS[here.kind], "dim" if here.kind in ("chance", "tax") else "bold")
    who = Text()
    for seat, position in enumerate(match.square):
        if position == square and not match.out[seat]:
            who.append(str(seat), f"bold reverse {SEAT_STYLES[seat]}")
    return _padded(what, CELL), _padded(who, CELL)


def _ownership(match: Match, square: int) -> Text:
    owner = match.owner[square]
    if owner == NOBODY:
        return Text()
    level = match.level[square]
    state = "m" if match.mortgaged_round[square] else f"+{level}" if level else ""
    return Text(f" {owner}{state}", f"bold {SEAT_STYLES[owner]}")


def _head(match: Match, names: Sequence[str], now_ms: int) -> list[Text]:
    """Return what stands above the story: the match, its seats, and how to read the ring."""
    return [
        Text(heading(match), "bold"),
        Text(_pending(match, now_ms)),
        Text(),
        *seat_lines(match, names),
        Text("e.g. 39 2+3: seat 2 owns 39, level 3; 39 2m: mortgaged", "dim"),
    ]


def _inside(lines: Sequence[Text]) -> Iterator[Text]:
    """Go through the lines inside the ring, as many as there are beside its squares."""
    rest = [Text() for _ in range(ROOM - len(lines))]
    return (_padded(line, INSIDE) for line in [*lines, *rest])


def heading(match: Match) -> str:
    """Return which match it is, how far it is, and the last roll once there was one."""
    told = f"{match.rules.rule_set_id}, round {match.round}"
    if not match.white_1:
        return told
    third = f" + {THIRD_FACES[match.third]}" if match.third else ""
    return f"{told}, last roll {match.white_1} + {match.white_2}{third}"


def _pending(match: Match, now_ms: int) -> str:
    if match.winners:
        return f"over: {name_seats(match.winners)} won"
    deadline = next_deadline(match)
    if deadline is None:
        return match.phase
    left = seconds(deadline.due - now_ms)
    return f"seat {deadline.seat} has {left:g} s: {deadline.kind}"


def seat_lines(match: Match, names: Sequence[str]) -> Iterator[Text]:
    """Go through a line for each seat, below a heading: who it is and what it has."""
    yield Text("  seat  player          cash   net worth", "dim")
    for seat, name in enumerate(names):
        mark = ">" if seat == match.turn else " "
        state = "out" if match.out[seat] else "in jail" if match.in_jail[seat] else ""
        yield Text.assemble(
            f"{mark} ",
            (f" {seat} ", f"bold reverse {SEAT_STYLES[seat]}"),
            f"   {name:<{NAME}}{match.cash[seat]:>8,}  {match.net_worth(seat):>10,}  {state}",
        )


def _padded(text: Text, width: int) -> Text:
    text.truncate(width, pad=True)
    return text
