"""What services keep, kept in memory: for stacks without a database.

Each is held to what the same tests ask of the adapter in PostgreSQL.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId
from services.bot_runner.ports import Seats
from services.lobby.ports import Player
from services.timer.followed import Followed


class MemoryBotSeats:
    """A `services.bot_runner.ports.BotSeatStore` that lasts as long as the object."""

    def __init__(self) -> None:
        self._seats: dict[MatchId, dict[int, str]] = {}
        self._done: set[MatchId] = set()
        self._positions: dict[MatchId, Position] = {}

    async def take(self, match_id: MatchId, seats: Seats) -> None:
        """See `BotSeatStore.take`."""
        self._seats[match_id] = {**seats, **self._seats.get(match_id, {})}

    async def going_on(self) -> dict[MatchId, dict[int, str]]:
        """See `BotSeatStore.going_on`."""
        return {
            match_id: dict(sorted(seats.items()))
            for match_id, seats in sorted(self._seats.items())
            if match_id not in self._done and seats
        }

    async def finish(self, match_id: MatchId) -> None:
        """See `BotSeatStore.finish`."""
        if match_id in self._seats:
            self._done.add(match_id)

    async def position(self, match_id: MatchId) -> Position:
        """See `BotSeatStore.position`."""
        return self._positions.get(match_id, Position())

    async def learn(self, match_id: MatchId, position: Position, seats: Seats) -> None:
        """See `BotSeatStore.learn`."""
        self._seats[match_id] = {**self._seats.get(match_id, {}), **seats}
        await self.move({match_id: position})

    async def learn_end(self, match_id: MatchId, position: Position) -> None:
        """See `BotSeatStore.learn_end`."""
        await self.finish(match_id)
        await self.move({match_id: position})

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """See `BotSeatStore.move`."""
        for match_id, position in positions.items():
            if position.last_seq > self._positions.get(match_id, Position()).last_seq:
                self._positions[match_id] = position

    async def forget(self, match_id: MatchId) -> None:
        """See `BotSeatStore.forget`."""
        self._positions.pop(match_id, None)


class MemoryFollowedMatches:
    """A `services.timer.learning.Store` that lasts as long as the object."""

    def __init__(self) -> None:
        self._followed: dict[MatchId, Followed] = {}

    async def load(self, match_id: MatchId) -> Followed:
        """See `Store.load`."""
        return _copy(self._followed.get(match_id, Followed()))

    async def save(self, matches: Mapping[MatchId, Followed]) -> None:
        """See `Store.save`."""
        for match_id, followed in matches.items():
            before = self._followed.get(match_id, Followed())
            if followed.position.last_seq > before.position.last_seq:
                self._followed[match_id] = _copy(followed)

    async def forget(self, match_id: MatchId) -> None:
        """See `Store.forget`."""
        self._followed.pop(match_id, None)

    async def going_on(self) -> list[tuple[MatchId, Followed]]:
        """See `Store.going_on`."""
        return [
            (match_id, _copy(followed))
            for match_id, followed in self._followed.items()
            if not followed.is_over
        ]


class MemoryPlayers:
    """Which person a token's subject is: `services.lobby.ports.Players` in memory."""

    def __init__(self) -> None:
        self._by_subject: dict[tuple[str, str], Player] = {}

    async def resolve(self, issuer: str, subject: str, new: Player, at_ms: int) -> Player:  # noqa: ARG002 - the port's
        """See `Players.resolve`."""
        return self._by_subject.setdefault((issuer, subject), new)

    async def rename(self, player: Player) -> bool:
        """See `Players.rename`."""
        for key, known in self._by_subject.items():
            if known.player_id == player.player_id:
                self._by_subject[key] = player
                return True
        return False

    async def names(self, players: Collection[str]) -> Mapping[str, str]:
        """See `Players.names`."""
        return {
            player.player_id: player.display_name
            for player in self._by_subject.values()
            if player.player_id in players
        }


def _copy(followed: Followed) -> Followed:
    return replace(followed, deadlines=dict(followed.deadlines))
