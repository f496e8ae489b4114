import asyncio
from contextlib import AsyncExitStack
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import Int32Value, StringValue
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.chassis.edge import Terms
from libs.chassis.sections import ServerSettings
from libs.chassis.server import STOP_S, GrpcServer
from libs.kernel.reasons import Reason
from tests.chassis import echo
from tests.chassis.answers import answer, everything
from tests.support.waiting import until


class Open:
    """A server that the test closes by itself."""

    def __init__(self, terms: Terms, stream_grace_s: float) -> None:
        settings = ServerSettings(stream_grace_s=stream_grace_s)
        self.server = GrpcServer(
            Terms(
                service="echo",
                door=terms.door,
                settings=settings,
                clock=terms.clock,
                version=terms.version,
            )
        )
        self.servicer = echo.Echo()
        self.server.add(echo.register, self.servicer, echo.DESCRIPTOR)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> echo.Stub:
        await self.server.__aenter__()
        self.channel = await self._stack.enter_async_context(
            grpc.aio.insecure_channel(self.server.address)
        )
        return echo.Stub(self.channel)

    async def close(self) -> None:
        async with asyncio.timeout(20):
            await self.server.__aexit__(None, None, None)

    def sent(self) -> int:
        """Return how many messages the open streams have sent."""
        return sum(call.sent for call in self.server._edge.traffic.streams)

    async def __aexit__(self, *_: object) -> None:
        await self.close()
        await self._stack.aclose()


async def test_open_streams_are_told_to_go_away_and_hold_nobody_up(open_terms: Terms) -> None:
    opened = Open(open_terms, stream_grace_s=0.05)
    async with opened as stub:
        waiting = stub.Count(Int32Value(value=0))
        chatting = stub.Chat()
        await chatting.write(StringValue(value="a"))
        await chatting.read()
        await opened.servicer.reached.wait()

        await opened.close()

        for stream in (waiting, chatting):
            got = await answer(stream.read())
            assert got.code is StatusCode.UNAVAILABLE
            assert got.told is not None
            assert got.told.reason == Reason.GOING_AWAY
    assert opened.servicer.cancelled.is_set()


async def test_a_stream_may_end_in_its_own_words(open_terms: Terms) -> None:
    opened = Open(open_terms, stream_grace_s=60)
    async with opened as stub:
        stream = stub.Count(Int32Value(value=0))
        await opened.servicer.reached.wait()
        closing = asyncio.create_task(opened.close())
        await opened.server.draining.wait()
        opened.servicer.released.set()

        assert await everything(stream) == []
        await closing


@pytest.mark.slow
async def test_a_client_that_does_not_read_is_not_waited_for(open_terms: Terms) -> None:
    opened = Open(open_terms, stream_grace_s=0)
    async with opened:
        options = [("grpc.http2.bdp_probe", 0), ("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(opened.server.address, options) as channel:
            stream = echo.Stub(channel).Count(Int32Value(value=1_000_000))
            await stream.read()
            sent = 0
            while sent != opened.sent():  # until what the client takes unread is full
                sent = opened.sent()
                await asyncio.sleep(0.2)

            closing = asyncio.create_task(opened.close())
            await until(lambda: not opened.server._edge.traffic.streams, within_s=STOP_S - 1)
            await closing


async def test_a_unary_call_is_answered_before_the_server_is_gone(open_terms: Terms) -> None:
    opened = Open(open_terms, stream_grace_s=0)
    async with opened as stub:
        call = stub.Echo(StringValue(value="wait"))
        await opened.servicer.reached.wait()
        closing = asyncio.create_task(opened.close())
        await opened.server.draining.wait()
        opened.servicer.released.set()

        assert (await call).value == "wait"
        await closing


async def test_a_stream_that_comes_while_the_server_drains_is_sent_away(open_terms: Terms) -> None:
    opened = Open(open_terms, stream_grace_s=60)
    async with opened as stub:
        first = stub.Count(Int32Value(value=0))
        await opened.servicer.reached.wait()
        closing = asyncio.create_task(opened.close())
        await opened.server.draining.wait()

        got = await answer(everything(stub.Count(Int32Value(value=1))))

        opened.servicer.released.set()
        await everything(first)
        await closing
        assert got.told is not None
        assert got.told.reason == Reason.GOING_AWAY


async def test_who_watches_the_health_hears_of_it_and_holds_nobody_up(open_terms: Terms) -> None:
    opened = Open(open_terms, stream_grace_s=60)
    async with opened:
        health: Any = health_pb2_grpc.HealthStub(opened.channel)
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING

        await opened.close()

        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
