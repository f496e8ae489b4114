"""How a reader of the event log fills a gap: it asks the owner of the match (R1)."""

from collections.abc import Sequence
from typing import Final

import grpc

from libs.chassis.channels import Channel
from libs.chassis.engines import Engines
from libs.chassis.status import RefusedError, answer_of
from libs.eventlog.reading import Fetch, UnfetchedError
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc

PAGE: Final = 200
"""How many records are asked for at a time."""


def fetch_by(engines: Engines) -> Fetch:
    """Return what fetches the next records of a match, by `ReadEvents` at its owner.

    Of a match that there is not it fetches none.
    """

    async def fetch(match_id: MatchId, after_seq: int) -> Sequence[bytes]:
        request = pb.ReadEventsRequest(match_id=match_id, after_sequence=after_seq, page_size=PAGE)

        async def read(channel: Channel) -> pb.ReadEventsResponse:
            response: pb.ReadEventsResponse = await pb_grpc.MatchServiceStub(channel).ReadEvents(
                request
            )
            return response

        try:
            page = await engines.call(match_id, read)
        except RefusedError as error:  # nobody is known to own it
            raise UnfetchedError(error.told.reason) from error
        except grpc.aio.AioRpcError as error:
            code, told, _ = answer_of(error)
            if told is not None and told.reason == Reason.MATCH_NOT_FOUND:
                return ()
            raise UnfetchedError(told.reason if told is not None else code.name) from error
        return [record.data for record in page.records]

    return fetch
