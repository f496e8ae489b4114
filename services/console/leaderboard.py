"""``opolyx leaderboard``: who has earned most by playing."""

from typing import Annotated, Final

import typer

from libs.client.client import Client
from opolyx.progression.v1 import progression_service_pb2 as pb
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask
from services.console.lobby.describing import Plain
from services.console.lobby.earning import describe_entry, entry_table
from services.console.output import Format, FormatOption, write
from services.console.paging import LimitOption, listed, names_of

app = typer.Typer(add_completion=False)

LIMIT: Final = 20
SELF: Final = "self"


@app.command()
def leaderboard(  # noqa: PLR0913 - the options of the command
    limit: LimitOption = LIMIT,
    *,
    around: Annotated[
        bool, typer.Option("--around", help="Begin so that you are in the middle.")
    ] = False,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List people by their experience, the most first; whoever has finished no match is not in it.

    Exit codes: 0 printed, 1 nothing answers, 2 wrong usage, 3 you are not in it, for --around.
    """
    request = pb.GetLeaderboardRequest(around=SELF if around else "")

    async def work(client: Client) -> list[Plain]:
        found = await listed(client.progression.GetLeaderboard, request, "entries", limit)
        names = await names_of(client, (entry.player_id for entry in found))
        return [describe_entry(entry, names.get(entry.player_id, "")) for entry in found]

    entries = ask(Asker(address, token_file, player), work)
    write(entries, entry_table(entries), output)
