"""``opolyx play``: a seat of a match, played in this terminal, by a script or by a bot."""

import sys
from pathlib import Path
from shlex import join as shell_words
from typing import Annotated, Final

import typer
from rich.console import Console

from libs.bots.strengths import STRENGTHS
from libs.client.client import Client
from libs.kernel.chance import fresh_secret
from libs.kernel.clock import SystemClock
from libs.kernel.ids import MatchId, is_uuid
from libs.rules.rule_sets import RULE_SETS
from libs.wire.readers import spec_of
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.console.asking import AddressOption, TokenFileOption
from services.console.connection import ask
from services.console.exits import FAILED, USAGE, stop
from services.console.exporting import check_id
from services.console.playing import DEFAULT_RULE_SET, RuleSetOption, check_table
from services.console.seat import PlayedSeat
from services.console.terminal.desk import Desk
from services.console.terminal.ending import placing, proof, reward
from services.console.terminal.entering import RoomLostError, Wish, enter
from services.console.terminal.inquiries import Place
from services.console.terminal.people import people_of
from services.console.terminal.sitting import Sitting
from services.console.terminal.story import Story

app = typer.Typer(add_completion=False)

PLAYER: Final = "ada"
OTHER: Final = "bob"
LEAST_SEATS: Final = 2


@app.command()
def play(  # noqa: PLR0913, PLR0917 - the options of the command
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: Annotated[
        int | None,
        typer.Option(
            "--seats",
            metavar="N",
            help="How many seats: by default the fewest that hold you and the bots.",
            show_default=False,
        ),
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option("--bot", metavar="STRENGTH", help="Seat a bot; may be given several times."),
    ] = None,
    room: Annotated[
        str | None, typer.Option("--room", metavar="ROOM", help="Join this room instead.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="MATCH", help="Go on with this match.")
    ] = None,
    player: Annotated[
        str,
        typer.Option("--player", metavar="NAME", help="Who plays, by a development token."),
    ] = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    auto: Annotated[
        str | None,
        typer.Option("--auto", metavar="STRENGTH", help="Have a bot choose for you, here."),
    ] = None,
    *,
    no_color: Annotated[bool, typer.Option("--no-color", help="Use no colours.")] = False,
) -> None:
    """Play a match: with bots, with others who join, or one that you have left.

    Without --room and --match a room is made, and how others join it is told; the match starts when
    its seats are filled. What you may do is listed: type its number, or words; `help` tells more.
    Leaving ends nothing: the next `opolyx play` goes on. In a pipe, lines come in and plain text
    goes out. Exit codes: 0 over, or left, 1 nothing answers or it is refused, 2 wrong usage, 3 no
    such room, match or rule set.
    """
    strengths = tuple(bot or ())
    for strength in (*strengths, *([auto] if auto is not None else [])):
        if strength not in STRENGTHS:
            stop(f"no bot is called {strength}; there are {', '.join(STRENGTHS)}", USAGE)
    if room is not None and not is_uuid(room):
        stop(f"{room}: a room is named by a UUID, 36 lower-case characters", USAGE)
    wanted = None if match is None else check_id(match)
    count = seats if seats is not None else _fewest(rule_set, 1 + len(strengths))
    check_table(rule_set, count)
    if len(strengths) >= count:
        stop(f"{len(strengths)} bots and you do not fit {count} seats", USAGE)
    where = ["--address", address] if address is not None else []
    hint = shell_words([*where, "--player", OTHER if player == PLAYER else PLAYER])
    wish = Wish(
        rule_set=rule_set,
        seats=count,
        bots=strengths,
        room=room or "",
        is_played_by_bot=auto is not None,
        hint=hint,
    )
    back = shell_words([*where, *_who(player, token_file)])
    console = Console(no_color=no_color or None, highlight=False)
    is_live = console.is_terminal and not console.is_dumb_terminal and sys.stdin.isatty()

    async def work(client: Client) -> None:
        desk = Desk(console, is_live=is_live)
        async with desk.opened():
            await _play(client, desk, wish, wanted, auto, back)

    try:
        ask(address, token_file, work, player=player)
    except RoomLostError as error:
        stop(str(error), FAILED)


async def _play(  # noqa: PLR0913, PLR0917 - what `play` has gathered
    client: Client, desk: Desk, wish: Wish, match: MatchId | None, auto: str | None, back: str
) -> None:
    # Where nothing answers it is said at once: this call alone is not made with patience.
    await client.progression.GetProfile(progression_pb.GetProfileRequest())
    match_id = match or await enter(client, desk, wish)
    if match_id is None:
        return
    seen = await client.call(client.match.GetMatch, pb.GetMatchRequest(match_id=match_id))
    if not seen.HasField("viewer_seat"):
        stop(f"you have no seat in this match; `opolyx watch {match_id}` shows it", FAILED)
    people = await people_of(client, [spec_of(seat.spec) for seat in seen.seats])
    seat = seen.viewer_seat
    async with client.play(match_id) as table:
        story = Story(people)
        sitting = Sitting(Place(client, table, people, seat, seen.sequence, story), desk)
        if auto is not None:
            chance = int.from_bytes(fresh_secret())
            sitting.leave_to(PlayedSeat(table, seat, chance, SystemClock(), auto))
        desk.show(f"Match {match_id}: you are {people.names[seat]}, seat {seat}.")
        is_over = await sitting.play()
        desk.prompt("")
        if not is_over:
            desk.show(f"The match goes on. Back to it: opolyx play --match {match_id} {back}")
            return
        desk.show("")
        for line in [
            *placing(table.match, people),
            *await proof(client, match_id, story.seed),
        ]:
            desk.show(line)
    if (earned := await reward(client, match_id)) is not None:
        desk.show(earned)


def _fewest(rule_set: str, people: int) -> int:
    """Return how few seats hold so many, in a rule set that may not be one."""
    rules = RULE_SETS.get(rule_set)
    allowed = rules.seats if rules is not None else ()
    return min((n for n in allowed if n >= max(people, LEAST_SEATS)), default=people)


def _who(player: str, token_file: Path | None) -> list[str]:
    return ["--player", player] if token_file is None else ["--token-file", str(token_file)]
