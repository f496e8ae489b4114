"""``opolyx matches``: which matches there are, and which somebody has played."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import typer

from libs.client.client import Client
from libs.wire.words import words_by_number
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.match_pb2 import MatchSummary
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask
from services.console.exits import USAGE, stop
from services.console.lobby.describing import UNKNOWN, Plain, describe_played, moment, seated
from services.console.output import Format, FormatOption, table_lines, write
from services.console.paging import LimitOption, listed, names_of

app = typer.Typer(add_completion=False)

LIMIT: Final = 20

_STATUSES: Final = words_by_number(MatchSummary.Status)


@app.command()
def matches(  # noqa: PLR0913 - the options of the command
    limit: LimitOption = LIMIT,
    *,
    mine: Annotated[
        bool, typer.Option("--mine", help="Those that you played or play, and how they went.")
    ] = False,
    running: Annotated[bool, typer.Option("--running", help="Those that go on.")] = False,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List the matches that you may see, the newest first; with --mine your own, and their outcome.

    Exit codes: 0 printed, 1 nothing answers, 2 wrong usage.
    """
    if mine and running:
        stop("give --mine or --running: the outcome of your own says which of them goes on", USAGE)
    asker = Asker(address, token_file, player)
    if mine:
        found = ask(asker, lambda client: _played(client, limit))
        lines = _played_table(found)
    else:
        status = MatchSummary.STATUS_RUNNING if running else MatchSummary.STATUS_UNSPECIFIED
        request = pb.ListMatchesRequest(status=status)
        found = ask(asker, lambda client: _listed(client, request, limit))
        lines = _match_table(found)
    write(found, lines, output)


async def _played(client: Client, limit: int) -> list[Plain]:
    request = lobby_pb.ListMyMatchesRequest()
    found = await listed(client.lobby.ListMyMatches, request, "matches", limit)
    return [describe_played(match) for match in found]


async def _listed(client: Client, request: pb.ListMatchesRequest, limit: int) -> list[Plain]:
    found = await listed(client.match.ListMatches, request, "matches", limit)
    people = (seat.player for match in found for seat in match.seats if seat.player)
    names = await names_of(client, people)
    return [_describe(match, names) for match in found]


def _describe(match: MatchSummary, names: Mapping[str, str]) -> Plain:
    return {
        "match_id": match.match_id,
        "rule_set": match.rule_set,
        "status": _STATUSES.get(match.status, UNKNOWN),
        "sequence": match.sequence,
        "seats": [
            {
                "seat": number,
                "player_id": seat.player or None,
                "name": names.get(seat.player) or None,
                "bot": seat.strength or None,
            }
            for number, seat in enumerate(match.seats)
        ],
        "created_ms": match.created_ms,
    }


def _match_table(matches: Iterable[Plain]) -> list[str]:
    return table_lines(
        ("match", "rule set", "status", "events", "who", "created (UTC)"),
        (
            (
                match["match_id"],
                match["rule_set"],
                match["status"],
                match["sequence"],
                seated(match["seats"]),
                moment(match["created_ms"]),
            )
            for match in matches
        ),
    )


def _played_table(matches: Iterable[Plain]) -> list[str]:
    return table_lines(
        ("match", "rule set", "outcome", "place", "seat", "who", "started (UTC)", "ended (UTC)"),
        (
            (
                match["match_id"],
                match["rule_set"],
                match["outcome"],
                match["place"],
                match["seat"],
                seated(match["seats"]),
                moment(match["started_ms"]),
                match["ended_ms"] and moment(match["ended_ms"]),
            )
            for match in matches
        ),
    )
