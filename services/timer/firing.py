"""Fires what is due, at whoever owns its match, until it is done or stale (write protocol, T3)."""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NoReturn

from libs.chassis.engines import Engines
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.telemetry import metrics, names
from opolyx.match.v1 import match_service_pb2 as pb
from services.timer.armed import Armed, Shot, Told
from services.timer.lane import PATIENCE_S, Lane

TICK_S: Final = 0.1
"""How long the loop sleeps at most: so soon it sees that the clock was set, or an engine is new."""

BACKOFF_MS: Final = 100
BACKOFF_MAX_MS: Final = 5_000
"""After how long a deadline is fired again of which nothing was heard, at first and at most, give
or take a half (start)."""

REST_MS: Final = 30_000
"""After how long one is fired again that nothing but an operator can set going (start)."""

BUSY_MS: Final = 50
"""How long one waits whose engine's stream is full, or has just broken."""

UNOWNED_MS: Final = 250
"""How long one waits whose match nobody is known to own."""

_RESTING: Final = frozenset(
    {Reason.MATCH_FROZEN, Reason.MATCH_QUARANTINED, Reason.INVALID_REQUEST, Reason.NOT_ALLOWED}
)
_LATENESS: Final = metrics.histogram(names.TIMER_FIRE_LATENESS)
_FIRES: Final = metrics.counter(names.TIMER_FIRES)
_ARMED: Final = metrics.gauge(names.TIMER_ARMED)

Answer = pb.FireDeadlineResponse


class Firing:
    """The deadlines of all matches, and the loop that fires them."""

    def __init__(
        self,
        engines: Engines,
        clock: Clock,
        *,
        patience_s: float = PATIENCE_S,
        tick_s: float = TICK_S,
    ) -> None:
        """Fire by *clock* at the *engines*, which must be open while `run` runs.

        Whatever is not answered within *patience_s* seconds is fired again, on another stream. The
        clock is looked at every *tick_s* seconds at least.
        """
        self._engines = engines
        self._clock = clock
        self._patience_s = patience_s
        self._tick_s = tick_s
        self._armed = Armed()
        self._lanes: dict[str, tuple[Lane, asyncio.Task[NoReturn]]] = {}
        self._wake = asyncio.Event()

    def arm(self, match_id: MatchId, sequence: int, deadlines: Sequence[Told]) -> None:
        """Take what the owner of a match says is open as of *sequence*; see `Armed.arm`."""
        self._armed.arm(match_id, sequence, deadlines)
        self._wake.set()

    def learn(self, match_id: MatchId, sequence: int, deadlines: Sequence[Told]) -> None:
        """Take what the records of a match say; see `Armed.learn`."""
        self._armed.learn(match_id, sequence, deadlines, self._clock.now_ms())
        self._wake.set()

    async def run(self) -> NoReturn:
        """Fire until cancelled. Engines may come and go, or be away."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                self._keep_lanes(group)
                self._fire_due()
                _ARMED.set(len(self._armed))
                await self._sleep()

    async def _sleep(self) -> None:
        next_ms = self._armed.next_ms()
        left_s = self._tick_s
        if next_ms is not None:
            left_s = min(max(next_ms - self._clock.now_ms(), 0) / 1000, self._tick_s)
        try:
            async with asyncio.timeout(left_s):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _keep_lanes(self, group: asyncio.TaskGroup) -> None:
        """Have one lane to each engine that serves something."""
        known = set(self._engines.addresses())
        for address in known - self._lanes.keys():
            channel = self._engines.channel(address)
            lane = Lane(channel, address, self._answered, patience_s=self._patience_s)
            self._lanes[address] = lane, group.create_task(lane.run())
        for address in self._lanes.keys() - known:
            self._lanes.pop(address)[1].cancel()

    def _fire_due(self) -> None:
        now_ms = self._clock.now_ms()
        # Each of these either goes out or is put back for later, so the loop ends.
        while due := self._armed.take_due(now_ms, count=256):
            for shot in due:
                owner = self._engines.owner(shot.match_id)
                if owner not in self._lanes:
                    self._armed.put_back(shot, now_ms + UNOWNED_MS)
                elif not self._lanes[owner][0].fire(shot):
                    self._armed.put_back(shot, now_ms + BUSY_MS)

    def _answered(self, shot: Shot, answer: pb.FireResponse | None) -> None:
        """Take the answer to a shot; None if there will be none."""
        self._wake.set()
        match answer.WhichOneof("answer") if answer is not None else None:
            case "fired":
                assert answer is not None
                self._fired(shot, answer.fired)
            case "refused":
                assert answer is not None
                _FIRES.labels("refused").inc()
                self._refused(shot, answer.refused.reason, answer.refused.retry_after_ms)
            case _:
                _FIRES.labels("lost").inc()
                self._again(shot)

    def _fired(self, shot: Shot, fired: pb.FireDeadlineResponse) -> None:
        match fired.outcome:
            case Answer.OUTCOME_DONE:
                _FIRES.labels("done").inc()
                _LATENESS.observe(max(self._clock.now_ms() - shot.fire_ms, 0) / 1000)
                self._armed.forget(shot)
            case Answer.OUTCOME_STALE:
                _FIRES.labels("stale").inc()
                self._armed.forget(shot)
            case Answer.OUTCOME_NOT_DUE:
                _FIRES.labels("not_due").inc()
                self._not_due(shot, fired.due_ms)
            case _:  # an outcome that is newer than this release
                self._again(shot)

    def _not_due(self, shot: Shot, due_ms: int) -> None:
        if due_ms > self._clock.now_ms():
            shot.attempts = 0
            self._armed.put_off(shot, due_ms)
        else:
            # By the engine's clock, which decides, it is still earlier than by ours (T7).
            self._again(shot)

    def _refused(self, shot: Shot, reason: str, retry_after_ms: int) -> None:
        if reason == Reason.MATCH_NOT_FOUND:
            self._armed.forget_match(shot.match_id)
        elif reason in _RESTING:
            self._armed.put_back(shot, self._clock.now_ms() + REST_MS)
        else:
            self._again(shot, at_least_ms=retry_after_ms)

    def _again(self, shot: Shot, at_least_ms: int = 0) -> None:
        wait_ms = max(backoff_ms(shot), at_least_ms)
        shot.attempts += 1
        self._armed.put_back(shot, self._clock.now_ms() + wait_ms)


def backoff_ms(shot: Shot) -> int:
    """Return how long a shot waits: ever longer, and not all shots equally long.

    What spreads them is a hash, so that nothing here is left to chance.
    """
    longest_ms = min(BACKOFF_MS << min(shot.attempts, 16), BACKOFF_MAX_MS)
    name = f"{shot.match_id} {shot.deadline_id} {shot.attempts}"
    spread = int.from_bytes(sha256(name.encode()).digest()[:2], "big")
    return longest_ms // 2 + longest_ms * spread // 0xFFFF
