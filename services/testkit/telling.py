"""Tells the timer once more what is due, where that has not been fired."""

from collections.abc import Iterable
from typing import Any

from libs.chassis.channels import Channel
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.match import Match
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1.timer_service_pb2_grpc import TimerServiceStub


class Teller:
    """Arms deadlines as an engine does.

    A timer that was told late takes what is reached already for old news and waits a little, and
    one that fired in vain tries again a little later: by a clock that stands still, that is never.
    """

    def __init__(self, timer: Channel) -> None:
        """Tell the timer at the end of this channel."""
        self._stub = TimerServiceStub(timer)

    async def tell(self, matches: Iterable[Match]) -> None:
        """Have the timer forget what it knows of matches, and know what is open in them."""
        known = list(matches)
        batches = [
            pb.ArmRequest(batch=1, matches=[_armed(match, is_open=False) for match in known]),
            pb.ArmRequest(batch=2, matches=[_armed(match, is_open=True) for match in known]),
        ]
        stream: Any = self._stub.Arm()
        try:
            for batch in batches:
                await stream.write(batch)
                await stream.read()
        finally:
            stream.cancel()


def _armed(match: Match, *, is_open: bool) -> pb.ArmRequest.ArmedMatch:
    deadlines = open_deadlines(match) if is_open else ()
    return pb.ArmRequest.ArmedMatch(
        match_id=match.match_id,
        sequence=match.sequence,
        deadlines=[
            pb.ArmRequest.Deadline(deadline_id=each.deadline_id, fire_ms=fires_at(each))
            for each in deadlines
        ],
    )
