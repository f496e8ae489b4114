"""What is heard on one stream of a match, to its end."""

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, NamedTuple, Protocol

import grpc

from libs.chassis.status import RefusedError, answer_of
from libs.client.signs import Signs
from libs.kernel.reasons import Reason
from libs.wire.record import StoredRecord
from libs.wire.refusals import Told
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.stream_pb2 import GoAway, Heartbeat

SILENCE_S: Final = 25.0
"""So long a stream may say nothing; a sign of life comes every 10 s (start)."""


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


class Kind(Enum):
    """How a stream ends."""

    OVER = auto()
    """The match is over, and all of it was told."""
    BROKEN = auto()
    """As streams do when servers and networks come and go."""
    ODD = auto()
    """As none should."""


class End(NamedTuple):
    """The end of a stream: how, in which words, and when to open another.

    *has_opened* tells whether it had begun to tell anything.
    """

    kind: Kind
    text: str
    has_opened: bool
    retry_after_ms: int = 0


class Hearing:
    """What is heard on one stream."""

    def __init__(
        self, sink: Sink, answer: Callable[[pb.CommandResult], None], signs: Signs
    ) -> None:
        self._sink = sink
        self._signs = signs
        self._answer = answer
        self._behind_at = -1
        self.has_opened = False

    async def read(self, call: Any) -> End:
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
                return End(Kind.ODD, "an end without a word", has_opened=self.has_opened)
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
                    self._signs.hear(message.snapshot.server_time_ms)
                case "heartbeat":
                    self._signs.hear(message.heartbeat.server_time_ms)
                    self._compare(message.heartbeat)
                case "go_away":
                    return self._told(message.go_away)
                case _:
                    pass  # who is there, or what is newer than we are

    def failed(self, error: grpc.aio.AioRpcError) -> End:
        """Say how a stream has ended that broke off with *error*. Raises RefusedError if for good.

        A token that has expired in the course of a stream is no obstacle to the next: its caller
        may have a new one. A new stream with an old token is refused for good.
        """
        code, told, retry_after_ms = answer_of(error)
        if told is None:
            is_usual = code is grpc.StatusCode.UNAVAILABLE
            kind = Kind.BROKEN if is_usual else Kind.ODD
            return End(kind, f"{code.name} {error.details()}", has_opened=self.has_opened)
        is_renewable = self.has_opened and told.reason == Reason.TOKEN_EXPIRED
        if code not in _PASSING_CODES and not is_renewable:
            raise RefusedError(told, code=code)
        return End(Kind.BROKEN, told.reason, self.has_opened, retry_after_ms or 0)

    def _told(self, away: GoAway) -> End:
        if away.reason == Reason.MATCH_ENDED:
            return End(Kind.OVER, away.reason, has_opened=True)
        if away.HasField("reconnect_after_ms") or away.reason == Reason.TOKEN_EXPIRED:
            return End(Kind.BROKEN, away.reason, self.has_opened, away.reconnect_after_ms)
        raise RefusedError(Told(away.reason, {}, away.text))

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
