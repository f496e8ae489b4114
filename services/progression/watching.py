"""Who watches whose progress, and how they learn that it has changed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from libs.kernel.ids import PlayerId
from services.progression.profiles import Profiles


class Watched:
    """Somebody whose progress is watched.

    Attributes:
        sequence: how many events it has, as far as is known here.
        watchers: how many watch it.

    """

    def __init__(self) -> None:
        self.sequence = 0
        self.watchers = 0
        self._changed = asyncio.Event()

    def reach(self, sequence: int) -> None:
        """Tell all who watch, if that is news."""
        if sequence > self.sequence:
            self.sequence = sequence
            self._changed.set()
            self._changed = asyncio.Event()

    async def is_beyond(self, sequence: int, *, within_s: float) -> bool:
        """Return True as soon as there are more events than *sequence*, False if none come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self.sequence <= sequence:
                    await self._changed.wait()
        return self.sequence > sequence


class Watcher:
    """Looks at all who are watched at once, however many streams there are.

    What this replica grants itself it hears of at once, by `ring`; what others grant, at the next
    look at the store. So nothing is missed, and nothing is kept of anybody whom nobody watches.
    """

    def __init__(self, profiles: Profiles, poll_s: float) -> None:
        """Look every *poll_s* seconds, as long as there is anybody to look at."""
        self._profiles = profiles
        self._poll_s = poll_s
        self._watched: dict[PlayerId, Watched] = {}
        self._bell = asyncio.Event()

    @contextmanager
    def watching(self, player_id: PlayerId) -> Iterator[Watched]:
        """Have somebody watched in the block."""
        watched = self._watched.setdefault(player_id, Watched())
        watched.watchers += 1
        self._bell.set()
        try:
            yield watched
        finally:
            watched.watchers -= 1
            if not watched.watchers:
                del self._watched[player_id]

    def ring(self) -> None:
        """Have it look at once: something was granted."""
        self._bell.set()

    async def run(self) -> None:
        """Look, for as long as the service runs."""
        while True:
            self._bell.clear()
            await self._look()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_s if self._watched else None):
                    await self._bell.wait()

    async def _look(self) -> None:
        known = {player_id: watched.sequence for player_id, watched in self._watched.items()}
        if not known:
            return
        for player_id, sequence in await self._profiles.moved(known):
            watched = self._watched.get(player_id)
            if watched is not None:
                watched.reach(sequence)
