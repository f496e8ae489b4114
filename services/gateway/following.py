"""Records on their way from the engines: one `Follow` stream for each, for all that is watched."""

import asyncio
from typing import Final, Protocol

from libs.chassis.background import Background
from libs.chassis.channels import Channel
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import engine_service_pb2_grpc as pb_grpc
from opolyx.match.v1 import refused_pb2
from opolyx.record.v1 import stored_record_pb2 as record_pb
from services.gateway.upstream import Upstream

CREDIT: Final = 512
"""How many records an engine may have on their way to one gateway (start)."""

_GIVEN_BACK_AT: Final = CREDIT // 8

Attendance = pb.Attendance


class Follower(Protocol):
    """A match that is followed. Nothing here waits."""

    @property
    def match_id(self) -> MatchId:
        """The match."""
        ...

    @property
    def last_seq(self) -> int:
        """The sequence of the last record that it has."""
        ...

    @property
    def attendance(self) -> Attendance:
        """Who watches it through this gateway."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether nothing more of it is wanted."""
        ...

    def started(self, started: pb.FollowResponse.Started) -> None:
        """Hear that its records come now."""
        ...

    def take(self, record: record_pb.StoredRecord, *, is_last: bool) -> bool:
        """Take the next record; False if it is not the one, and all must be told anew (R1)."""
        ...

    def attended(self, attendance: Attendance) -> None:
        """Hear who is there, through all gateways."""
        ...

    def head(self, sequence: int) -> None:
        """Hear how far the match is."""
        ...

    def has_lost(self) -> bool:
        """Tell, once a pulse, whether records that must have come have not (R1)."""
        ...


class EngineTime:
    """What time it is where matches are decided: the engines', as last heard."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead_ms = 0

    def hear(self, engine_ms: int) -> None:
        """Take note of what an engine says."""
        self._ahead_ms = engine_ms - self._clock.now_ms()

    def now_ms(self) -> int:
        """Return the time now, in milliseconds since 1970 UTC."""
        return self._clock.now_ms() + self._ahead_ms


class Following:
    """The `Follow` streams, one for each engine that has matches which are watched."""

    def __init__(self, tasks: Background, time: EngineTime) -> None:
        """Run the streams as *tasks*."""
        self._tasks = tasks
        self._time = time
        self._streams: dict[Channel, FollowStream] = {}

    def stream(self, channel: Channel) -> "FollowStream":
        """Return the one stream to an engine, opened now if need be."""
        stream = self._streams.get(channel)
        if stream is None or stream.is_over:
            stream = self._streams[channel] = FollowStream(channel, self._time)
            self._tasks.start(stream.run())
        return stream


class FollowStream:
    """One `Follow` stream.

    Attributes:
        is_over: whether nothing more can be followed by it.

    """

    def __init__(self, channel: Channel, time: EngineTime) -> None:
        self._time = time
        stub = pb_grpc.EngineServiceStub(channel)
        self._upstream = Upstream[pb.FollowRequest, pb.FollowResponse](
            stub.Follow, self._pulse, self._take
        )
        self._followed: dict[str, tuple[Follower, asyncio.Future[refused_pb2.Refused]]] = {}
        self._taken = 0
        self.is_over = False

    async def run(self) -> None:
        """Keep the stream; at its end all matches are let go of."""
        self._upstream.send(pb.FollowRequest(credit=pb.Credit(more=CREDIT)))
        try:
            await self._upstream.run()
        finally:
            self._let_go()

    async def follow(self, follower: Follower) -> refused_pb2.Refused:
        """Follow a match from where *follower* is; returns why it is no longer followed."""
        ended: asyncio.Future[refused_pb2.Refused] = asyncio.get_running_loop().create_future()
        match_id = follower.match_id
        self._followed[match_id] = follower, ended
        self._start(follower)
        self.attend(follower)
        try:
            return await ended
        finally:
            if self._followed.get(match_id) == (follower, ended):
                del self._followed[match_id]
            if ended.cancelled():
                self._stop_following(match_id)

    def attend(self, follower: Follower) -> None:
        """Tell the engine who watches a match that is followed."""
        self._upstream.send(pb.FollowRequest(attendance=follower.attendance))

    def _start(self, follower: Follower) -> None:
        start = pb.FollowRequest.Start(match_id=follower.match_id, after_sequence=follower.last_seq)
        self._upstream.send(pb.FollowRequest(start=start))

    def _stop_following(self, match_id: str) -> None:
        stop = pb.FollowRequest.Stop(match_id=match_id)
        self._upstream.send(pb.FollowRequest(stop=stop))

    def _take(self, response: pb.FollowResponse) -> None:
        match response.WhichOneof("frame"):
            case "record":
                self._take_record(response.record)
            case "started":
                if (follower := self._follower(response.started.match_id)) is not None:
                    follower.started(response.started)
                    self._settle(follower)
            case "stopped":
                self._stop(response.stopped)
            case "attendance":
                if (follower := self._follower(response.attendance.match_id)) is not None:
                    follower.attended(response.attendance)
            case "heads":
                self._take_heads(response.heads)
            case "leave":
                self._let_go()
            case _:
                pass  # newer than we are

    def _take_record(self, frame: pb.FollowResponse.RecordFrame) -> None:
        # Nothing queues here: what a subscriber has no room for is its own affair. So the room is
        # given back at once, some of it at a time.
        self._taken += 1
        if self._taken >= _GIVEN_BACK_AT:
            self._upstream.send(pb.FollowRequest(credit=pb.Credit(more=self._taken)))
            self._taken = 0
        follower = self._follower(frame.match_id)
        if follower is not None:
            if not follower.take(frame.record, is_last=frame.last):
                self._start(follower)
            self._settle(follower)

    def _take_heads(self, heads: pb.FollowResponse.Heads) -> None:
        self._time.hear(heads.server_time_ms)
        # First those of the last pulse: what they told of has had a second to come.
        for known, _ in tuple(self._followed.values()):
            if known.has_lost():
                self._start(known)
            self._settle(known)
        for head in heads.heads:
            if (follower := self._follower(head.match_id)) is not None:
                follower.head(head.sequence)

    def _stop(self, stopped: pb.FollowResponse.Stopped) -> None:
        _, ended = self._followed.pop(stopped.match_id, (None, None))
        if ended is not None and not ended.done():
            ended.set_result(stopped.refused)

    def _settle(self, follower: Follower) -> None:
        """Follow a match no longer of which nothing is wanted."""
        if follower.is_finished:
            _, ended = self._followed.pop(follower.match_id)
            ended.set_result(refused_pb2.Refused(reason=Reason.MATCH_ENDED))
            self._stop_following(follower.match_id)

    def _let_go(self) -> None:
        self.is_over = True
        gone = refused_pb2.Refused(reason=Reason.GOING_AWAY)
        for _, ended in self._followed.values():
            if not ended.done():
                ended.set_result(gone)
        self._followed.clear()

    def _follower(self, match_id: str) -> Follower | None:
        follower, _ = self._followed.get(match_id, (None, None))
        return follower

    def _pulse(self) -> pb.FollowRequest:
        return pb.FollowRequest(pulse=pb.Pulse(server_time_ms=self._time.now_ms()))
