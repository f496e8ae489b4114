import asyncio
from dataclasses import replace
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.wrappers_pb2 import Int32Value, StringValue
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from libs.chassis.edge import Terms
from libs.chassis.process import AddressError
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.eventlog.ports import LogUnavailableError
from libs.kernel.reasons import Reason
from libs.store.ports import StoreUnavailableError
from tests.chassis import echo
from tests.chassis.answers import answer, everything, failure, infos
from tests.chassis.conftest import Serve
from tests.support.calling import rest_of, slow_channel
from tests.support.waiting import until

MALFORMED = b"\xff\xff"
UNKNOWN_FIELD = StringValue(value="a").SerializeToString() + b"\x10\x01"


async def test_every_kind_of_call_is_answered(serve: Serve) -> None:
    stub = (await serve()).stub
    numbers = [Int32Value(value=n) for n in (1, 2, 3)]
    texts = [StringValue(value=text) for text in ("a", "b")]

    assert await stub.say("hello") == "hello"
    assert [m.value for m in await everything(stub.Count(Int32Value(value=3)))] == [0, 1, 2]
    assert (await stub.Sum(iter(numbers))).value == 6
    assert [m.value for m in await everything(stub.Chat(iter(texts)))] == ["A", "B"]
    assert [m.value for m in await everything(stub.ReadAndWrite(iter(texts)))] == ["A", "B"]


async def test_a_refusal_has_its_code_its_facts_and_one_error_info(serve: Serve) -> None:
    served = await serve()

    error = await failure(served.stub.say("refuse"))

    [info] = infos(error)
    assert error.code() is StatusCode.NOT_FOUND
    assert (info.reason, info.domain) == ("MATCH_NOT_FOUND", "opolyx")
    assert dict(info.metadata) == {"match": "m"}
    assert error.details()


async def test_a_bug_is_internal_and_tells_nothing(serve: Serve) -> None:
    served = await serve()
    served.servicer.fails_with = KeyError("secret")

    error = await failure(served.stub.say("fail"))

    assert error.code() is StatusCode.INTERNAL
    assert "secret" not in (error.details() or "")
    assert infos(error) == []
    assert await served.stub.say("still here") == "still here"


async def test_a_response_that_is_none_is_a_bug(serve: Serve) -> None:
    assert (await answer((await serve()).stub.say("nothing"))).code is StatusCode.INTERNAL


@pytest.mark.parametrize("error", [StoreUnavailableError("x"), LogUnavailableError("x")])
async def test_what_the_world_does_is_unavailable_with_a_time_to_retry(
    serve: Serve, error: Exception
) -> None:
    served = await serve()
    served.servicer.fails_with = error

    got = await answer(served.stub.say("fail"))

    assert got.code is StatusCode.UNAVAILABLE
    assert got.told is not None
    assert got.told.reason == Reason.STORE_UNAVAILABLE
    assert got.retry_after_ms == 500


async def test_a_service_names_what_its_own_ports_raise(serve: Serve) -> None:
    served = await serve(operational={ZeroDivisionError: Reason.OVERLOADED})
    served.servicer.fails_with = ZeroDivisionError()

    got = await answer(served.stub.say("fail"))

    assert got.code is StatusCode.RESOURCE_EXHAUSTED


async def test_what_another_service_refused_is_passed_on_as_it_was(serve: Serve) -> None:
    behind, served = await serve(), await serve()
    served.servicer.fails_with = await failure(behind.stub.say("refuse"))

    got = await answer(served.stub.say("fail"))

    assert got.code is StatusCode.NOT_FOUND
    assert got.told is not None
    assert got.told.metadata == {"match": "m"}


async def test_a_bug_behind_is_a_bug_and_a_service_that_is_away_is_unavailable(
    serve: Serve,
) -> None:
    served = await serve()
    served.servicer.fails_with = grpc.aio.AioRpcError(StatusCode.UNKNOWN)
    unknown = await answer(served.stub.say("fail"))
    served.servicer.fails_with = grpc.aio.AioRpcError(StatusCode.UNAVAILABLE)
    away = await answer(served.stub.say("fail"))
    served.servicer.fails_with = grpc.aio.AioRpcError(StatusCode.DEADLINE_EXCEEDED)
    late = await answer(served.stub.say("fail"))

    assert unknown.code is StatusCode.INTERNAL
    assert away.code is StatusCode.UNAVAILABLE
    assert away.told is not None
    assert away.told.reason == Reason.STORE_UNAVAILABLE
    assert late.code is StatusCode.DEADLINE_EXCEEDED


