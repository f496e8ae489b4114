"""One stream of a match, opened again whenever it breaks off, from where its table stands (R0)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum, auto
from typing import Any, Final, NamedTuple, Protocol
from zlib import crc32

import grpc

from libs.chassis.status import CODES, RefusedError, answer_of
from libs.client.replies import Reply, reply_of
from libs.kernel.reasons import Reason
from libs.wire.record import StoredRecord
from libs.wire.refusals import Told
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.stream_pb2 import GoAway, Heartbeat

SILENCE_S: Final = 25.0
"""So long a stream may say nothing; a sign of life comes every 10 s (start)."""

UNANSWERED_MAX: Final = 16
"""How many commands of a stream may be unanswered; more wait their turn here."""

ODD_ENDS_MAX: Final = 5
"""How often in a row a stream may end as no stream should, before that is given up (start)."""

_PAUSE_S: Final = 0.1
_PAUSE_MAX_S: Final = 5.0

Metadata = tuple[tuple[str, str | bytes], ...]
"""What a call says of itself, beside its token."""

Dial = Callable[[int], Awaitable[Any]]
"""Begins a call whose records come after a sequence."""


class StreamBrokenError(Exception):
    """A stream keeps ending in ways that no server of ours has: there is no use in trying on."""


class GapError(Exception):
    """A record does not follow on the last one: some were lost on the way."""


class Sink(Protocol):
    """Where the records of a stream go."""

    @property
    def last_seq(self) -> int:
        """The last sequence that it has."""
        ...

    async def take(self, record: StoredRecord) -> None:
        """Take a record, or drop it if it has it. Waits while there is no room.

        Raises:
            GapError: it follows on one that is not there.
            BrokenChainError: it does not join on.

        """
        ...


class UnansweredError(Exception):
    """A command has had no answer in time: it may have been accepted, or not.

    Sent again under the same id it is answered as if it had been the first time.
    """


class MatchOverError(Exception):
    """The match is over and so is its stream: what is unanswered is asked in another way."""


class Line:
    """One stream, for as long as `run` runs."""

    def __init__(self, match_id: str, dial: Dial, sink: Sink) -> None:
        """Open streams by *dial*, and bring what they tell to *sink*."""
        self._match_id = match_id
        self._dial = dial
        self._sink = sink
        # Commands without an answer, in their order; all of them go out again on a new stream.
        self._unanswered: dict[str, tuple[pb.PlayMatchRequest, asyncio.Future[Reply]]] = {}
        self._more = asyncio.Event()
        self._room = asyncio.Semaphore(UNANSWERED_MAX)
        self._has_ended = False
        self._ended_by: Exception | None = None

    async def run(self) -> None:
        """Follow the match until it is over.

        Raises:
            RefusedError: the stream is not for this caller, or not to be had any more.
            StreamBrokenError: see there.
            BrokenChainError: the records are not those of one match.

        """
        self._ended_by = UnansweredError("the table was left")
        try:
            await self._follow()
            self._ended_by = MatchOverError()
        except Exception as error:
            self._ended_by = error
            raise
        finally:
            for _, answer in self._unanswered.values():
                if not answer.done():
                    answer.set_exception(self._ended_by)
            self._has_ended = True

    async def submit(self, command: pb.PlayMatchRequest.PlayedCommand) -> Reply:
        """Send a command, and again on each new stream until it is answered.

        Raises:
            MatchOverError: the stream is over and has not told.
            Exception: what `run` has ended by.

        """
        async with self._room:
            if self._has_ended:
                assert self._ended_by is not None
                raise self._ended_by
            answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            request = pb.PlayMatchRequest(command=command)
            self._unanswered[command.command_id] = (request, answer)
            self._more.set()
            try:
                return await answer
            finally:
                self._unanswered.pop(command.command_id, None)

    async def _follow(self) -> None:
        attempt = odd_ends = 0
        while True:
            before_seq = self._sink.last_seq
            end = await self._session()
            if end.kind is _Kind.OVER:
                return
            attempt = 1 if end.has_opened else attempt + 1
            is_odd = end.kind is _Kind.ODD and self._sink.last_seq == before_seq
            odd_ends = odd_ends + 1 if is_odd else 0
            if odd_ends >= ODD_ENDS_MAX:
                raise StreamBrokenError(end.text)
            await asyncio.sleep(max(self._pause_s(attempt), end.retry_after_ms / 1000))

    def _pause_s(self, attempt: int) -> float:
        # By match and attempt, so that those whom one server let go of don't all come at once.
        spread = 0.5 + crc32(f"{self._match_id} {attempt}".encode()) / 2**33
        return min(_PAUSE_MAX_S, _PAUSE_S * 2.0 ** min(attempt - 1, 10)) * spread

    async def _session(self) -> "_End":
        """Have one stream, from its opening to its end."""
        session = _Session(self._sink, self._answer)
        call: Any = None
        writing: asyncio.Task[None] | None = None
        try:
            call = await self._dial(self._sink.last_seq)
            writing = asyncio.create_task(self._write(call))
            return await session.read(call)
        except grpc.aio.AioRpcError as error:
            return session.failed(error)
        except (TimeoutError, asyncio.InvalidStateError):
            return _End(_Kind.BROKEN, "silence", has_opened=session.has_opened)
        except GapError:
            return _End(_Kind.ODD, "a gap", has_opened=False)
        except asyncio.CancelledError:
            # So grpc says too that the call was cancelled, and not who waits for it.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _End(_Kind.ODD, "cancelled", has_opened=session.has_opened)
        finally:
            if writing is not None:
                writing.cancel()
                with suppress(asyncio.CancelledError):
                    await writing
            if call is not None:
                call.cancel()

    async def _write(self, call: Any) -> None:
        """Send what is unanswered and what comes to be, each once on this stream."""
        # By answer and not by id: what was refused may be asked again under the same.
        sent: set[asyncio.Future[Reply]] = set()
        # A stream that takes no more has ended, and whoever reads it hears why.
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while True:
                self._more.clear()
                for request, answer in list(self._unanswered.values()):
                    if answer not in sent:
                        await call.write(request)
                        sent.add(answer)
                sent.intersection_update(answer for _, answer in self._unanswered.values())
                await self._more.wait()

    def _answer(self, result: pb.CommandResult) -> None:
        _, answer = self._unanswered.pop(result.command_id, (None, None))
        if answer is not None and not answer.done():
            answer.set_result(reply_of(result))


class _Kind(Enum):
    """How a stream ends."""

    OVER = auto()
    """The match is over, and all of it was told."""
    BROKEN = auto()
    """As streams do when servers and networks come and go."""
    ODD = auto()
    """As none should."""


class _End(NamedTuple):
    kind: _Kind
    text: str
    has_opened: bool
    retry_after_ms: int = 0


class _Session:
    """What is heard on one stream."""

    def __init__(self, sink: Sink, answer: Callable[[pb.CommandResult], None]) -> None:
        self._sink = sink
        self._answer = answer
        self._behind_at = -1
        self.has_opened = False

    async def read(self, call: Any) -> _End:
        """Hear the stream to its end.

        Raises:
            RefusedError: it ended for good.
            GapError: records are missing.
            grpc.aio.AioRpcError: it broke off.
            TimeoutError: it fell silent.

        """
        while True:
            async with asyncio.timeout(SILENCE_S):
                message: Any = await call.read()
            if message is grpc.aio.EOF:
                return _End(_Kind.ODD, "an end without a word", has_opened=self.has_opened)
            match message.WhichOneof("response"):
                case "record":
                    stored = message.record
                    await self._sink.take(
                        StoredRecord(stored.first_seq, stored.last_seq, stored.hash, stored.data)
                    )
                case "result":
                    self._answer(message.result)
                case "snapshot":
                    self.has_opened = True
                case "heartbeat":
                    self._compare(message.heartbeat)
                case "go_away":
                    return self._told(message.go_away)
                case _:
                    pass  # who is there, or what is newer than we are

    def failed(self, error: grpc.aio.AioRpcError) -> _End:
        """Say how a stream has ended that broke off with *error*. Raises RefusedError if for good.

        A token that has expired in the course of a stream is no obstacle to the next: its caller
        may have a new one. A new stream with an old token is refused for good.
        """
        code, told, retry_after_ms = answer_of(error)
        if told is None:
            is_usual = code is grpc.StatusCode.UNAVAILABLE
            kind = _Kind.BROKEN if is_usual else _Kind.ODD
            return _End(kind, f"{code.name} {error.details()}", has_opened=self.has_opened)
        is_renewable = self.has_opened and told.reason == Reason.TOKEN_EXPIRED
        if code not in _PASSING_CODES and not is_renewable:
            raise RefusedError(told, code=code)
        return _End(_Kind.BROKEN, told.reason, self.has_opened, retry_after_ms or 0)

    def _told(self, away: GoAway) -> _End:
        if away.reason == Reason.MATCH_ENDED:
            return _End(_Kind.OVER, away.reason, has_opened=True)
        if away.HasField("reconnect_after_ms") or away.reason == Reason.TOKEN_EXPIRED:
            return _End(_Kind.BROKEN, away.reason, self.has_opened, away.reconnect_after_ms)
        is_known = away.reason in Reason.__members__
        code = CODES[Reason(away.reason)] if is_known else grpc.StatusCode.UNKNOWN
        raise RefusedError(Told(away.reason, {}, away.text), code=code)

    def _compare(self, heartbeat: Heartbeat) -> None:
        """See that no record is missing: a head that stays beyond what came (R1).

        Once it may be ahead of a record that is still on its way.
        """
        last_seq = self._sink.last_seq
        if heartbeat.head_sequence <= last_seq:
            self._behind_at = -1
        elif self._behind_at == last_seq:
            raise GapError
        else:
            self._behind_at = last_seq


_PASSING_CODES: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED})
