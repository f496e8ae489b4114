"""One stream of a match, opened again whenever it breaks off, from where its table stands (R0)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final
from zlib import crc32

import grpc

from libs.chassis.together import end
from libs.client.calls import ConnectionLostError
from libs.client.hearing import SILENCE_S, End, GapError, Hearing, Kind, Sink
from libs.client.replies import Reply, reply_of
from libs.client.signs import Signs
from opolyx.match.v1 import match_service_pb2 as pb

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


class UnansweredError(ConnectionLostError):
    """A command has had no answer in time: it may have been accepted, or not.

    Sent again under the same id it is answered as if it had been the first time.
    """


class MatchOverError(Exception):
    """The match is over and so is its stream: what is unanswered is asked in another way."""


class Line:
    """One stream, for as long as `run` runs.

    Attributes:
        signs: whether it is open now, and what the server's clock says.

    """

    def __init__(self, match_id: str, dial: Dial, sink: Sink) -> None:
        """Open streams by *dial*, and bring what they tell to *sink*."""
        self.signs = Signs()
        self._match_id = match_id
        self._dial = dial
        self._sink = sink
        # Commands without an answer, in their order; all of them go out again on a new stream.
        self._unanswered: dict[asyncio.Future[Reply], pb.PlayMatchRequest] = {}
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
            for answer in self._unanswered:
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
            self._unanswered[answer] = pb.PlayMatchRequest(command=command)
            self._more.set()
            try:
                return await answer
            finally:
                self._unanswered.pop(answer, None)

    async def _follow(self) -> None:
        attempt = odd_ends = 0
        while True:
            before_seq = self._sink.last_seq
            end = await self._session()
            if end.kind is Kind.OVER:
                return
            self.signs.lose()
            attempt = 1 if end.has_opened else attempt + 1
            is_odd = end.kind is Kind.ODD and self._sink.last_seq == before_seq
            odd_ends = odd_ends + 1 if is_odd else 0
            if odd_ends >= ODD_ENDS_MAX:
                raise StreamBrokenError(end.text)
            await asyncio.sleep(max(self._pause_s(attempt), end.retry_after_ms / 1000))

    def _pause_s(self, attempt: int) -> float:
        # By match and attempt, so that those whom one server let go of don't all come at once.
        spread = 0.5 + crc32(f"{self._match_id} {attempt}".encode()) / 2**33
        return min(_PAUSE_MAX_S, _PAUSE_S * 2.0 ** min(attempt - 1, 10)) * spread

    async def _session(self) -> End:
        """Have one stream, from its opening to its end."""
        hearing = Hearing(self._sink, self._answer, self.signs)
        call: Any = None
        writing: asyncio.Task[None] | None = None
        try:
            async with asyncio.timeout(SILENCE_S):
                call = await self._dial(self._sink.last_seq)
            writing = asyncio.create_task(self._write(call))
            return await hearing.read(call)
        except grpc.aio.AioRpcError as error:
            return hearing.failed(error)
        except (TimeoutError, asyncio.InvalidStateError):
            return End(Kind.BROKEN, "silence", has_opened=hearing.has_opened)
        except GapError:
            return End(Kind.ODD, "a gap", has_opened=False)
        except asyncio.CancelledError:
            # So grpc says too that the call was cancelled, and not who waits for it.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return End(Kind.ODD, "cancelled", has_opened=hearing.has_opened)
        finally:
            if writing is not None:
                await end(writing)
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
                for answer, request in list(self._unanswered.items()):
                    if answer not in sent:
                        await call.write(request)
                        sent.add(answer)
                sent.intersection_update(self._unanswered)
                await self._more.wait()

    def _answer(self, result: pb.CommandResult) -> None:
        # The first of that id: results come in the order of the commands.
        asked = (
            a for a, r in self._unanswered.items() if r.command.command_id == result.command_id
        )
        answer = next(asked, None)
        if answer is not None:
            del self._unanswered[answer]
            if not answer.done():
                answer.set_result(reply_of(result))
