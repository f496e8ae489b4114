"""A seat's command as it comes from outside, brought before the decider."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from libs.kernel.clock import Clock
from libs.kernel.ids import CommandId, MatchId
from libs.rules import commands as c
from libs.rules.events import NOBODY
from libs.store.directory import Directory
from libs.wire.commands import command_of
from libs.wire.requests import Checks
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.callers import Caller, check_sees, is_automatic, seat_of
from services.match_engine.deciding import Decider
from services.match_engine.live import Accepted, LiveMatch
from services.match_engine.seeing import Seeing

COMMAND_BYTES_MAX: Final = 4 * 1024


class Submitting:
    """Takes the commands of seats, by whichever way they come."""

    def __init__(self, decider: Decider, directory: Directory, clock: Clock) -> None:
        """Have commands decided by *decider*; *clock* is the one that it decides by."""
        self._decider = decider
        self._seeing = Seeing(directory)
        self._clock = clock

    async def submit(
        self, caller: Caller, request: pb.SubmitCommandRequest, *, timeout_ms: float | None = None
    ) -> pb.SubmitCommandResponse:
        """Decide what *caller* asks for; returns once it is durable.

        Nobody waits for a command that is queued for longer than *timeout_ms*: it is OVERLOADED
        then. What the request itself lacks is found out before anything is asked of the match.

        Raises what `Decider.submit` does, and NOT_SEATED.
        """
        _check(caller, request)
        asked = command_of(request.command, NOBODY)
        has_expectation = request.HasField("expected_sequence")
        until_ms = None if timeout_ms is None else self._clock.now_ms() + int(timeout_ms)
        match_id = MatchId(request.match_id)
        async with self._seeing.veiled(caller, match_id):
            accepted = await self._decider.submit(
                match_id,
                CommandId(request.command_id),
                _seated(caller, asked),
                expected_sequence=request.expected_sequence if has_expectation else None,
                queue_until_ms=until_ms,
            )
        return accepted_message(accepted)


def accepted_message(accepted: Accepted) -> pb.SubmitCommandResponse:
    """Write the reply of an accepted command."""
    return pb.SubmitCommandResponse(
        sequence=accepted.sequence,
        chain_hash=accepted.chain_hash,
        first_sequence=accepted.first_sequence,
        at_ms=accepted.at_ms,
    )


def _check(caller: Caller, request: pb.SubmitCommandRequest) -> None:
    checks = Checks()
    checks.uuid("match_id", request.match_id)
    checks.command_id("command_id", request.command_id, of_service=is_automatic(caller))
    checks.least("expected_sequence", request.expected_sequence, 0)
    if request.ByteSize() > COMMAND_BYTES_MAX:
        checks.add("", f"has {request.ByteSize()} bytes; {COMMAND_BYTES_MAX} are allowed")
    checks.finish()


def _seated(caller: Caller, asked: c.SeatCommand) -> Callable[[LiveMatch], c.Command]:
    """Return what finds the seat of *caller*, which is known when the match is."""

    def command_in(live: LiveMatch) -> c.Command:
        check_sees(caller, live)
        return replace(asked, seat=seat_of(caller, live.match))

    return command_in
