"""``opolyx quick-match``: others are found for a match, and bots for the seats that stay empty."""

import asyncio
import sys
from contextlib import aclosing
from typing import Annotated, Final

import typer

from libs.chassis.status import RefusedError
from libs.chassis.together import first_of
from libs.client.client import Client
from libs.client.rooms import new_command_id
from libs.client.signs import Signs
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask
from services.console.exits import FAILED, INTERRUPTED, USAGE, stop
from services.console.following import mind
from services.console.leaving import set_at_signal
from services.console.lobby.describing import seconds_to_fill
from services.console.output import Format, FormatOption, write_json, write_table
from services.console.playing import (
    DEFAULT_RULE_SET,
    DEFAULT_SEATS,
    RuleSetOption,
    SeatsOption,
    check_strength,
    check_table,
)
from services.console.terminal.editing import CLEARED
from services.console.terminal.opening import (
    AutoOption,
    NoColorOption,
    back_of,
    hint_of,
    open_table,
)
from services.console.terminal.wishes import Wish

app = typer.Typer(add_completion=False)

CANCEL_S: Final = 3.0
TICK_S: Final = 1.0


@app.command()
def quick_match(  # noqa: PLR0913 - the options of the command
    rule_set: RuleSetOption = DEFAULT_RULE_SET,
    seats: SeatsOption = DEFAULT_SEATS,
    *,
    play: Annotated[
        bool, typer.Option("--play", help="Play it here, as `opolyx play` does.")
    ] = False,
    auto: AutoOption = None,
    player: PlayerOption = PLAYER,
    token_file: TokenFileOption = None,
    address: AddressOption = None,
    no_color: NoColorOption = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Wait for others who want to play the same, and print the match, or play it.

    Bots take the seats that are still empty after a while. Ctrl+C waits no more. --auto plays too.
    Exit codes: 0 there is a match, or it was played; 1 nothing answers or it is refused, 2 wrong
    usage, 3 no such rule set.
    """
    check_table(rule_set, seats)
    asker = Asker(address, token_file, player)
    if play or auto is not None:
        if output != Format.TABLE:
            stop("what is played is no data: give -o, or --play and --auto", USAGE)
        if auto is not None:
            check_strength(auto)
        wish = Wish(
            rule_set=rule_set,
            seats=seats,
            is_quick=True,
            auto=auto or "",
            hint=hint_of(asker),
            back=back_of(asker),
        )
        open_table(wish, asker, no_color=no_color)
        return
    request = pb.QuickMatchRequest(command_id=new_command_id(), rule_set=rule_set, seat_count=seats)
    room = ask(asker, lambda client: _Queue(client, request).wait())
    _print(room, asker, output)


def _print(room: Room, asker: Asker, output: Format) -> None:
    if room.state == Room.STATE_WAITING:
        raise typer.Exit(INTERRUPTED)
    if room.state == Room.STATE_CLOSED:
        stop("the match could not be made; you are free", FAILED)
    found = {"match_id": room.match_id, "room_id": room.room_id}
    if output != Format.TABLE:
        write_json(found, output)
        return
    write_table(("match", "room"), [tuple(found.values())])
    typer.echo(f"Into it: opolyx play --match {room.match_id} {back_of(asker)}", err=True)


class _Queue:
    """Waits for a match that others may play too, and tells on stderr for how long."""

    def __init__(self, client: Client, request: pb.QuickMatchRequest) -> None:
        self._client = client
        self._request = request
        self._room = Room()
        self._signs = Signs()

    async def wait(self) -> Room:
        """Return the room once it has a match or is closed, or as it waits when somebody left."""
        left = asyncio.Event()
        # To the end of it: whoever is impatient should not be left in a queue.
        with set_at_signal(left):
            self._room = await self._client.lobby.QuickMatch(self._request)
            try:
                await first_of(self._follow(), left.wait(), self._count_down(), mind(self._signs))
            finally:
                if self._room.state == Room.STATE_WAITING:
                    await self._cancel()
        return self._room

    async def _follow(self) -> None:
        async with aclosing(self._client.watch_room(self._room.room_id, self._signs)) as told:
            async for self._room in told:
                pass

    async def _count_down(self) -> None:
        if not sys.stderr.isatty():
            typer.echo(self._standing(), err=True)
            await asyncio.Event().wait()
        try:
            while True:
                typer.echo(f"{CLEARED}{self._standing()}", err=True, nl=False)
                await asyncio.sleep(TICK_S)
        finally:
            typer.echo(CLEARED, err=True, nl=False)

    def _standing(self) -> str:
        seats = self._room.seats
        taken = sum(seat.WhichOneof("occupant") is not None for seat in seats)
        left_s = seconds_to_fill(self._room, self._signs)
        return f"{taken} of {len(seats)} seats are taken; bots come in {left_s} s"

    async def _cancel(self) -> None:
        """Wait no more: who is not here should have no seat in a match."""
        lobby = self._client.lobby
        try:
            request = pb.CancelQuickMatchRequest(command_id=new_command_id())
            await self._client.call(lobby.CancelQuickMatch, request, timeout_s=CANCEL_S)
        except RefusedError:  # too late: the match is being made
            asked = pb.GetRoomRequest(room_id=self._room.room_id)
            self._room = await self._client.call(lobby.GetRoom, asked, timeout_s=CANCEL_S)
