"""The gRPC edge of the timer: engines tell it which deadlines are open."""

from collections.abc import AsyncIterator
from typing import Final, Protocol

import grpc

from libs.chassis.roles import AllowList, service
from libs.kernel.ids import MatchId
from libs.wire.requests import Checks
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.timer.armed import Told

MATCHES_MAX: Final = 1_000
"""How many matches a batch may hold."""

DEADLINE_ID_MAX: Final = 64
"""How many characters the name of a deadline may have."""

ALLOWED: Final = AllowList({"opolyx.timer.v1.TimerService/Arm": [service("match_engine")]})


class Arms(Protocol):
    """Keeps what is armed."""

    def arm(self, match_id: MatchId, sequence: int, deadlines: list[Told]) -> None:
        """See `services.timer.firing.Firing.arm`."""
        ...


class TimerServicer(pb_grpc.TimerServiceServicer):
    """See `opolyx.timer.v1.TimerService`."""

    def __init__(self, armed: Arms) -> None:
        self._armed = armed

    async def Arm(  # noqa: N802 - gRPC's name
        self,
        request_iterator: AsyncIterator[pb.ArmRequest],
        context: grpc.aio.ServicerContext[pb.ArmRequest, pb.ArmResponse],  # noqa: ARG002 - grpc's
    ) -> AsyncIterator[pb.ArmResponse]:
        """Arm batches, each as a whole, and answer them in order: one is read when it is armed."""
        batch = 0
        async for request in request_iterator:
            batch += 1
            _check(request, batch)
            for match in request.matches:
                deadlines = [Told(d.deadline_id, d.fire_ms) for d in match.deadlines]
                self._armed.arm(MatchId(match.match_id), match.sequence, deadlines)
            yield pb.ArmResponse(batch=batch)


def _check(request: pb.ArmRequest, batch: int) -> None:
    """Go on if a batch can be understood; else nothing of it is armed.

    Raises:
        MalformedError: it cannot.

    """
    checks = Checks()
    if request.batch != batch:
        checks.add("batch", f"must be {batch}")
    if len(request.matches) > MATCHES_MAX:
        checks.add("matches", f"must be at most {MATCHES_MAX}")
    for number, match in enumerate(request.matches):
        path = f"matches[{number}]"
        checks.uuid(f"{path}.match_id", match.match_id)
        checks.least(f"{path}.sequence", match.sequence, 1)
        for place, deadline in enumerate(match.deadlines):
            at = f"{path}.deadlines[{place}]"
            checks.text(f"{at}.deadline_id", deadline.deadline_id, size_max=DEADLINE_ID_MAX)
            checks.least(f"{at}.fire_ms", deadline.fire_ms, 0)
        if len({deadline.deadline_id for deadline in match.deadlines}) < len(match.deadlines):
            checks.add(f"{path}.deadlines", "must each have a name of its own")
    checks.finish()
