"""The records of a match from the engine that has it, for a reader of the log with a gap (R1)."""

from typing import Final

import grpc

from libs.chassis.channels import Channel
from libs.chassis.engines import Engines
from libs.chassis.status import RefusedError, answer_of
from libs.eventlog.reading import UnfetchedError
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc

TIMEOUT_S: Final = 1.0
"""How long a reader, which reads nothing else meanwhile, looks for the owner of a match (start)."""

_OPERATIONAL: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class EngineRecords:
    """A `libs.eventlog.reading.Fetch` that asks the engines."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def __call__(self, match_id: MatchId, after_seq: int) -> list[bytes]:
        """Return the next records of a match after a sequence; none if there are none.

        Raises:
            UnfetchedError: no engine answers for the match now, or the one that does may not.

        """
        request = pb.ReadEventsRequest(match_id=match_id, after_sequence=after_seq)

        async def read(channel: Channel) -> pb.ReadEventsResponse:
            return await pb_grpc.MatchServiceStub(channel).ReadEvents(request)

        try:
            response = await self._engines.call(match_id, read, timeout_s=TIMEOUT_S)
        except RefusedError as error:
            raise UnfetchedError(error.told.reason) from error
        except grpc.aio.AioRpcError as error:
            answer = answer_of(error)
            if answer.told is None and answer.code not in _OPERATIONAL:
                raise
            if answer.told is not None and answer.told.reason == Reason.MATCH_NOT_FOUND:
                return []  # the engine decides what there is
            raise UnfetchedError(answer.told.reason if answer.told else answer.code.name) from error
        return [record.data for record in response.records]
