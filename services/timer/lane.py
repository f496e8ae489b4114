"""One stream to one engine, on which deadlines are fired (`MatchService.Fire`)."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn, TypeAlias

import grpc

from libs.chassis.channels import Channel
from libs.chassis.together import end
from libs.kernel.command_ids import fire_id
from libs.telemetry import logs
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from services.timer.armed import Shot

UNANSWERED_MAX: Final = 256
"""How many shots an engine may owe an answer for; it takes no more."""

PATIENCE_S: Final = 5.0
"""How long one may go unanswered before the stream is taken for dead (start)."""

_DELAY_S: Final = 0.1
_DELAY_MAX_S: Final = 2.0

_log: Final = logs.get()

Answered = Callable[[Shot, pb.FireResponse | None], None]
"""Told of every shot that was fired, once: its answer, or that it got none."""

_Stream: TypeAlias = "grpc.aio.StreamStreamCall[pb.FireRequest, pb.FireResponse]"


class Lane:
    """A stream that is opened when there is something to fire, and opened again when it broke."""

    def __init__(
        self, channel: Channel, address: str, answered: Answered, *, patience_s: float = PATIENCE_S
    ) -> None:
        """Fire over *channel*, which leads to *address*, and tell *answered*."""
        self._stub = pb_grpc.MatchServiceStub(channel)
        self._address = address
        self._answered = answered
        self._patience_s = patience_s
        # By match and deadline: the shot, and when its answer is overdue by the clock of the loop.
        self._unanswered: dict[tuple[str, str], tuple[Shot, float]] = {}
        self._unsent: deque[Shot] = deque()
        self._something = asyncio.Event()
        self._patience: asyncio.Timeout | None = None
        self._is_resting = False

    def fire(self, shot: Shot) -> bool:
        """Fire a shot, unless too many are unanswered or the stream has just broken."""
        if self._is_resting or len(self._unanswered) >= UNANSWERED_MAX:
            return False
        is_oldest = not self._unanswered
        overdue_s = asyncio.get_running_loop().time() + self._patience_s
        self._unanswered[shot.match_id, shot.deadline_id] = shot, overdue_s
        if is_oldest and self._patience is not None:
            self._patience.reschedule(overdue_s)
        self._unsent.append(shot)
        self._something.set()
        return True

    async def run(self) -> NoReturn:
        """Keep the stream, however often the engine goes away, until cancelled."""
        attempt = 0
        try:
            while True:
                await self._something.wait()
                why, was_answered = await self._keep_stream()
                attempt = 1 if was_answered else attempt + 1
                if attempt == 1:
                    _log.warning("fire_stream_lost", address=self._address, reason=why)
                self._is_resting = True
                self._give_up()
                await asyncio.sleep(min(_DELAY_S * 2.0 ** min(attempt - 1, 16), _DELAY_MAX_S))
                self._is_resting = False
        finally:
            self._is_resting = True
            self._give_up()

    async def _keep_stream(self) -> tuple[str, bool]:
        """Open the stream and fire until it ends; returns why, and whether it ever answered."""
        stream = self._stub.Fire()
        writing = asyncio.create_task(self._write(stream))
        was_answered, why = False, "ended"
        try:
            async with asyncio.timeout(None) as self._patience:
                self._await_oldest()
                while isinstance(response := await stream.read(), pb.FireResponse):
                    if not was_answered:
                        was_answered = True
                        _log.info("fire_stream_opened", address=self._address)
                    self._take(response)
                    self._await_oldest()
        except grpc.aio.AioRpcError as error:
            why = error.code().name
        except TimeoutError:
            why = "no_answer"
        finally:
            self._patience = None
            stream.cancel()
            await end(writing)
        return why, was_answered

    async def _write(self, stream: _Stream) -> None:
        # A stream that is over ends this too: why, whoever reads it knows.
        with suppress(asyncio.InvalidStateError, grpc.RpcError):
            while True:
                await self._something.wait()
                while self._unsent:
                    await stream.write(_request(self._unsent.popleft()))
                self._something.clear()

    def _take(self, response: pb.FireResponse) -> None:
        found = self._unanswered.pop((response.match_id, response.deadline_id), None)
        if found is not None:
            self._answered(found[0], response)

    def _await_oldest(self) -> None:
        """Wait no longer than until the oldest answer is overdue. While the stream is read."""
        assert self._patience is not None
        oldest = next(iter(self._unanswered.values()), None)
        self._patience.reschedule(oldest[1] if oldest is not None else None)

    def _give_up(self) -> None:
        """Say of all that was fired that there will be no answer."""
        unanswered, self._unanswered = self._unanswered, {}
        self._unsent.clear()
        self._something.clear()
        for shot, _ in unanswered.values():
            self._answered(shot, None)


def _request(shot: Shot) -> pb.FireRequest:
    deadline = pb.FireDeadlineRequest(
        match_id=shot.match_id,
        deadline_id=shot.deadline_id,
        command_id=fire_id(shot.match_id, shot.deadline_id),
    )
    return pb.FireRequest(deadline=deadline)
