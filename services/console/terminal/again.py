"""What may be done once a match is over: to play it again with the same people."""

from contextlib import suppress
from typing import Final

from libs.chassis.status import RefusedError
from libs.chassis.together import first_of
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.console.terminal.desk import Desk
from services.console.terminal.wishes import Wish
from services.console.terminal.words import LEAVING

REMATCH: Final = "rematch"
ASKED: Final = "`rematch` plays again with the same people, `quit` ends."
LOOKED_AT: Final = 20
"""Among so many of somebody's matches the one that has just ended is looked for."""


async def room_to_play_again(client: Client, desk: Desk, wish: Wish, match_id: str) -> str | None:
    """Ask whether the match that is over is to be played again; returns its room if so."""
    room_id = await _room_of(client, match_id)
    if room_id is None:
        return None
    if wish.auto and not desk.is_live:
        # Nobody has to type, and so nobody is waited for.
        desk.show(f"To play again: opolyx rooms rematch {room_id} {wish.back}")
        return None
    desk.show(ASKED)
    desk.prompt("> ")
    answered: list[str] = []

    async def answer() -> None:
        while (line := await desk.line()) is not None:
            match line.strip().lower():
                case word if word == REMATCH:
                    answered.append(word)
                    return
                case word if word in LEAVING:
                    return
                case word if word and desk.is_live:
                    # Lines of a script may still be meant for the match.
                    desk.show(ASKED)

    await first_of(answer(), desk.left.wait())
    desk.prompt("")
    return room_id if answered else None


async def _room_of(client: Client, match_id: str) -> str | None:
    """Return the room that a match of the caller came from, if the lobby knows it."""
    with suppress(RefusedError, ConnectionLostError):
        request = pb.ListMyMatchesRequest(page_size=LOOKED_AT)
        page = await client.call(client.lobby.ListMyMatches, request)
        return next((m.room_id for m in page.matches if m.match_id == match_id), None)
    return None
