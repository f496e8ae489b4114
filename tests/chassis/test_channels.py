import asyncio
from dataclasses import replace

import grpc
import pytest
from google.protobuf.wrappers_pb2 import Int32Value, StringValue
from grpc import StatusCode

from libs.chassis.admission import Door
from libs.chassis.channels import Channel, on_behalf, open_channel
from libs.chassis.edge import Terms
from libs.chassis.issuing import DevelopmentIssuer, ServiceToken
from libs.chassis.roles import AllowList, service
from libs.kernel.clock import ManualClock
from libs.store.ports import StoreUnavailableError
from libs.telemetry import traces
from opolyx.engine.v1.caller_pb2 import Caller
from tests.chassis import echo
from tests.chassis.answers import answer, everything
from tests.chassis.conftest import Serve
from tests.support.waiting import until

REMOTE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


@pytest.fixture
def terms(open_terms: Terms, issuer: DevelopmentIssuer) -> Terms:
    """Terms of a server that lets the gateway in, and nobody else."""
    allowed = AllowList({f"{echo.NAME}/{name}": [service("gateway")] for name in echo.METHODS})
    door = Door(allowed=allowed, services=issuer.services(), believed={"gateway"})
    return replace(open_terms, door=door)


async def test_a_service_calls_as_itself_in_every_kind_of_call(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer, clock: ManualClock
) -> None:
    served = await serve(terms)
    token = ServiceToken("gateway", issuer.issue_for_service, clock)
    async with open_channel(served.server.address, token=token) as channel:
        stub = echo.Stub(channel)

        assert (await stub.say("who")).startswith("gateway service:gateway ")
        assert len(await everything(stub.Count(Int32Value(value=2)))) == 2
        assert (await stub.Sum(iter([Int32Value(value=2)]))).value == 2
        assert [m.value for m in await everything(stub.Chat(iter([StringValue(value="a")])))] == [
            "A"
        ]
        behalf = on_behalf(Caller(player_id="ann").SerializeToString())
        assert await stub.say("on behalf", metadata=behalf) == "ann"


async def test_a_call_has_a_deadline_though_nobody_gave_it_one(serve: Serve) -> None:
    served = await serve()
    async with open_channel(served.server.address, timeout_s=0.05) as channel:
        call = echo.Stub(channel).Echo(StringValue(value="wait"))

        assert (await answer(call)).code is StatusCode.DEADLINE_EXCEEDED
    async with asyncio.timeout(10):
        await served.servicer.cancelled.wait()


async def test_a_stream_has_no_deadline_of_its_own(serve: Serve) -> None:
    served = await serve()
    async with open_channel(served.server.address, timeout_s=0.01) as channel:
        stream = echo.Stub(channel).Count(Int32Value(value=0))

        assert stream.time_remaining() is None
        stream.cancel()


async def test_a_call_carries_its_trace_and_the_id_of_the_call_that_caused_it(
    serve: Serve,
) -> None:
    served = await serve()
    async with open_channel(served.server.address) as channel:
        with traces.serving("a.B/C", REMOTE):
            metadata = dict(channel.metadata((("own", "x"),)))

    assert metadata == {"own": "x", **REMOTE}


class Flaky(echo.Echo):
    """Is unavailable the first times that it is asked."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures
        self.calls = 0

    async def Echo(  # noqa: N802
        self, request: StringValue, context: grpc.aio.ServicerContext[StringValue, StringValue]
    ) -> StringValue:
        self.calls += 1
        if self.calls <= self.failures:
            raise StoreUnavailableError("starting")
        return await super().Echo(request, context)


async def test_what_is_unavailable_is_tried_again_where_that_is_wanted(serve: Serve) -> None:
    served = await serve(servicer=Flaky(2))
    async with open_channel(served.server.address) as channel:
        assert await echo.Stub(channel).say("hello") == "hello"

    assert served.servicer.calls == 3


async def test_where_the_caller_tries_again_itself_nobody_else_does(serve: Serve) -> None:
    served = await serve(servicer=Flaky(2))
    async with open_channel(served.server.address, retries=False) as channel:
        got = await answer(echo.Stub(channel).say("hello"))

    assert got.code is StatusCode.UNAVAILABLE
    assert served.servicer.calls == 1


async def test_a_server_that_is_not_there_is_unavailable_in_time() -> None:
    async with open_channel("127.0.0.1:1", retries=False) as channel:
        assert isinstance(channel, Channel)
        got = await answer(echo.Stub(channel).say("hello"))

    assert got.code is StatusCode.UNAVAILABLE
    assert got.told is None


async def test_a_service_that_is_away_is_looked_for_again_soon() -> None:
    arrivals = 0

    async def turn_away(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrivals
        arrivals += 1
        writer.close()

    listener = await asyncio.start_server(turn_away, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, open_channel(f"127.0.0.1:{port}", retries=False) as channel:

        async def has_come_often() -> bool:
            channel.get_state(try_to_connect=True)
            return arrivals >= 4

        # By grpc's own choice the fourth time would be after five seconds.
        await until(has_come_often, within_s=3)