async def test_what_a_servicer_says_to_grpc_itself_stands(serve: Serve) -> None:
    stub = (await serve()).stub

    assert (await answer(stub.say("abort"))).code is StatusCode.DATA_LOSS
    assert (await answer(stub.say("set code"))).code is StatusCode.DATA_LOSS


async def test_a_stream_can_be_refused_after_some_messages(serve: Serve) -> None:
    stream = (await serve()).stub.Count(Int32Value(value=-2))

    assert [(await stream.read()).value for _ in range(2)] == [0, 1]
    got = await answer(stream.read())
    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.SLOW_READER


async def test_malformed_bytes_are_an_invalid_request_in_every_kind_of_call(serve: Serve) -> None:
    stub = (await serve()).stub
    calls = [
        stub.RawEcho(MALFORMED),
        everything(stub.RawChat(iter([MALFORMED]))),
        everything(stub.RawReadAndWrite(iter([MALFORMED]))),
        stub.say("malformed"),
    ]

    for call in calls:
        error = await failure(call)
        [info] = infos(error)
        assert error.code() is StatusCode.INVALID_ARGUMENT
        assert info.reason == "INVALID_REQUEST"


async def test_a_message_that_is_too_large_is_an_invalid_request(serve: Serve) -> None:
    served = await serve(settings=ServerSettings(request_bytes_max=1024))
    fits, too_large = "x" * 1000, "x" * 1100

    assert await served.stub.say(fits) == fits
    got = await answer(served.stub.say(too_large))
    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert got.told.reason == Reason.INVALID_REQUEST
    assert "1024" in got.told.violations[0].description


async def test_a_field_that_is_not_known_is_refused_to_clients_alone(serve: Serve) -> None:
    strict, lenient = await serve(is_strict=True), await serve()

    got = await answer(strict.stub.RawEcho(UNKNOWN_FIELD))

    assert got.told is not None
    assert got.told.reason == Reason.INVALID_REQUEST
    assert [violation.field for violation in got.told.violations] == ["#2"]
    assert await lenient.stub.RawEcho(UNKNOWN_FIELD)


async def test_a_method_that_there_is_not_is_unimplemented(serve: Serve) -> None:
    served = await serve()
    call = served.channel.unary_unary(f"/{echo.NAME}/Nothing")

    assert (await answer(call(b""))).code is StatusCode.UNIMPLEMENTED


async def test_a_request_is_named_by_its_caller_or_by_us(serve: Serve) -> None:
    served = await serve()
    named = served.stub.Echo(StringValue(value="who"), metadata=(("x-request-id", "mine-1"),))
    unnamed = served.stub.Echo(StringValue(value="who"))
    badly = served.stub.Echo(StringValue(value="who"), metadata=(("x-request-id", "a b"),))

    assert (await named).value.endswith(" mine-1")
    assert dict(await named.trailing_metadata()) == {
        "x-request-id": "mine-1",
        "opolyx-version": "1.2.3",
    }
    ours = dict(await unnamed.trailing_metadata())["x-request-id"]
    assert (await unnamed).value.endswith(str(ours))
    assert (await badly).value.endswith("a b") is False


async def test_an_error_names_its_request_too(serve: Serve) -> None:
    served = await serve()

    error = await failure(served.stub.say("refuse", metadata=(("x-request-id", "mine-2"),)))

    assert dict(error.trailing_metadata() or ())["x-request-id"] == "mine-2"


async def test_a_unary_call_that_takes_too_long_is_ended(serve: Serve) -> None:
    served = await serve(settings=ServerSettings(unary_timeout_s=0.05))

    got = await answer(served.stub.Echo(StringValue(value="wait")))

    assert got.code is StatusCode.DEADLINE_EXCEEDED
    assert served.servicer.cancelled.is_set()


