"""Commands that make rooms, and that get people into them, out of them and into a match."""

# ruff: noqa: PLR0913, PLR0917 - each command says who asks, where, and how it is printed

from enum import StrEnum
from typing import Annotated, Final

import typer

from libs.client.rooms import new_command_id
from libs.wire.words import numbers_by_word
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1.access_pb2 import Access
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.lobby.calling import RoomArgument, SeatOption, change, of_room, on_room
from services.console.output import Format, FormatOption
from services.console.playing import (
    DEFAULT_RULE_SET,
    DEFAULT_SEATS,
    RuleSetOption,
    SeatsOption,
    check_strength,
    check_table,
)


class Watching(StrEnum):
    """Who may watch the match of a room."""

    EVERYBODY = "everybody"
    INVITED = "invited"
    SEATS = "seats"


_WATCHING: Final = numbers_by_word(Access.Watching)


PrivateOption = Annotated[
    bool, typer.Option("--private", help="Only those who are invited see it.")
]
WatchingOption = Annotated[
    Watching | None,
    typer.Option(
        "--watching",
        help="Who may watch the match: everybody by default, or whoever is invited where the room "
        "is private.",
        show_default=False,
    ),
]
BotStrengthOption = Annotated[
    str | None,
    typer.Option(
        "--bot-strength",
        metavar="STRENGTH",
        help="The bot that `add-bot` seats unless it is told another; steady by default.",
        show_default=False,
    ),
]


def create(
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: SeatsOption = DEFAULT_SEATS,
    *,
    private: PrivateOption = False,
    watching: WatchingOption = None,
    bot_strength: BotStrengthOption = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Make a room and sit down on its seat 0, as its creator.

    Exit codes: 0 made, 1 nothing answers or it is refused, 2 wrong usage, 3 no such rule set.
    """
    check_table(rule_set, seats)
    if bot_strength is not None:
        check_strength(bot_strength)
    request = pb.CreateRoomRequest(
        command_id=new_command_id(),
        rule_set=rule_set,
        seat_count=seats,
        visibility=Room.VISIBILITY_PRIVATE if private else Room.VISIBILITY_LISTED,
        watching=Access.WATCHING_UNSPECIFIED if watching is None else _WATCHING[watching],
        bot_strength=bot_strength or "",
    )
    change(request, Asker(address, token_file, player), output)


def join(
    room: RoomArgument,
    seat: SeatOption = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Sit down in a room.

    Exit codes: 0 done, 1 nothing answers or it is refused, 2 wrong usage, 3 there is no such room.
    """
    request = pb.JoinRoomRequest(**on_room(room), seat=seat)
    change(request, Asker(address, token_file, player), output)


leave = of_room(
    "leave", pb.LeaveRoomRequest, "Get up and go. A room that nobody is left in closes."
)


def ready(
    room: RoomArgument,
    *,
    no: Annotated[bool, typer.Option("--not", help="Say that you are not.")] = False,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Say that you are ready to start.

    Exit codes: 0 done, 1 nothing answers or it is refused, 2 wrong usage, 3 there is no such room.
    """
    request = pb.SetReadyRequest(**on_room(room), ready=not no)
    change(request, Asker(address, token_file, player), output)


start = of_room(
    "start",
    pb.StartMatchRequest,
    "Start the match of those who sit there, as the creator; empty seats are closed.",
)

rematch = of_room(
    "rematch",
    pb.RematchRequest,
    """Play again with those of a room whose match was played: sit down in the room for that.

    Who asks first makes it, with the same seats, bots and terms; the others find it.""",
)
