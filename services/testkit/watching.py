"""Hears of all that happens at an engine, so that time can be let pass step by step."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.match import Match
from libs.wire.record import StoredRecord
from services.match_engine.live import LiveMatch

BOTS_S: Final = 5.0
"""How long bots may have nothing to say, before time passes all the same."""


class Watcher:
    """A listener of an engine: the matches that go on, as each was left by its last record."""

    def __init__(self) -> None:
        self._going_on: dict[MatchId, Match] = {}
        self._bell = asyncio.Event()

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:  # noqa: ARG002 - a listener's
        """Take note of a match as it is now. See `Listener.committed`."""
        self.see(live.match_id, live.match)

    def dropped(self, match_id: MatchId, reason: Reason) -> None:
        """Keep what is known: the match goes on. See `Listener.dropped`."""

    def see(self, match_id: MatchId, match: Match) -> None:
        """Take note of a match as it is now."""
        self._going_on[match_id] = match
        if match.phase == phases.ENDED:
            del self._going_on[match_id]
        rung, self._bell = self._bell, asyncio.Event()
        rung.set()

    def next_due(self) -> tuple[int, str] | None:
        """Return when the first of all deadlines is fired, and what it is called."""
        return min(
            (
                (fires_at(deadline), f"{deadline.deadline_id} of match {match_id}")
                for match_id, match in self._going_on.items()
                if match.frozen_at < 0
                for deadline in open_deadlines(match)
            ),
            default=None,
        )

    def due(self, now_ms: int) -> list[Match]:
        """Return the matches in which something is due."""
        return [
            match
            for match in self._going_on.values()
            if match.frozen_at < 0
            and any(fires_at(deadline) <= now_ms for deadline in open_deadlines(match))
        ]

    def waits_for_bots(self) -> bool:
        """Tell whether anything waits for a bot's decision."""
        return any(
            match.specs[seat].kind == e.BOT
            for match in self._going_on.values()
            if match.frozen_at < 0
            for seat in [*match.pending_seats(), *(offer.receiver for offer in match.offers)]
        )

    async def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Return whether a condition on what is known came to hold in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not condition():
                    await self._bell.wait()
        return condition()

    async def bots_done(self) -> None:
        """Wait until no bot has anything to decide, or none of them has done so for a while."""
        while self.waits_for_bots():
            bell = self._bell
            try:
                async with asyncio.timeout(BOTS_S):
                    await bell.wait()
            except TimeoutError:
                return
