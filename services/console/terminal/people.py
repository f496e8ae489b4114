"""Who sits where, by the names that others see."""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from libs.chassis.status import RefusedError
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.rules.events import SeatSpec
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from services.console.drawing import NAME
from services.console.naming import enumerate_words

_SEAT: Final = re.compile(r"\b[Ss]eat (\d)\b")
_SEATS: Final = re.compile(r"\b[Ss]eats (\d(?:(?:, | and )\d)+)")


class People:
    """The names of a table, no two alike, each of at most `NAME` columns.

    Attributes:
        names: by seat.

    """

    def __init__(self, names: Sequence[str]) -> None:
        """Take *names* by seat, whatever they are; where one is empty the seat is called so."""
        short = [plain_name(name) or f"seat {seat}" for seat, name in enumerate(names)]
        often = Counter(name.casefold() for name in short)
        self.names = [
            f"{name[: NAME - 2]}-{seat}" if often[name.casefold()] > 1 else name
            for seat, name in enumerate(short)
        ]

    def told(self, sentence: str) -> str:
        """Return *sentence* with the names of the seats that it tells of."""
        named = _SEATS.sub(self._list, sentence)
        return _SEAT.sub(self._one, named)

    def seat_of(self, word: str) -> int | None:
        """Return the seat that somebody means by *word*: its number or its name."""
        if word.isascii() and word.isdigit():
            return int(word) if int(word) < len(self.names) else None
        wanted = word.casefold()
        return next((n for n, name in enumerate(self.names) if name.casefold() == wanted), None)

    def _one(self, found: re.Match[str]) -> str:
        name = self._name(found[1])
        return found[0] if name == found[0].lower() else name  # so it keeps its capital

    def _list(self, found: re.Match[str]) -> str:
        return enumerate_words([self._name(seat) for seat in re.findall(r"\d", found[1])])

    def _name(self, seat: str) -> str:
        number = int(seat)
        return self.names[number] if number < len(self.names) else f"seat {seat}"


async def people_of(client: Client, specs: Sequence[SeatSpec]) -> People:
    """Return who sits at a table; of those whom the lobby does not name the seat alone is known."""
    ids = [spec.player for spec in specs if spec.player]
    names: dict[str, str] = {}
    if ids:
        request = pb.BatchGetPlayersRequest(player_ids=ids)
        with suppress(RefusedError, ConnectionLostError):
            found = await client.call(client.lobby.BatchGetPlayers, request)
            names = {player.player_id: player.display_name for player in found.players}
    return People([spec.strength or names.get(spec.player, "") for spec in specs])


def plain_name(name: str) -> str:
    """Return a name as it may stand in a line: it comes from anybody."""
    return "".join(char for char in name if char.isprintable() and not char.isspace())[:NAME]
