"""``opolyx play``: a seat of a match, played in this terminal, by a script or by a bot."""

import sys
from functools import partial
from pathlib import Path
from shlex import join as shell_words
from typing import Annotated, Final

import typer
from rich.console import Console

from libs.bots.strengths import STRENGTHS
from libs.client.client import Client
from libs.kernel.ids import is_uuid
from libs.rules.rule_sets import RULE_SETS
from services.console.asking import AddressOption, TokenFileOption
from services.console.connection import ask
from services.console.exits import FAILED, USAGE, stop
from services.console.exporting import check_id
from services.console.playing import DEFAULT_RULE_SET, RuleSetOption, check_table
from services.console.terminal.desk import Desk
from services.console.terminal.entering import RoomLostError, Wish
from services.console.terminal.visiting import NotSeatedError, visit

app = typer.Typer(add_completion=False)

PLAYER: Final = "ada"
OTHER: Final = "bob"
LEAST_SEATS: Final = 2

FewSeatsOption = Annotated[
    int | None,
    typer.Option(
        "--seats",
        metavar="N",
        help="How many seats: by default the fewest that hold you and the bots.",
        show_default=False,
    ),
]
BotOption = Annotated[
    list[str] | None,
    typer.Option("--bot", metavar="STRENGTH", help="Seat a bot; may be given several times."),
]
RoomOption = Annotated[
    str | None, typer.Option("--room", metavar="ROOM", help="Join this room instead.")
]
MatchOption = Annotated[
    str | None, typer.Option("--match", metavar="MATCH", help="Go on with this match.")
]
PlayerOption = Annotated[
    str, typer.Option("--player", metavar="NAME", help="Who plays, by a development token.")
]
AutoOption = Annotated[
    str | None,
    typer.Option("--auto", metavar="STRENGTH", help="Have a bot choose for you, here."),
]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="Use no colours.")]


@app.command()
def play(  # noqa: PLR0913, PLR0917 - the options of the command
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: FewSeatsOption = None,
    bot: BotOption = None,
    room: RoomOption = None,
    match: MatchOption = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    auto: AutoOption = None,
    *,
    no_color: NoColorOption = False,
) -> None:
    """Play a match: with bots, with others who join, or one that you have left.

    Without --room and --match a room is made, and how others join it is told; the match starts when
    its seats are filled. What you may do is listed: type its number, or words; `help` tells more.
    Leaving ends nothing: the next `opolyx play` goes on. In a pipe, lines come in and plain text
    goes out. Exit codes: 0 over, or left, 1 nothing answers or it is refused, 2 wrong usage, 3 no
    such room, match or rule set.
    """
    bots = tuple(bot or ())
    _check_bots(*bots, auto)
    if room is not None and not is_uuid(room):
        stop(f"{room}: a room is named by a UUID, 36 lower-case characters", USAGE)
    where = ["--address", address] if address is not None else []
    wish = Wish(
        rule_set=rule_set,
        seats=_seats(rule_set, seats, len(bots)),
        bots=bots,
        room=room or "",
        match=None if match is None else check_id(match),
        auto=auto or "",
        hint=shell_words([*where, "--player", OTHER if player == PLAYER else PLAYER]),
        back=shell_words([*where, *_who(player, token_file)]),
    )
    console = Console(no_color=no_color or None, highlight=False)
    try:
        ask(address, token_file, partial(_play, wish=wish, console=console), player=player)
    except RoomLostError as error:
        stop(str(error), FAILED)
    except NotSeatedError as error:
        stop(f"you have no seat in this match; `opolyx watch {error}` shows it", FAILED)


async def _play(client: Client, wish: Wish, console: Console) -> None:
    is_live = console.is_terminal and not console.is_dumb_terminal and sys.stdin.isatty()
    desk = Desk(console, is_live=is_live)
    async with desk.opened():
        await visit(client, desk, wish)


def _check_bots(*strengths: str | None) -> None:
    for strength in strengths:
        if strength is not None and strength not in STRENGTHS:
            stop(f"no bot is called {strength}; there are {', '.join(STRENGTHS)}", USAGE)


def _seats(rule_set: str, wanted: int | None, bots: int) -> int:
    """Return how many seats a room gets: as wanted, or as few as hold everybody."""
    rules = RULE_SETS.get(rule_set)
    allowed = rules.seats if rules is not None else ()
    least = max(1 + bots, LEAST_SEATS)
    fewest = min((n for n in allowed if n >= least), default=least)
    count = fewest if wanted is None else wanted
    check_table(rule_set, count)
    if bots >= count:
        stop(f"{bots} bots and you do not fit {count} seats", USAGE)
    return count


def _who(player: str, token_file: Path | None) -> list[str]:
    return ["--player", player] if token_file is None else ["--token-file", str(token_file)]
