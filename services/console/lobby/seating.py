"""Commands about who sits where in a room; most of them are its creator's."""

# ruff: noqa: PLR0913, PLR0917 - each command says who asks, where, and how it is printed

from typing import Annotated

import typer

from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.lobby.calling import (
    RoomArgument,
    SeatArgument,
    SeatOption,
    change,
    of_seat,
    on_room,
)
from services.console.output import Format, FormatOption
from services.console.playing import check_strength


def seat(
    room: RoomArgument,
    seat: SeatArgument,
    origin: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="SEAT",
            min=0,
            help="Who moves, as the creator; you by default.",
            show_default=False,
        ),
    ] = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Go to another seat that is empty, or have somebody go there.

    Exit codes: 0 done, 1 nothing answers or it is refused, 2 wrong usage, 3 there is no such room.
    """
    request = pb.TakeSeatRequest(**on_room(room), seat=seat, from_seat=origin)
    change(request, Asker(address, token_file, player), output)


def add_bot(
    room: RoomArgument,
    seat: SeatOption = None,
    strength: Annotated[
        str | None,
        typer.Option(
            "--strength",
            metavar="STRENGTH",
            help="Which bot; the room's own by default.",
            show_default=False,
        ),
    ] = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Seat a bot, as the creator.

    Exit codes: 0 done, 1 nothing answers or it is refused, 2 wrong usage, 3 there is no such room.
    """
    if strength is not None:
        check_strength(strength)
    request = pb.AddBotRequest(**on_room(room), seat=seat, strength=strength or "")
    change(request, Asker(address, token_file, player), output)


remove_bot = of_seat("remove_bot", pb.RemoveBotRequest, "Have a bot get up, as the creator.")

kick = of_seat(
    "kick",
    pb.KickSeatRequest,
    "Have another person go, as the creator. They cannot come back to this room.",
)

hand_over = of_seat(
    "hand_over", pb.HandOverRoomRequest, "Make another person the creator, as the one who is."
)
