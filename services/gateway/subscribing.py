"""One client's stream of a match: what is still to be sent to it, within bounds."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from libs.chassis.status import RefusedError, refused
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.wire.limits import LimitName
from libs.wire.refusals import tell
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import stream_pb2
from opolyx.record.v1 import stored_record_pb2 as record_pb

NEWS: Final = "snapshot record heartbeat presence go_away".split()
"""What `WatchMatch` tells. `PlayMatch` tells it in the same bytes, so one encoding serves both."""

assert all(
    pb.WatchMatchResponse.DESCRIPTOR.fields_by_name[name].number
    == pb.PlayMatchResponse.DESCRIPTOR.fields_by_name[name].number
    for name in NEWS
), "a piece of news has one number"


class Told(NamedTuple):
    """A record as it is sent, encoded once for all.

    Attributes:
        first_seq, last_seq: of its events.
        prev_hash: the hash of the chain before it.
        data: the response that holds it.

    """

    first_seq: int
    last_seq: int
    prev_hash: bytes
    data: bytes


class Farewell(NamedTuple):
    """Why a stream ends.

    Attributes:
        reason: as the last message names it; empty for a bug, of which nothing is said.
        text: the same as a sentence.
        error: what the stream's status is made of; None for OK.

    """

    reason: str
    text: str
    error: Exception | None = None


_RESULT: Final = -1
"""Stands for the sequence where what is queued is the result of a command."""


class Subscriber:
    """A queue between a match, which never waits, and a client, which may be slow.

    What became of a command is told even if the stream has to end: its sender may have no other way
    to learn of it. Records are not, since a client resumes from what it has.

    Attributes:
        position: the sequence up to which records have come in.
        farewell: why the stream ends; None while it goes on.

    """

    def __init__(self, queue_max: int) -> None:
        """Hold *queue_max* messages; one more, and the client is cut off."""
        self._queue_max = queue_max
        self._queue: deque[tuple[bytes, int]] = deque()
        self._bell = asyncio.Event()
        self._on_close: Callable[[], None] = lambda: None
        self._presence = b""
        self.position = 0
        self.farewell: Farewell | None = None

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is to be sent but the last word."""
        return self.farewell is not None and self.farewell.error is not None

    def on_close(self, call: Callable[[], None]) -> None:
        """Have *call* called when nothing more is to be sent, for whoever is sending just then."""
        self._on_close = call

    def offer(self, told: Told) -> None:
        """Queue a record, unless it has come already (R1)."""
        if told.last_seq > self.position:
            self.position = told.last_seq
            self._push(told.data, told.last_seq)

    def answer(self, result: bytes) -> None:
        """Queue the result of a command."""
        self._push(result, _RESULT)

    def attended(self, presence: bytes) -> None:
        """Queue who is there, unless that was told last."""
        if presence != self._presence:
            self._presence = presence
            self._push(presence, 0)

    def end(self) -> None:
        """End the stream well, once all that is queued has been sent: the match is over."""
        if self.farewell is None:
            told = tell(Refusal(Reason.MATCH_ENDED, "", {}))
            self.farewell = Farewell(told.reason, told.text)
            self._bell.set()

    def close(self, error: RefusedError) -> None:
        """End the stream at once: a client resumes from what it has."""
        self._close(Farewell(error.told.reason, error.told.text, error))

    def fail(self, error: Exception) -> None:
        """End the stream by a bug."""
        self._close(Farewell("", "", error))

    def pop(self) -> tuple[bytes, int] | None:
        """Return the next message, with the sequence of the record that it is, below 1 for none.

        Once the stream is closed, that is the next result which is still to be told.
        """
        return self._queue.popleft() if self._queue else None

    def nudge(self) -> None:
        """Wake whoever waits for the bell, though there is nothing to do."""
        self._bell.set()

    async def ring(self) -> bool:
        """Return as soon as there is something to do; False after a nudge, if there is nothing."""
        if self._queue or self.farewell is not None:
            return True
        self._bell.clear()
        await self._bell.wait()
        return bool(self._queue) or self.farewell is not None

    def _push(self, data: bytes, last_seq: int) -> None:
        if not self.is_closed and len(self._queue) >= self._queue_max:
            self.close(refused(Reason.SLOW_READER, limit=LimitName.QUEUE))
        if self.is_closed and last_seq != _RESULT:
            return
        self._queue.append((data, last_seq))
        self._bell.set()

    def _close(self, farewell: Farewell) -> None:
        if not self.is_closed:
            self.farewell = farewell
            self._queue = deque(queued for queued in self._queue if queued[1] == _RESULT)
            self._bell.set()
            self._on_close()


def record_news(record: record_pb.StoredRecord) -> bytes:
    """Encode a record for clients. Its bytes are those that were stored."""
    return pb.WatchMatchResponse(record=record).SerializeToString()


def presence_news(seats: list[int], spectators: int) -> bytes:
    """Encode who is there."""
    presence = stream_pb2.Presence(connected_seats=seats, spectators=spectators)
    return pb.WatchMatchResponse(presence=presence).SerializeToString()
