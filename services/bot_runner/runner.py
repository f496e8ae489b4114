"""Has every match played that has bots: one task for each, for as long as there is something to do.

Which matches those are stands in the bot runner's own table, so a restart goes on with them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from libs.chassis.status import RefusedError
from libs.client.stream import StreamBrokenError
from libs.kernel.ids import MatchId
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs, metrics, names
from libs.wire.chain import BrokenChainError
from services.bot_runner.ports import Seats

LOOK_S: Final = 5.0
"""How often to look for matches of which only another replica was told (start)."""

_PAUSE_S: Final = 0.5
_PAUSE_MAX_S: Final = 60.0

_log: Final = logs.get()
_MATCHES: Final = metrics.gauge(names.BOT_MATCHES)

Play = Callable[[MatchId, Seats], Awaitable[None]]
"""Plays some seats of a match until nothing is left to do in it."""


class Matches(Protocol):
    """Knows which seats are to be played. See `services.bot_runner.store.BotSeats`."""

    async def going_on(self) -> dict[MatchId, dict[int, str]]:
        """Return all matches that are not done, in the order in which they were made."""
        ...

    async def finish(self, match_id: MatchId) -> None:
        """Be done with a match, for good."""
        ...


class Runner:
    """Plays all matches that are going on, *matches_max* of them at once."""

    def __init__(self, matches: Matches, play: Play, *, matches_max: int) -> None:
        """Have *play* play what *matches* says is to be played."""
        self._matches = matches
        self._play = play
        self._room = asyncio.Semaphore(matches_max)
        self._bell = asyncio.Event()
        self._tasks: dict[MatchId, tuple[Seats, asyncio.Task[None]]] = {}

    def ring(self) -> None:
        """Look at once: there are new seats."""
        self._bell.set()

    async def run(self) -> None:
        """Play until cancelled.

        Raises:
            ExceptionGroup: a bug; all matches are left, and may be gone on with.

        """
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    self._bell.clear()
                    await self._look(group)
                    try:
                        async with asyncio.timeout(LOOK_S):
                            await self._bell.wait()
                    except TimeoutError:
                        pass
        finally:
            self._tasks.clear()

    async def _look(self, group: asyncio.TaskGroup) -> None:
        try:
            matches = await self._matches.going_on()
        except StoreUnavailableError:
            return  # what is played goes on without it
        for match_id, seats in matches.items():
            known = self._tasks.get(match_id)
            if known is not None:
                if known[0] == seats:
                    continue
                known[1].cancel()  # there are more seats than we were told of at first
            self._tasks[match_id] = (seats, group.create_task(self._see_to(match_id, seats)))

    async def _see_to(self, match_id: MatchId, seats: Seats) -> None:
        try:
            with logs.bound(match_id=match_id):
                await self._play_through(match_id, seats)
        finally:
            known = self._tasks.get(match_id)
            if known is not None and known[1] is asyncio.current_task():
                del self._tasks[match_id]

    async def _play_through(self, match_id: MatchId, seats: Seats) -> None:
        """Play a match until it is done; what keeps us from it may pass.

        It may not be made yet, or be in quarantine until somebody has looked at it.
        """
        pause_s = _PAUSE_S
        while True:
            try:
                await self._have_played(match_id, seats)
                await self._matches.finish(match_id)
            except RefusedError as error:
                reason = error.told.reason
            except (StreamBrokenError, BrokenChainError, StoreUnavailableError) as error:
                reason = type(error).__name__
            else:
                _log.info("bots_left")
                return
            _log.warning("bots_not_playing", reason=reason, delay_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    async def _have_played(self, match_id: MatchId, seats: Seats) -> None:
        with _MATCHES.labels("waiting").track_inprogress():
            await self._room.acquire()
        try:
            with _MATCHES.labels("playing").track_inprogress():
                _log.info("bots_sat_down", count=len(seats))
                await self._play(match_id, seats)
        finally:
            self._room.release()
