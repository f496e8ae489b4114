"""A table: one match followed record by record, and commands given to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

import grpc

from libs.chassis.status import answer_of
from libs.chassis.together import cancel_all
from libs.client.backlog import Backlog
from libs.client.calls import patiently
from libs.client.hearing import GapError
from libs.client.replies import Refused, Reply, accepted_of
from libs.client.rooms import new_command_id
from libs.client.signs import Signs
from libs.client.stream import Dial, Line, MatchOverError, Metadata, UnansweredError
from libs.client.turns import Turn
from libs.kernel.ids import CommandId, MatchId
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.wire.chain import ChainReader
from libs.wire.commands import message_of
from libs.wire.record import Record, StoredRecord
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc

RECORDS_WAITING_MAX: Final = 256
"""How many records may wait to be taken, before the streams are read no further (start)."""

ANSWER_S: Final = 60.0
"""How long a command is sent again and again without an answer (start)."""

_PAUSE_S: Final = 0.1
_PAUSE_MAX_S: Final = 2.0


class Table:
    """A match, rebuilt from its first record on, while the table is open: `async with table:`.

    Iterating gives every record of the match once, in order and without a gap, whatever becomes of
    the streams, and ends with the match; `match` is then as it was right after that record. What it
    raises instead is for good:

        RefusedError: the match is not there, or not for this caller.
        BrokenChainError: what the server tells are not the records of one match.
        StreamBrokenError: what answers is no server of ours.

    Attributes:
        match_id: which match it is.
        match: as of the record that was given last. Not to be changed.

    """

    def __init__(self, stub: pb_grpc.MatchServiceAsyncStub, match_id: MatchId, dial: Dial) -> None:
        """See `to_play` and `to_watch`."""
        self.match_id = match_id
        self.match = Match()
        self._stub = stub
        self._reader = ChainReader()
        self._backlog = Backlog(RECORDS_WAITING_MAX)
        self._failure: Exception | None = None
        self._line = Line(match_id, dial, self)
        self._chair: Chair | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    def to_play(
        cls, stub: pb_grpc.MatchServiceAsyncStub, match_id: MatchId, metadata: Metadata = ()
    ) -> Self:
        """Return a table at which the caller has a seat, and gives commands by `submit`."""
        table = cls(stub, match_id, _to_play(stub, match_id, metadata))
        table._chair = Chair(stub, match_id, metadata, table._line, table._backlog)
        return table

    @classmethod
    def to_watch(
        cls, stub: pb_grpc.MatchServiceAsyncStub, match_id: MatchId, metadata: Metadata = ()
    ) -> Self:
        """Return a table at which the caller only looks on."""
        return cls(stub, match_id, _to_watch(stub, match_id, metadata))

    @property
    def signs(self) -> Signs:
        """Whether the stream is open now, and what the server's clock says."""
        return self._line.signs

    @property
    def last_seq(self) -> int:
        """The sequence of the last record that has come, which may be ahead of the match."""
        return self._reader.last_seq

    @property
    def has_waiting(self) -> bool:
        """Whether iterating goes on at once: `match` is of the past."""
        return self._backlog.has_more

    def chair(self, metadata: Metadata) -> Chair:
        """Return a further chair, for who plays several seats: a stream of its own, one `match`.

        Each stream brings the records, and whichever brings one first is heard.
        """
        line = Line(self.match_id, _to_play(self._stub, self.match_id, metadata), self)
        self._tasks.append(asyncio.create_task(_quietly(line)))
        return Chair(self._stub, self.match_id, metadata, line, self._backlog)

    async def submit(
        self,
        command: c.SeatCommand,
        command_id: CommandId | None = None,
        *,
        expected_sequence: int | None = None,
        timeout_s: float = ANSWER_S,
    ) -> Reply:
        """Give a command for the caller's seat. See `Chair.submit`."""
        assert self._chair is not None, "who watches has no seat"
        return await self._chair.submit(
            command, command_id, expected_sequence=expected_sequence, timeout_s=timeout_s
        )

    async def turns(self, client_seed: bytes = b"") -> AsyncGenerator[Turn]:
        """Yield each moment at which the match waits for the caller's seat, until it is over.

        One comes after every record, so a turn that nothing is played in comes again after the next
        one, or its time runs out. The question for a client seed is answered here, by declining
        unless one is given.

        Raises:
            RefusedError: the caller has no seat in the match.
            Exception: what iterating raises.

        """
        assert self._chair is not None, "who watches has no seat"
        listed = await self._chair.listed()
        seat, answered_at = listed.seat, listed.sequence
        while True:
            # Nothing is asked of the past, nor before what was played last has come back.
            if not self.has_waiting and self.match.sequence >= answered_at:
                turn = Turn(self.match, seat, self.submit)
                if self.match.phase == phases.SEEDING and self.match.client_seeds[seat] is None:
                    await self.submit(c.ContributeSeed(seat, client_seed))
                elif turn.answers:
                    yield turn
                    answered_at = turn.answered_at
            if await anext(self, None) is None:
                return

    async def take(self, record: StoredRecord) -> None:
        """Take a record from a stream. For streams. See `libs.client.hearing.Sink`."""
        if record.last_seq <= self._reader.last_seq:
            return
        if record.first_seq > self._reader.last_seq + 1:
            raise GapError
        await self._backlog.put(self._reader.take(record))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        """Return the next record, `match` having taken it in."""
        record = await self._backlog.get()
        if record is not None:
            apply(self.match, record.events)
            return record
        if self._failure is not None:
            raise self._failure
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        """Begin to follow the match."""
        self._tasks.append(asyncio.create_task(self._follow()))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave: streams end, and what is not answered yet is not waited for."""
        await cancel_all(self._tasks)

    async def _follow(self) -> None:
        try:
            await self._line.run()
        except Exception as error:  # noqa: BLE001 - raised where the records are taken
            self._failure = error
        self._backlog.close()


class Chair:
    """From where commands are given, for one seat."""

    def __init__(
        self,
        stub: pb_grpc.MatchServiceAsyncStub,
        match_id: MatchId,
        metadata: Metadata,
        line: Line,
        backlog: Backlog,
    ) -> None:
        self._stub = stub
        self._match_id = match_id
        self._metadata = metadata
        self._line = line
        self._backlog = backlog

    async def submit(
        self,
        command: c.SeatCommand,
        command_id: CommandId | None = None,
        *,
        expected_sequence: int | None = None,
        timeout_s: float = ANSWER_S,
    ) -> Reply:
        """Give a command, and return once it is durable or refused.

        It is sent again under the same id, over new streams too, until it is answered: whatever
        breaks in between, it is carried out once. Refusals that pass are waited out likewise, until
        there is too little time left. The seat in *command* is not sent: it is the caller's. Who
        may have to send it again after a crash of its own gives a *command_id*.

        Raises:
            UnansweredError: no answer came within *timeout_s*.
            RefusedError: there is no stream for this caller, and will be none.
            StreamBrokenError: what answers is no server of ours.

        """
        command_id = command_id or new_command_id()
        played = pb.PlayMatchRequest.PlayedCommand(
            command_id=command_id,
            expected_sequence=expected_sequence,
            command=message_of(command),
        )
        end_s = asyncio.get_running_loop().time() + timeout_s
        pause_s = _PAUSE_S
        while True:
            try:
                async with asyncio.timeout_at(end_s):
                    reply = await self._ask(played)
            except TimeoutError:
                raise UnansweredError(command_id) from None
            if reply is not None and not (isinstance(reply, Refused) and reply.is_passing):
                return reply
            hint_s = 0.0 if reply is None else (reply.retry_after_ms or 0) / 1000
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)
            if asyncio.get_running_loop().time() + max(pause_s, hint_s) >= end_s:
                if reply is None:
                    raise UnansweredError(command_id)
                return reply
            await asyncio.sleep(max(pause_s, hint_s))

    async def listed(self) -> pb.ListLegalCommandsResponse:
        """Return which seat this is, and what it may do now.

        Raises:
            RefusedError: the caller has no seat, or there is no such match.
            ConnectionLostError: there was no answer.

        """
        request = pb.ListLegalCommandsRequest(match_id=self._match_id)
        return await patiently(self._stub.ListLegalCommands, request, metadata=self._metadata)

    async def _ask(self, played: pb.PlayMatchRequest.PlayedCommand) -> Reply | None:
        """Ask once; None if no answer came that means anything."""
        try:
            with self._backlog.overflowing():
                return await self._line.submit(played)
        except MatchOverError:
            # The stream ended before it told. The simple call tells the same, at any time.
            return await self._ask_simply(played)

    async def _ask_simply(self, played: pb.PlayMatchRequest.PlayedCommand) -> Reply | None:
        request = pb.SubmitCommandRequest(
            match_id=self._match_id, command_id=played.command_id, command=played.command
        )
        if played.HasField("expected_sequence"):
            request.expected_sequence = played.expected_sequence
        try:
            return accepted_of(await self._stub.SubmitCommand(request, metadata=self._metadata))
        except grpc.aio.AioRpcError as error:
            answer = answer_of(error)
            return None if answer.told is None else Refused(answer.told, answer.retry_after_ms)


def _to_play(stub: pb_grpc.MatchServiceAsyncStub, match_id: MatchId, metadata: Metadata) -> Dial:
    async def dial(after_sequence: int) -> Any:
        call = stub.PlayMatch(metadata=metadata)
        opening = pb.PlayMatchRequest.Open(match_id=match_id, after_sequence=after_sequence)
        await call.write(pb.PlayMatchRequest(open=opening))
        return call

    return dial


def _to_watch(stub: pb_grpc.MatchServiceAsyncStub, match_id: MatchId, metadata: Metadata) -> Dial:
    async def dial(after_sequence: int) -> Any:
        request = pb.WatchMatchRequest(match_id=match_id, after_sequence=after_sequence)
        return stub.WatchMatch(request, metadata=metadata)

    return dial


async def _quietly(line: Line) -> None:
    """Run the line of a chair: what ends it is told to whoever gives a command there."""
    with suppress(Exception):
        await line.run()
