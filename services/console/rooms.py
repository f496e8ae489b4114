"""``opolyx rooms``: the rooms in which matches form, looked at and acted in."""

# ruff: noqa: PLR0913 - each command says who asks, where, and how it is printed

from contextlib import aclosing
from functools import partial
from typing import Annotated

import typer

from libs.chassis.together import first_of
from libs.client.client import Client
from libs.client.signs import Signs
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask, send
from services.console.exits import FAILED, stop
from services.console.following import Show, WatchOption, check_followed, mind, redrawn
from services.console.lobby import forming, inviting, seating
from services.console.lobby.calling import RoomArgument, check_room, write_room
from services.console.lobby.describing import Plain, describe_room, room_lines, room_table
from services.console.lobby.listing import KnownRooms
from services.console.output import Format, FormatOption, write, write_json
from services.console.paging import LIMIT, LimitOption, listed
from services.console.playing import check_rule_set

app = typer.Typer(name="rooms", no_args_is_help=True, add_completion=False)


@app.callback()
def rooms() -> None:
    """Look at the rooms in which matches form, and do all that can be done in them."""


@app.command("list")
def list_(
    rule_set: Annotated[
        str | None,
        typer.Option("--rule-set", metavar="ID", help="Of this rule set.", show_default=False),
    ] = None,
    limit: LimitOption = LIMIT,
    *,
    watch: WatchOption = False,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List the rooms that wait for people and that everybody sees, the newest first.

    With --watch all of them are followed, until Ctrl+C; with -o ndjson each change is an object:
    change (opened, changed, gone), room_id and room. Exit codes: 0 printed, 1 nothing answers, 2
    wrong usage, 3 no such rule set.
    """
    if rule_set is not None:
        check_rule_set(rule_set)
    asker = Asker(address, token_file, player)
    if watch:
        check_followed(output)
        ask(asker, partial(_follow_list, rule_set=rule_set or "", output=output))
        return
    request = pb.ListRoomsRequest(rule_set=rule_set or "")
    found = ask(asker, lambda client: listed(client.lobby.ListRooms, request, "rooms", limit))
    described = [describe_room(room) for room in found]
    write(described, room_table(described), output)


@app.command()
def show(
    room: RoomArgument,
    *,
    watch: WatchOption = False,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print a room: what it is, and who sits where.

    With --watch it is followed until its match has started. Exit codes: 0 printed, 1 nothing
    answers, or the room that is followed has closed; 2 wrong usage, 3 there is no such room.
    """
    room_id = check_room(room)
    asker = Asker(address, token_file, player)
    if not watch:
        write_room(describe_room(send(asker, "lobby", pb.GetRoomRequest(room_id=room_id))), output)
        return
    check_followed(output)
    last = ask(asker, partial(_follow_room, room_id=room_id, output=output))
    if last.state == Room.STATE_CLOSED:
        stop("the room was closed", FAILED)


for _command in (
    forming.create,
    forming.join,
    forming.leave,
    seating.seat,
    forming.ready,
    forming.start,
    forming.rematch,
    seating.add_bot,
    seating.remove_bot,
    seating.kick,
    seating.hand_over,
    inviting.invite,
    inviting.accept,
):
    app.command()(_command)


async def _follow_list(client: Client, rule_set: str, output: Format) -> None:
    # Where nothing answers it is said at once.
    await client.lobby.ListRooms(pb.ListRoomsRequest(rule_set=rule_set, page_size=1))
    signs = Signs()
    with redrawn() as show_lines:
        works = _tell_list(client, signs, rule_set, output, show_lines), mind(signs)
        await first_of(*works)


async def _tell_list(
    client: Client, signs: Signs, rule_set: str, output: Format, show_lines: Show
) -> None:
    known = KnownRooms()
    async with aclosing(client.watch_rooms(rule_set, signs)) as told:
        async for news in told:
            changes = known.take(news)
            if output != Format.TABLE:
                write_json(changes, output)
            elif changes or news.HasField("rooms"):
                show_lines(room_table(known.listed()))


async def _follow_room(client: Client, room_id: str, output: Format) -> Room:
    """Print a room until there is no more to tell of it; returns it as it is then."""
    # Where nothing answers, or there is no such room, it is said at once.
    last = await client.lobby.GetRoom(pb.GetRoomRequest(room_id=room_id))
    signs = Signs()

    async def tell(show_lines: Show) -> None:
        nonlocal last
        shown: Room | None = None
        async with aclosing(client.watch_room(room_id, signs)) as told:
            async for last in told:
                if last != shown:  # a stream that is opened again begins with what is known
                    shown = last
                    _print(describe_room(last), output, show_lines)

    with redrawn() as show_lines:
        await first_of(tell(show_lines), mind(signs))
    return last


def _print(room: Plain, output: Format, show_lines: Show) -> None:
    if output == Format.TABLE:
        show_lines(room_lines(room))
    else:
        write_json(room, output)
