"""``opolyx profile``: what somebody has earned by playing."""

from contextlib import aclosing
from typing import Annotated, Any, NamedTuple

import typer

from libs.chassis.together import first_of
from libs.client.client import Client
from libs.client.signs import Signs
from libs.kernel.ids import is_uuid
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.progression.v1.profile_pb2 import Profile
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask
from services.console.exits import USAGE, stop
from services.console.following import Show, WatchOption, check_followed, mind, redrawn
from services.console.lobby.describing import Plain
from services.console.lobby.earning import describe_card, describe_profile, profile_lines
from services.console.output import Format, FormatOption, write_json
from services.console.paging import listed, names_of

app = typer.Typer(add_completion=False)


class Wanted(NamedTuple):
    """Whose profile, with what, and how it is printed."""

    player_id: str
    has_cards: bool
    output: Format


@app.command()
def profile(  # noqa: PLR0913 - the options of the command
    of: Annotated[
        str | None,
        typer.Argument(metavar="[PLAYER]", help="Whose, by player id; your own by default."),
    ] = None,
    *,
    cards: Annotated[bool, typer.Option("--cards", help="List the collection cards too.")] = False,
    watch: WatchOption = False,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print a profile: level, rank, experience, and what the last matches brought.

    With --watch it is followed, until Ctrl+C; with -o ndjson each change is the whole profile.
    Exit codes: 0 printed, 1 nothing answers, 2 wrong usage.
    """
    if of is not None and not is_uuid(of):
        stop(f"{of}: a player is named by a UUID, which `opolyx name` prints", USAGE)
    wanted = Wanted(of or "", cards, output)
    asker = Asker(address, token_file, player)
    if watch:
        check_followed(output)
        ask(asker, lambda client: _follow(client, wanted))
    else:
        ask(asker, lambda client: _look(client, wanted))


async def _look(client: Client, wanted: Wanted) -> None:
    request = pb.GetProfileRequest(player_id=wanted.player_id)
    found = await client.progression.GetProfile(request)
    _print(*await _described(client, found, wanted), wanted.output, _echo)


async def _follow(client: Client, wanted: Wanted) -> None:
    # Where nothing answers it is said at once.
    await client.progression.GetProfile(pb.GetProfileRequest(player_id=wanted.player_id))
    signs = Signs()
    with redrawn() as show_lines:
        await first_of(_tell(client, signs, wanted, show_lines), mind(signs))


async def _tell(client: Client, signs: Signs, wanted: Wanted, show_lines: Show) -> None:
    sequence = -1
    async with aclosing(client.watch_profile(wanted.player_id, signs)) as told:
        async for found in told:
            if found.sequence > sequence:  # a stream that is opened again begins with what is known
                sequence = found.sequence
                _print(*await _described(client, found, wanted), wanted.output, show_lines)


async def _described(
    client: Client, found: Profile, wanted: Wanted
) -> tuple[Plain, list[Plain] | None]:
    """Return a profile and, if they are wanted, its cards."""
    names = await names_of(client, [found.player_id])
    described = describe_profile(found, names.get(found.player_id, ""))
    if not wanted.has_cards:
        return described, None
    request = pb.ListCardsRequest(player_id=found.player_id, min_sequence=found.sequence)
    cards: list[Any] = await listed(client.progression.ListCards, request, "cards")
    return described, [describe_card(card) for card in cards]


def _print(found: Plain, cards: list[Plain] | None, output: Format, show_lines: Show) -> None:
    if output == Format.TABLE:
        show_lines(profile_lines(found, cards))
    else:
        write_json(found if cards is None else {**found, "cards": cards}, output)


def _echo(lines: Any) -> None:
    for line in lines:
        typer.echo(line)
