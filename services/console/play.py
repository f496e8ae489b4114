"""``opolyx play``: a seat of a match, played in this terminal, by a script or by a bot."""

from typing import Annotated, Final

import typer

from libs.rules.rule_sets import RULE_SETS
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.exits import USAGE, stop
from services.console.exporting import check_id
from services.console.lobby.calling import check_room
from services.console.playing import (
    DEFAULT_RULE_SET,
    RuleSetOption,
    check_strength,
    check_table,
)
from services.console.terminal.opening import (
    AutoOption,
    NoColorOption,
    back_of,
    hint_of,
    open_table,
)
from services.console.terminal.wishes import Wish

app = typer.Typer(add_completion=False)

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
InviteOption = Annotated[
    str | None, typer.Option("--invite", metavar="CODE", help="Join by this invitation instead.")
]
MatchOption = Annotated[
    str | None, typer.Option("--match", metavar="MATCH", help="Go on with this match.")
]
PrivateOption = Annotated[
    bool, typer.Option("--private", help="Only those whom you invite see the room and its match.")
]


@app.command()
def play(  # noqa: PLR0913, PLR0917 - the options of the command
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: FewSeatsOption = None,
    bot: BotOption = None,
    room: RoomOption = None,
    invite: InviteOption = None,
    match: MatchOption = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    auto: AutoOption = None,
    *,
    private: PrivateOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Play a match: with bots, with others who join, or one that you have left.

    Unless one is named, a room is made, and how others join it is told, for a private one by an
    invitation; the match starts when its seats are filled. What you may do is listed: type its
    number, or words; `help` tells more. Leaving ends nothing: the next `opolyx play` goes on. After
    the end `rematch` plays again. In a pipe, lines come in and plain text goes out. Exit codes: 0
    over, or left, 1 nothing answers or it is refused, 2 wrong usage, 3 no such room, invitation,
    match or rule set.
    """
    if sum(named is not None for named in (room, invite, match)) > 1:
        stop("give one of --room, --invite and --match", USAGE)
    bots = tuple(bot or ())
    for strength in (*bots, *filter(None, [auto])):
        check_strength(strength)
    asker = Asker(address, token_file, player)
    wish = Wish(
        rule_set=rule_set,
        seats=_seats(rule_set, seats, len(bots)),
        bots=bots,
        is_private=private,
        room="" if room is None else check_room(room),
        invite=invite or "",
        match=None if match is None else check_id(match),
        auto=auto or "",
        hint=hint_of(asker),
        back=back_of(asker),
    )
    open_table(wish, asker, no_color=no_color)


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