async def test_a_caller_that_goes_away_cancels_the_handler(serve: Serve) -> None:
    served = await serve()
    call = served.stub.Echo(StringValue(value="wait"))
    await served.servicer.reached.wait()

    call.cancel()

    async with asyncio.timeout(10):
        await served.servicer.cancelled.wait()


async def test_more_calls_than_may_be_are_overloaded(serve: Serve) -> None:
    settings = ServerSettings(unary_calls_max=1, streams_max=1, stream_grace_s=0)
    served = await serve(settings=settings)
    first = served.stub.Echo(StringValue(value="wait"))
    await served.servicer.reached.wait()
    stream = served.stub.Chat()
    await stream.write(StringValue(value="a"))
    await stream.read()

    second = await answer(served.stub.say("hello"))
    second_stream = await answer(everything(served.stub.Chat(iter([StringValue()]))))
    served.servicer.released.set()
    await first
    stream.cancel()

    for got in (second, second_stream):
        assert got.code is StatusCode.RESOURCE_EXHAUSTED
        assert got.told is not None
        assert got.told.reason == Reason.OVERLOADED
        assert got.retry_after_ms == 250
    assert await served.stub.say("hello") == "hello"


@pytest.mark.parametrize("detail", ["ErrorInfo", "BadRequest", "RetryInfo"])
async def test_reflection_tells_what_the_details_of_a_status_are(serve: Serve, detail: str) -> None:
    """So that `grpcurl` prints them, and a client without the files can decode them."""
    served = await serve()
    reflection: Any = reflection_pb2_grpc.ServerReflectionStub(served.channel)
    name = f"google.rpc.{detail}"
    ask = reflection_pb2.ServerReflectionRequest(file_containing_symbol=name)

    [response] = await everything(reflection.ServerReflectionInfo(iter([ask])))

    [described] = response.file_descriptor_response.file_descriptor_proto[:1]
    assert FileDescriptorProto.FromString(described).name == "google/rpc/error_details.proto"


async def test_health_and_reflection_are_there_for_anyone(serve: Serve) -> None:
    served = await serve()
    health: Any = health_pb2_grpc.HealthStub(served.channel)
    reflection: Any = reflection_pb2_grpc.ServerReflectionStub(served.channel)
    ask = reflection_pb2.ServerReflectionRequest(list_services="")

    for service in ("", echo.NAME):
        request = health_pb2.HealthCheckRequest(service=service)
        assert (await health.Check(request)).status == health_pb2.HealthCheckResponse.SERVING
    [response] = await everything(reflection.ServerReflectionInfo(iter([ask])))
    names = [service.name for service in response.list_services_response.service]
    assert names == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        echo.NAME,
    ]


async def test_a_server_can_say_that_it_can_not_handle_calls_now(serve: Serve) -> None:
    served = await serve()
    health: Any = health_pb2_grpc.HealthStub(served.channel)
    await served.server.set_serving(is_serving=False)

    response = await health.Check(health_pb2.HealthCheckRequest(service=echo.NAME))

    assert response.status == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_port_is_not_shared(serve: Serve, open_terms: Terms) -> None:
    served = await serve()
    port = int(served.server.address.rpartition(":")[2])
    second = GrpcServer(replace(open_terms, settings=ServerSettings(port=port)))
    second.add(echo.register, echo.Echo(), echo.DESCRIPTOR)

    with pytest.raises(AddressError, match=str(port)):
        await second.__aenter__()


async def test_a_server_whose_methods_are_not_all_allowed_to_somebody_does_not_start(
    open_terms: Terms,
) -> None:
    server = GrpcServer(open_terms)

    with pytest.raises(ValueError, match=f"{echo.NAME}/Echo"):
        await server.__aenter__()


async def test_a_client_that_does_not_read_is_cut_off_and_holds_nobody_up(
    serve: Serve, open_terms: Terms
) -> None:
    terms = replace(open_terms, settings=ServerSettings(write_timeout_s=0.2))
    served = await serve(terms)
    async with slow_channel(served.server.address) as channel:
        slow: Any = type(served.stub)(channel).Count(Int32Value(value=1_000_000))
        await slow.read()
        await until(lambda: not served.server._edge.traffic.streams)
        got = await answer(rest_of(slow))

    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.SLOW_READER
    assert got.retry_after_ms is not None
