"""Streams that are ended from outside, and say so in their own words first."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import Int32Value
from grpc import StatusCode

from libs.chassis.admission import Door
from libs.chassis.edge import Terms
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.roles import PERSON, AllowList
from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from tests.chassis import echo
from tests.chassis.answers import answer
from tests.chassis.conftest import Serve
from tests.support.waiting import until

LAST_WORD = 7


class Polite(echo.Echo):
    """Counts nothing, and says a last word; one that is asked for 1 then goes on for ever."""

    async def Count(  # type: ignore[override] # noqa: N802 - it writes as it pleases
        self, request: Int32Value, context: Any
    ) -> None:
        ended: asyncio.Future[RefusedError] = asyncio.get_running_loop().create_future()
        context.on_end(ended.set_result)
        self.reached.set()
        try:
            refusal = await ended
            await context.send(Int32Value(value=LAST_WORD).SerializeToString())
            if request.value:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise refusal


@pytest.mark.parametrize("goes_on", [0, 1], ids=["it ends", "it does not end"])
async def test_a_stream_says_its_last_word_before_the_server_is_gone(
    serve: Serve, goes_on: int
) -> None:
    polite = Polite()
    served = await serve(servicer=polite)
    stream = served.stub.Count(Int32Value(value=goes_on))
    await polite.reached.wait()
    closing = asyncio.create_task(served.server._edge.traffic.drain_streams(0))

    word = await stream.read()
    got = await answer(stream.read())

    assert word.value == LAST_WORD
    assert got.code is StatusCode.UNAVAILABLE
    assert got.told is not None
    assert got.told.reason == Reason.GOING_AWAY
    assert polite.cancelled.is_set() == bool(goes_on)
    await closing


async def test_a_stream_says_its_last_word_when_its_token_ends(
    serve: Serve, open_terms: Terms, issuer: DevelopmentIssuer
) -> None:
    allowed = AllowList({f"{echo.NAME}/{name}": [PERSON] for name in echo.METHODS})
    terms = replace(open_terms, door=Door(allowed=allowed, people=issuer.people()))
    served = await serve(terms, Polite())
    token = issuer.issue("ann", ttl_ms=1_000)
    metadata = (("authorization", f"Bearer {token}"),)
    stream = served.stub.Count(Int32Value(), metadata=metadata)

    word = await stream.read()
    got = await answer(stream.read())

    assert word.value == LAST_WORD
    assert got.code is StatusCode.UNAUTHENTICATED
    assert got.told is not None
    assert got.told.reason == Reason.TOKEN_EXPIRED


async def test_a_client_that_leaves_meanwhile_is_not_answered(serve: Serve) -> None:
    polite = Polite()
    served = await serve(servicer=polite)
    stream = served.stub.Count(Int32Value(value=1))
    await polite.reached.wait()
    closing = asyncio.create_task(served.server._edge.traffic.drain_streams(0))
    await stream.read()

    stream.cancel()

    await until(lambda: polite.cancelled.is_set() and not served.server._edge.traffic.streams)
    await closing
