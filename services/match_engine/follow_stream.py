"""One Follow stream: a gateway's credits, the matches that it follows, and the records out."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from libs.chassis.status import refused
from libs.chassis.together import cancel_all, first_of
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import shard_of
from libs.wire.requests import Checks, MalformedError, Violation
from opolyx.engine.v1 import engine_service_pb2 as pb
from services.match_engine.catching_up import CatchUp
from services.match_engine.followed import Followed
from services.match_engine.pulses import Pulses
from services.match_engine.pushes import Pushes
from services.match_engine.telling import error_message

Send = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Following:
    """What all Follow streams of an engine share; *owns* tells whether a shard is ours."""

    pushes: Pushes
    catch_up: CatchUp
    owns: Callable[[int], bool]
    clock: Clock
    pulse_s: float


class FollowStream:
    """What one gateway follows. Everything that it is sent goes through one task, `_write`."""

    def __init__(self, shared: Following) -> None:
        self._shared = shared
        self._credit = 0
        self._followed: dict[MatchId, Followed] = {}
        self._catching_up: dict[Followed, asyncio.Task[None]] = {}
        self._attended: set[MatchId] = set()
        # Those with something to send that may be sent, and those that wait for credit, each in
        # the order of their turns: one busy match holds up no other.
        self._ready: deque[Followed] = deque()
        self._starved: deque[Followed] = deque()
        self._queued: set[Followed] = set()
        self._pulses = Pulses(shared.pulse_s, self._wake)
        self._something = asyncio.Event()
        self._leaving: Reason | None = None
        self._has_left = False

    def leave(self, reason: Reason) -> None:
        """Say that the engine stops, and end."""
        self._leaving = self._leaving or reason
        self._wake()

    async def run(self, frames: AsyncIterator[pb.FollowRequest], send: Send) -> None:
        """Serve the stream until the gateway ends it, or is lost.

        Raises:
            RefusedError: GOING_AWAY, the engine stops, or has not heard from the gateway.
            MalformedError: a frame makes no sense.

        """
        try:
            await first_of(self._read(frames), self._pulses.run(), self._write(send))
        finally:
            for match_id, followed in self._followed.items():
                self._shared.pushes.unfollow(match_id, followed)
            for match_id in self._attended:
                self._shared.pushes.attend(match_id, self, (), 0)
            await cancel_all(self._catching_up.values())

    # In.

    async def _read(self, frames: AsyncIterator[pb.FollowRequest]) -> None:
        async for frame in frames:
            self._pulses.heard()
            match frame.WhichOneof("frame"):
                case "start":
                    self._start(frame.start)
                case "stop":
                    self._stop(MatchId(frame.stop.match_id))
                case "attendance":
                    self._attend(frame.attendance)
                case "credit":
                    self._grant(frame.credit.more)
                case "pulse" | None:
                    pass  # to have been heard is all; a frame that is newer than we are is none

    def _start(self, start: pb.FollowRequest.Start) -> None:
        """Follow a match, anew if it is followed already."""
        match_id = MatchId(start.match_id)
        self._forget(match_id)
        followed = Followed(
            match_id, start.after_sequence, changed=self._queue, fell_behind=self._catch_up
        )
        self._followed[match_id] = followed
        self._shared.pushes.follow(match_id, followed)
        self._catch_up(followed)

    def _stop(self, match_id: MatchId) -> None:
        self._forget(match_id)
        if match_id in self._attended:
            self._attended.discard(match_id)
            self._shared.pushes.attend(match_id, self, (), 0)

    def _attend(self, attendance: pb.Attendance) -> None:
        """Note who is connected to a match by this gateway, for as long as it follows it."""
        match_id, spectators = MatchId(attendance.match_id), max(attendance.spectators, 0)
        if match_id in self._followed:
            self._attended.add(match_id)
            self._shared.pushes.attend(match_id, self, attendance.seats, spectators)

    def _grant(self, more: int) -> None:
        if more < 0:
            raise MalformedError([Violation("credit.more", "must be 0 or more")])
        self._credit += more
        self._ready.extend(self._starved)
        self._starved.clear()
        self._wake()

    # Behind.

    def _catch_up(self, followed: Followed) -> None:
        task = asyncio.create_task(self._bring(followed))
        self._catching_up[followed] = task
        task.add_done_callback(lambda _: self._caught_up(followed, task))

    async def _bring(self, followed: Followed) -> None:
        try:
            checks = Checks()
            checks.uuid("start.match_id", followed.match_id)
            checks.least("start.after_sequence", followed.position, 0)
            checks.finish()
            await self._shared.catch_up.bring(followed)
        except Exception as error:  # noqa: BLE001 - one match's bug must not end all others
            followed.stop(error_message(error))

    def _caught_up(self, followed: Followed, task: asyncio.Task[None]) -> None:
        if self._catching_up.get(followed) is task:
            del self._catching_up[followed]

    # Out.

    def _wake(self) -> None:
        self._something.set()

    def _queue(self, followed: Followed) -> None:
        """Give a match its turn, if it has none yet."""
        if self._followed.get(followed.match_id) is not followed:
            return
        if followed not in self._queued:
            self._queued.add(followed)
            self._ready.append(followed)
        elif not followed.waits_for_credit and followed in self._starved:
            self._starved.remove(followed)
            self._ready.append(followed)
        self._wake()

    def _forget(self, match_id: MatchId) -> None:
        followed = self._followed.pop(match_id, None)
        if followed is None:
            return
        self._shared.pushes.unfollow(match_id, followed)
        if (task := self._catching_up.pop(followed, None)) is not None:
            task.cancel()
        if followed in self._queued:
            self._queued.discard(followed)
            for turns in (self._ready, self._starved):
                if followed in turns:
                    turns.remove(followed)

    async def _write(self, send: Send) -> None:
        while True:
            frame = self._next()
            if frame is not None:
                await send(frame)
                continue
            self._something.clear()
            await self._something.wait()

    def _next(self) -> bytes | None:
        """Return the next frame, None if there is none.

        Raises:
            RefusedError: GOING_AWAY, after the last one.

        """
        if self._leaving is not None:
            return self._farewell()
        if self._pulses.take_due():
            return self._heads()
        while self._ready:
            followed = self._ready.popleft()
            if (frame := self._turn(followed)) is not None:
                return frame
        return None

    def _farewell(self) -> bytes:
        assert self._leaving is not None
        if self._has_left:
            raise refused(Reason.GOING_AWAY)
        self._has_left = True
        return pb.FollowResponse(leave=pb.Leave(reason=self._leaving)).SerializeToString()

    def _turn(self, followed: Followed) -> bytes | None:
        """Let a match send one frame, and give it its next turn, if it wants one."""
        if followed.is_attendance_next:
            followed.is_attendance_due = False
            self._ready.appendleft(followed)
            return self._attendance(followed.match_id)
        if not followed.has_frame:
            self._queued.discard(followed)
            return None
        if followed.waits_for_credit and not self._credit:
            self._starved.append(followed)
            return None
        frame = followed.take()
        self._credit -= frame.is_record
        self._ready.append(followed)
        if followed.is_over:
            self._stop(followed.match_id)
        return frame.data

    def _attendance(self, match_id: MatchId) -> bytes:
        seats, spectators = self._shared.pushes.attendance(match_id)
        present = pb.Attendance(match_id=match_id, seats=seats, spectators=spectators)
        return pb.FollowResponse(attendance=present).SerializeToString()

    def _heads(self) -> bytes:
        """Give a sign of life, with the heads of those that have moved and have been told all."""
        heads = []
        for followed in self._followed.values():
            if followed.is_started and not self._shared.owns(shard_of(followed.match_id)):
                # Nobody tells of a match that was not in memory when its shard was lost.
                followed.dropped(Reason.NOT_OWNER_OF_SHARD)
            elif followed.is_moved and followed.is_caught_up:
                followed.is_moved = False
                head = pb.FollowResponse.Head(
                    match_id=followed.match_id, sequence=followed.head_seq
                )
                heads.append(head)
        beat = pb.FollowResponse.Heads(server_time_ms=self._shared.clock.now_ms(), heads=heads)
        return pb.FollowResponse(heads=beat).SerializeToString()
