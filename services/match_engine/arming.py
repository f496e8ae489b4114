"""Tells the timer service which deadlines are open, soon after they were made (T2).

The timer is a memory that may be lost, and play never waits for it. While it is away nothing is
kept for it: whatever is loaded is told when the stream to it opens again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, NoReturn, TypeAlias

import grpc

from libs.chassis.channels import Channel
from libs.chassis.together import end
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.match import Match
from libs.telemetry import logs, metrics, names
from libs.wire.record import StoredRecord
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.match_engine.live import LiveMatch

UNANSWERED_MAX: Final = 16
"""How many batches the timer may owe an answer for, and how many matches one may hold."""
MATCHES_MAX: Final = 1_000

DEADLINES_MAX: Final = 2_000
"""How many deadlines a batch holds, about: 100 KiB of them, well below what the timer reads."""

PATIENCE_S: Final = 5.0
"""How long a batch may go unanswered before the stream is taken for dead (start)."""

LINGER_S: Final = 0.1
"""How long deadlines wait for company (start): a message and its answer cost as much as a decision,
and none is due within seconds."""

_DELAY_S: Final = 0.1
_DELAY_MAX_S: Final = 2.0

_log: Final = logs.get()
_UNTOLD: Final = metrics.gauge(names.ARMING_UNTOLD)

Deadlines = tuple[tuple[str, int], ...]
"""The open deadlines of a match in the order in which they fire: each its name and when, in ms."""

_Stream: TypeAlias = "grpc.aio.StreamStreamCall[pb.ArmRequest, pb.ArmResponse]"


class Arming:
    """The listener that arms deadlines, over one stream that it keeps while it runs."""

    def __init__(
        self,
        timer: Channel,
        loaded: Callable[[], Iterable[LiveMatch]],
        *,
        patience_s: float = PATIENCE_S,
        linger_s: float = LINGER_S,
    ) -> None:
        """Arm at *timer*, not to be closed before `run` has ended; *loaded* is what is in memory.

        The channel is best one that does not try again by itself. A batch that is not answered
        within *patience_s* seconds ends the stream, and another begins. What is to be told waits
        *linger_s* seconds for company.
        """
        self._stub = pb_grpc.TimerServiceStub(timer)
        self._loaded = loaded
        self._patience_s = patience_s
        self._linger_s = linger_s
        # As of which sequence, and what.
        self._told: dict[MatchId, tuple[int, Deadlines]] = {}
        # By match, the latest alone: however slow the timer is, it never grows past that.
        self._waiting: dict[MatchId, pb.ArmRequest.ArmedMatch] = {}
        # The number of each batch, and when its answer is overdue by the clock of the loop.
        self._unanswered: deque[tuple[int, float]] = deque()
        self._something = asyncio.Event()
        self._is_open = False

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:  # noqa: ARG002 - a listener's
        """Have the match's deadlines told, if its last record changed them."""
        self.tell(live)

    def dropped(self, match_id: MatchId, reason: Reason) -> None:  # noqa: ARG002 - a listener's
        """Forget what was told of a match that left this memory. What is armed stays armed."""
        self._told.pop(match_id, None)

    def tell(self, live: LiveMatch) -> None:
        """Have the match's deadlines told, unless they were told as they are. Never waits."""
        if not self._is_open:
            return
        match_id, sequence = live.match_id, live.chain.last_seq
        told_to, told = self._told.get(match_id, (0, None))
        if told_to == sequence:
            return
        deadlines = _deadlines(live.match)
        self._told[match_id] = sequence, deadlines
        if deadlines == told:
            return
        # Taken out first, so that it waits behind those that were changed before it.
        self._waiting.pop(match_id, None)
        self._waiting[match_id] = _armed(match_id, sequence, deadlines)
        self._something.set()

    async def run(self) -> NoReturn:
        """Keep the stream to the timer, however often and however long that is away."""
        attempt = 0
        while True:
            try:
                await self._keep_stream()
            except grpc.aio.AioRpcError as error:
                why = error.code().name
            except TimeoutError:
                why = "no_answer"
            else:
                why = "ended"
            attempt = 1 if self._is_open else attempt + 1
            self._close()
            if attempt == 1:
                _log.warning("arm_stream_lost", reason=why)
            await asyncio.sleep(min(_DELAY_S * 2.0 ** min(attempt - 1, 16), _DELAY_MAX_S))

    async def _keep_stream(self) -> None:
        """Open the stream, tell all that is loaded, then what changes; returns when it ends."""
        stream = self._stub.Arm()
        # Whatever takes too long is found out here, since this waits for every answer.
        async with asyncio.timeout(self._patience_s) as patience:
            writing = asyncio.create_task(self._write(stream, patience))
            try:
                while isinstance(answer := await stream.read(), pb.ArmResponse):
                    if not self._is_open:
                        self._open()
                    self._take(answer, patience)
            finally:
                stream.cancel()
                await end(writing)

    def _open(self) -> None:
        self._is_open = True
        _log.info("arm_stream_opened")
        for live in self._loaded():
            self.tell(live)

    def _close(self) -> None:
        """Forget all that was told or waits: the next stream begins with what is loaded then."""
        self._is_open = False
        self._told.clear()
        self._waiting.clear()
        self._unanswered.clear()
        self._something.clear()
        _UNTOLD.set(0)

    async def _write(self, stream: _Stream, patience: asyncio.Timeout) -> None:
        # An empty batch first, so that a timer that is away costs no more than this.
        request = pb.ArmRequest(batch=1)
        # A stream that is over ends this too: why, whoever reads it knows.
        with suppress(asyncio.InvalidStateError, grpc.RpcError):
            while True:
                await stream.write(request)
                while not self._waiting or len(self._unanswered) >= UNANSWERED_MAX:
                    self._something.clear()
                    await self._something.wait()
                await asyncio.sleep(self._linger_s)
                request = pb.ArmRequest(batch=request.batch + 1, matches=self._next())
                overdue_s = asyncio.get_running_loop().time() + self._patience_s
                if not self._unanswered:
                    patience.reschedule(overdue_s)
                self._unanswered.append((request.batch, overdue_s))

    def _next(self) -> list[pb.ArmRequest.ArmedMatch]:
        """Take out what one batch holds, the longest waiting first."""
        matches: list[pb.ArmRequest.ArmedMatch] = []
        deadlines = 0
        while self._waiting and len(matches) < MATCHES_MAX and deadlines < DEADLINES_MAX:
            match = self._waiting.pop(next(iter(self._waiting)))
            matches.append(match)
            deadlines += len(match.deadlines)
        _UNTOLD.set(len(self._waiting))
        return matches

    def _take(self, answer: pb.ArmResponse, patience: asyncio.Timeout) -> None:
        unanswered = self._unanswered
        while unanswered and unanswered[0][0] <= answer.batch:
            unanswered.popleft()
        patience.reschedule(unanswered[0][1] if unanswered else None)
        self._something.set()


def _deadlines(match: Match) -> Deadlines:
    """Return what may be fired: nothing while the match is frozen, since its clocks stand (T8)."""
    if match.frozen_at >= 0:
        return ()
    return tuple((deadline.deadline_id, fires_at(deadline)) for deadline in open_deadlines(match))


def _armed(match_id: MatchId, sequence: int, deadlines: Deadlines) -> pb.ArmRequest.ArmedMatch:
    return pb.ArmRequest.ArmedMatch(
        match_id=match_id,
        sequence=sequence,
        deadlines=[pb.ArmRequest.Deadline(deadline_id=d, fire_ms=ms) for d, ms in deadlines],
    )
