"""What opens a table in this terminal, for the commands by which somebody plays."""

import sys
from functools import partial
from shlex import join as shell_words
from typing import Annotated, Final

import typer
from rich.console import Console

from libs.client.client import Client
from services.console.asking import PLAYER, Asker
from services.console.connection import ask
from services.console.exits import FAILED, stop
from services.console.terminal.desk import Desk
from services.console.terminal.visiting import NotSeatedError, visit
from services.console.terminal.waiting import RoomLostError
from services.console.terminal.wishes import Wish

OTHER: Final = "bob"
"""Who somebody else may be, in what is said about them."""

AutoOption = Annotated[
    str | None,
    typer.Option("--auto", metavar="STRENGTH", help="Have a bot choose for you, here."),
]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="Use no colours.")]


def open_table(wish: Wish, asker: Asker, *, no_color: bool) -> None:
    """Play what is wished for, or end the command with why not."""
    console = Console(no_color=no_color or None, highlight=False)
    try:
        ask(asker, partial(_visit, wish=wish, console=console))
    except RoomLostError as error:
        stop(str(error), FAILED)
    except NotSeatedError as error:
        stop(f"you have no seat in this match; `opolyx watch {error}` shows it", FAILED)


def hint_of(asker: Asker) -> str:
    """Return what others add to a command to get to the same place."""
    other = OTHER if asker.player == PLAYER else PLAYER
    return shell_words([*_where(asker), "--player", other])


def back_of(asker: Asker) -> str:
    """Return what somebody adds to a command to be the same, at the same place."""
    who = ["--player", asker.player]
    if asker.token_file is not None:
        who = ["--token-file", str(asker.token_file)]
    return shell_words([*_where(asker), *who])


async def _visit(client: Client, wish: Wish, console: Console) -> None:
    is_live = console.is_terminal and not console.is_dumb_terminal and sys.stdin.isatty()
    desk = Desk(console, is_live=is_live)
    async with desk.opened():
        await visit(client, desk, wish)


def _where(asker: Asker) -> list[str]:
    return ["--address", asker.address] if asker.address is not None else []
