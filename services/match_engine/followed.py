"""One match on one Follow stream: what waits to be sent of it, and how far that goes."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from libs.chassis.status import refused
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.match.v1 import refused_pb2
from services.match_engine.pushes import Pushed
from services.match_engine.telling import refusal_message

WAITING_MAX: Final = 64
"""How many records of a match may wait for credit before its reader is too slow."""


class Frame(NamedTuple):
    """A `FollowResponse` in bytes; records take credit."""

    data: bytes
    is_record: bool


class Followed:
    """A match that is followed, from `Start` to `Stopped`. A `Follower`.

    It begins behind: whoever catches up hands over records until it `join`s what is live, which it
    can do since nothing happens between looking at the live records and joining.

    Attributes:
        match_id: the match.
        position: the last sequence that was sent or waits.
        head_seq: of the last record that is known of, once there is one.
        is_live: whether records come as they are committed.
        is_moved: whether the head has moved since the last sign of life.

    """

    def __init__(
        self,
        match_id: MatchId,
        position: int,
        *,
        changed: Callable[["Followed"], None],
        fell_behind: Callable[["Followed"], None],
    ) -> None:
        """Begin after *position*.

        *changed* is called when there is something to send, be it the attendance; *fell_behind*
        when records were missed and must be caught up with.
        """
        self.match_id = match_id
        self.position = position
        self.head_seq = 0
        self.is_live = False
        self.is_moved = False
        self.is_attendance_due = False
        self._changed = changed
        self._fell_behind = fell_behind
        self._frames: deque[Frame] = deque()
        self._records_waiting = 0
        self._is_started = False
        self._is_announced = False
        self._is_stopped = False
        self._sent = asyncio.Event()
        self._sent.set()

    # What happens to the match.

    def committed(self, record: Pushed) -> None:
        """See `Follower.committed`."""
        self.head_seq = record.last_seq
        self.is_moved = True
        if not self.is_live or record.last_seq <= self.position:
            return  # whoever catches up finds it in the store, or it was sent already
        if record.first_seq != self.position + 1:
            self.is_live = False
            self._fell_behind(self)
            return
        self.hand_over(record)

    def dropped(self, reason: Reason) -> None:
        """See `Follower.dropped`."""
        self.stop(refusal_message(refused(reason)))

    def attended(self) -> None:
        """See `Follower.attended`."""
        if self._is_started and not self._is_stopped:
            self.is_attendance_due = True
            self._changed(self)

    # What whoever catches up says.

    @property
    def is_started(self) -> bool:
        """Whether it was said where its records begin."""
        return self._is_started

    @property
    def is_stopped(self) -> bool:
        """Whether it is followed no longer, though that may still have to be sent."""
        return self._is_stopped

    def start(self, started: pb.FollowResponse.Started) -> None:
        """Say where the records begin, which is the end of a record."""
        assert not self._is_started, self.match_id
        assert not self._is_stopped, self.match_id
        self.position = started.sequence
        self.head_seq = started.head_sequence
        self._is_started = True
        self._say(pb.FollowResponse(started=started))
        self.attended()

    def hand_over(self, record: Pushed) -> None:
        """Have the next record sent when there is credit for it; too many that wait are the end."""
        if self._is_stopped:
            return
        assert record.first_seq == self.position + 1, (record.first_seq, self.position)
        self.position = record.last_seq
        self._frames.append(Frame(record.frame, is_record=True))
        self._records_waiting += 1
        self._sent.clear()
        if self._records_waiting >= WAITING_MAX:
            self.stop(refusal_message(refused(Reason.SLOW_READER)))
        elif record.is_last:
            self.finish()
        else:
            self._changed(self)

    def join(self) -> None:
        """Take records as they are committed from now on."""
        self.is_live = True

    def finish(self) -> None:
        """Say that the match is over, behind all that waits."""
        if not self._is_stopped:
            self._stop(refusal_message(refused(Reason.MATCH_ENDED)))

    def stop(self, refusal: refused_pb2.Refused) -> None:
        """Follow the match no longer, and say why; what waits is not sent."""
        if not self._is_stopped:
            self._frames.clear()
            self._records_waiting = 0
            self._stop(refusal)

    async def sent(self) -> None:
        """Wait until no record waits."""
        await self._sent.wait()

    # What the stream takes.

    @property
    def is_attendance_next(self) -> bool:
        """Whether it is to be said who is there, which comes after where the records begin."""
        return self.is_attendance_due and self._is_announced

    @property
    def is_over(self) -> bool:
        """Whether all has been sent, `Stopped` too."""
        return self._is_stopped and not self._frames

    @property
    def has_frame(self) -> bool:
        """Whether something waits."""
        return bool(self._frames)

    @property
    def waits_for_credit(self) -> bool:
        """Whether a record is next."""
        return bool(self._frames) and self._frames[0].is_record and not self.is_attendance_next

    @property
    def is_caught_up(self) -> bool:
        """Whether all that has happened has been sent."""
        return self.is_live and not self._frames

    def take(self) -> Frame:
        """Return the next frame, to be sent."""
        frame = self._frames.popleft()
        self._is_announced = True  # what comes first says where the records begin
        if frame.is_record:
            self._records_waiting -= 1
            if not self._records_waiting:
                self._sent.set()
        return frame

    def _say(self, frame: pb.FollowResponse) -> None:
        self._frames.append(Frame(frame.SerializeToString(), is_record=False))

    def _stop(self, refusal: refused_pb2.Refused) -> None:
        stopped = pb.FollowResponse.Stopped(match_id=self.match_id, refused=refusal)
        self._say(pb.FollowResponse(stopped=stopped))
        self._is_stopped = True
        self.is_live = self.is_attendance_due = False
        self._sent.set()
        self._changed(self)
