"""`WatchMatch`: a snapshot, then records without a gap and without a repeat, and a last word."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import grpc

from libs.chassis.calls import StreamContext
from libs.chassis.faults import refusal_of
from libs.chassis.status import RefusedError, refused
from libs.chassis.watchdog import Watchdog
from libs.kernel.reasons import Reason
from libs.wire.limits import LimitName
from libs.wire.record import chain_hash, open_envelope
from libs.wire.requests import Checks
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.match.v1 import match_pb2, stream_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import stored_record_pb2 as record_pb
from services.gateway.allowed import MATCH_SERVICE
from services.gateway.asking import Asking, MethodOf, method_of
from services.gateway.following import EngineTime
from services.gateway.matches import FollowedMatch, Matches
from services.gateway.settings import GatewaySection
from services.gateway.subscribing import Farewell, Subscriber, record_news

LAST_WORD_S: Final = 0.5
"""How long a client may take to accept the last message."""

PAGE_SIZE: Final = 200
"""How many records of the past are asked for at once, as far as they fit into a page."""

# Quoted, since these are there for types alone.
_GET_MATCH: "Final[MethodOf[pb.GetMatchRequest, match_pb2.Match]]" = method_of(
    MATCH_SERVICE.methods_by_name["GetMatch"], match_pb2.Match.FromString
)
_READ_EVENTS: "Final[MethodOf[pb.ReadEventsRequest, pb.ReadEventsResponse]]" = method_of(
    MATCH_SERVICE.methods_by_name["ReadEvents"], pb.ReadEventsResponse.FromString
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """What the clients' streams share.

    Attributes:
        matches: those that are watched.
        asking: the way to the engines.
        time: theirs.
        settings: the bounds.
        open: every stream that there is.

    """

    matches: Matches
    asking: Asking
    time: EngineTime
    settings: GatewaySection
    open: set[Subscriber] = field(default_factory=set)

    def close(self, error: RefusedError) -> None:
        """End every stream."""
        for subscriber in tuple(self.open):
            subscriber.close(error)


class Watching:
    """One stream, from its opening to its end."""

    def __init__(
        self,
        streams: Streams,
        context: StreamContext,
        caller: Caller,
        match_id: str,
        after_seq: int | None,
    ) -> None:
        """Tell *caller* a match, the records after a sequence or else those that come."""
        self._streams = streams
        self._context = context
        self._caller = caller
        self._match_id = match_id
        self._after_seq = after_seq
        self._match: match_pb2.Match | None = None
        self._sent_seq = 0
        self._sending: asyncio.Timeout | None = None
        self._is_stuck = False
        self._writing = Watchdog(streams.settings.write_timeout_s, self._give_up)
        self.subscriber: Final = Subscriber(streams.settings.queue_max)
        self.subscriber.on_close(self._hurry)

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[FollowedMatch]:
        """Have the match followed, and the caller counted among those who watch it.

        Raises:
            MalformedError: the request cannot be understood.
            grpc.aio.AioRpcError: the engine refuses, or is not there.

        """
        checks = Checks()
        checks.uuid("match_id", self._match_id)
        checks.least("after_sequence", self._after_seq or 0, 0)
        checks.finish()
        self._streams.open.add(self.subscriber)
        self._context.on_end(self.subscriber.close)
        try:
            followed, self._match = await self._find()
            self._streams.matches.enter(followed, self._caller)
            try:
                yield followed
            finally:
                followed.detach(self.subscriber)
                self._streams.matches.leave(followed, self._caller)
        finally:
            self._streams.open.discard(self.subscriber)
            self._writing.close()

    async def tell(
        self, followed: FollowedMatch, before_end: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Send all there is and what comes, and at the end why it ends.

        *before_end* returns when all that belongs on the stream has come, once the match is over.

        Raises:
            RefusedError: why it ends, if not because the match is over.
            grpc.aio.AioRpcError: an engine refuses to show the match, of which nothing was sent.

        """
        await self._send_snapshot(followed)
        try:
            await self._catch_up(followed)
            await self._live(followed)
            if before_end is not None and not self.subscriber.is_closed:
                await before_end()
                await self._live(followed)
        except _EndedError:
            pass  # the subscriber says why
        except RefusedError as error:
            self.subscriber.close(error)
        except grpc.aio.AioRpcError as error:
            refusal = refusal_of(error, {})
            if refusal is None:
                raise
            self.subscriber.close(refusal)
        await self._part()

    # The beginning.

    async def _find(self) -> tuple[FollowedMatch, match_pb2.Match | None]:
        """Return the match that is followed, and what it looks like where that had to be asked."""
        matches, after_seq = self._streams.matches, self._after_seq
        followed = matches.find(self._match_id)
        if (
            followed is not None
            and after_seq is not None
            and after_seq <= followed.last_seq
            and followed.lets_in(self._caller)
        ):
            return followed, None
        request = pb.GetMatchRequest(match_id=self._match_id, min_sequence=after_seq)
        match = await self._streams.asking.owner(_GET_MATCH, request, self._match_id)
        return matches.follow(match), match

    async def _send_snapshot(self, followed: FollowedMatch) -> None:
        match = self._match
        if self._after_seq is not None:
            sequence, chain = await self._beginning(followed, self._after_seq)
            match = None
        else:
            assert match is not None, "it was asked for"
            sequence, chain = match.sequence, match.chain_hash
        self.subscriber.position = self._sent_seq = sequence
        snapshot = stream_pb2.Snapshot(
            server_time_ms=self._streams.time.now_ms(),
            sequence=sequence,
            chain_hash=chain,
            head_sequence=max(followed.head_seq, sequence),
            match=match,
        )
        await self._context.send(pb.WatchMatchResponse(snapshot=snapshot).SerializeToString())

    async def _beginning(self, followed: FollowedMatch, after_seq: int) -> tuple[int, bytes]:
        """Return where the records after a sequence begin, and the hash of the chain there."""
        here = followed.beginning(after_seq)
        if here is not None:
            return here
        if self._match is not None and self._match.sequence == after_seq:
            return after_seq, self._match.chain_hash
        first = (await self._page(after_seq, page_size=1))[0]
        return first.first_seq - 1, open_envelope(first.data).prev_hash

    # The middle.

    async def _catch_up(self, followed: FollowedMatch) -> None:
        """Send the past as fast as the client reads it, until what follows is in memory (R1)."""
        last_hash = b""
        while not followed.attach(self.subscriber):
            for record in await self._page(self._sent_seq, PAGE_SIZE):
                joins_on = not last_hash or chain_hash(last_hash, record.data) == record.hash
                if record.first_seq != self._sent_seq + 1 or not joins_on:
                    raise refused(Reason.NOT_OWNER_OF_SHARD)
                await self._send(record_news(record))
                self.subscriber.position = self._sent_seq = record.last_seq
                last_hash = record.hash

    async def _page(self, after_seq: int, page_size: int) -> Sequence[record_pb.StoredRecord]:
        """Return the next records of the past, of which there are some."""
        request = pb.ReadEventsRequest(
            match_id=self._match_id, after_sequence=after_seq, page_size=page_size
        )
        page = await self._streams.asking.owner(_READ_EVENTS, request, self._match_id)
        if not page.records:
            raise refused(Reason.NOT_OWNER_OF_SHARD)
        return page.records

    async def _live(self, followed: FollowedMatch) -> None:
        subscriber = self.subscriber
        quiet = Watchdog(self._streams.settings.heartbeat_s, subscriber.nudge)
        try:
            while True:
                message = None if subscriber.is_closed else subscriber.pop()
                if message is not None:
                    data, last_seq = message
                    await self._send(data)
                    self._sent_seq = max(last_seq, self._sent_seq)
                    continue
                if subscriber.farewell is not None:
                    return
                quiet.watch()
                if not await subscriber.ring():
                    await self._send(self._heartbeat(followed.head_seq))
        finally:
            quiet.close()

    async def _send(self, data: bytes) -> None:
        if self.subscriber.is_closed:
            raise _EndedError
        self._writing.watch()
        try:
            async with asyncio.timeout(None) as self._sending:
                await self._context.send(data)
        except TimeoutError:
            # gRPC still has it, and takes nothing more until the client has taken that.
            self._is_stuck = True
            raise refused(Reason.SLOW_READER, limit=LimitName.WRITE) from None
        finally:
            self._sending = None
            self._writing.rest()

    def _give_up(self) -> None:
        """Wait no longer for the client to take what is sent just now."""
        if self._sending is not None and not self._sending.expired():
            self._sending.reschedule(asyncio.get_running_loop().time())

    def _hurry(self) -> None:
        """Give up what a client does not take soon, now that nothing more is to be sent."""
        if self._sending is not None and not self._sending.expired():
            self._sending.reschedule(asyncio.get_running_loop().time() + LAST_WORD_S)

    def _heartbeat(self, head_seq: int) -> bytes:
        heartbeat = stream_pb2.Heartbeat(
            server_time_ms=self._streams.time.now_ms(), head_sequence=head_seq
        )
        return pb.WatchMatchResponse(heartbeat=heartbeat).SerializeToString()

    # The end.

    async def _part(self) -> None:
        """Tell the results that there are, and say the last word. Raises what `tell` does."""
        farewell = self.subscriber.farewell
        assert farewell is not None, "nothing else ends a stream"
        if not self._is_stuck:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORD_S):
                    while (message := self.subscriber.pop()) is not None:
                        await self._context.send(message[0])
                    if farewell.reason:
                        await self._context.send(self._go_away(farewell))
        if farewell.error is not None:
            raise farewell.error

    def _go_away(self, farewell: Farewell) -> bytes:
        error = farewell.error
        go_away = stream_pb2.GoAway(
            reason=farewell.reason,
            text=farewell.text,
            reconnect_after_ms=error.retry_after_ms if isinstance(error, RefusedError) else None,
            last_sequence=self._sent_seq,
        )
        return pb.WatchMatchResponse(go_away=go_away).SerializeToString()


class _EndedError(Exception):
    """Somebody has ended the stream while there was something to send."""
