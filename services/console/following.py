"""What is followed on the command line: a picture that is drawn anew, or a line for each change."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from libs.client.signs import Signs
from services.console.exits import USAGE, stop
from services.console.output import Format

Show = Callable[[Sequence[str]], None]

WatchOption = Annotated[
    bool, typer.Option("--watch", help="Go on, and print it again whenever it has changed.")
]


def check_followed(output: Format) -> None:
    """End the command if what goes on and on is to be one whole."""
    if output == Format.JSON:
        stop("--watch goes on and on: say -o ndjson, one object for each change", USAGE)


@contextmanager
def redrawn() -> Iterator[Show]:
    """Yield what shows lines: on a terminal in the place of those before, else below them."""
    console = Console(highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield _below
        return
    with Live(console=console, auto_refresh=False) as live:
        yield lambda lines: live.update(_picture(lines), refresh=True)


def _on_stderr(text: str) -> None:
    typer.echo(text, err=True)


async def mind(
    signs: Signs,
    warn: Callable[[str], None] = _on_stderr,
    then: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Say when the way to the server is lost and when it is back, by default on stderr.

    *then* is done whenever it is back.
    """
    while True:
        await signs.lost.wait()
        warn("connection lost, trying again")
        await signs.opened.wait()
        warn("back")
        if then is not None:
            await then()


def _picture(lines: Sequence[str]) -> Text:
    return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def _below(lines: Sequence[str]) -> None:
    for line in (*lines, ""):
        typer.echo(line)
