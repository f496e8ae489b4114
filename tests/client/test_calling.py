"""Unary calls are made until there is an answer, and what is refused is typed."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

import libs.client
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.status import RefusedError, refused, status_of
from libs.client import Client, ConnectionLostError, new_command_id
from libs.client.calls import patiently
from libs.kernel.ids import is_uuid
from libs.kernel.reasons import Reason
from opolyx.match.v1 import match_service_pb2 as pb
from tests.support.gateway import FakeGateway, LiveMatch, serving_gateway


def answering(*answers: RefusedError | grpc.StatusCode | str) -> tuple[Any, list[Any]]:
    """Return a method that answers so, one after the other, and what it was asked."""
    asked: list[Any] = []

    async def method(request: Any, **_: Any) -> str:
        answer = answers[len(asked)]
        asked.append(request)
        if isinstance(answer, str):
            return answer
        raise _status_of(answer)

    return method, asked


def _status_of(answer: RefusedError | grpc.StatusCode) -> grpc.aio.AioRpcError:
    none = grpc.aio.Metadata()
    if isinstance(answer, grpc.StatusCode):
        return grpc.aio.AioRpcError(answer, none, none, details="gRPC's own")
    status = status_of(answer)
    trailing = grpc.aio.Metadata.from_tuple(tuple(status.trailing_metadata))
    return grpc.aio.AioRpcError(status.code, none, trailing, details=status.details)


async def test_what_passes_is_asked_again_as_it_was() -> None:
    method, asked = answering(
        refused(Reason.RATE_LIMITED, retry_after_ms=1),
        refused(Reason.STORE_UNAVAILABLE, retry_after_ms=1),
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        "done",
    )

    assert await patiently(method, "the request") == "done"
    assert asked == ["the request"] * 5


async def test_what_a_rule_refuses_is_told_at_once() -> None:
    method, asked = answering(refused(Reason.ROOM_FULL, seats=4))
    with pytest.raises(RefusedError) as error:
        await patiently(method, "the request")

    refusal = error.value
    assert (refusal.reason, refusal.rule) == ("ROOM_FULL", "")
    assert refusal.metadata == {"seats": "4"}
    assert refusal.text == "Every seat of the room is taken. (seats 4)"
    assert refusal.retry_after_ms is None
    assert len(asked) == 1


async def test_what_does_not_pass_in_time_is_told_as_it_is() -> None:
    method, _ = answering(refused(Reason.RATE_LIMITED, retry_after_ms=60_000))
    with pytest.raises(RefusedError) as error:
        await patiently(method, "the request", timeout_s=1)

    assert error.value.reason == "RATE_LIMITED"
    assert error.value.retry_after_ms == 60_000


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNIMPLEMENTED])
async def test_what_is_not_ours_is_no_answer(code: grpc.StatusCode) -> None:
    method, asked = answering(code)
    with pytest.raises(ConnectionLostError, match=code.name):
        await patiently(method, "the request")

    assert len(asked) == 1


async def test_nobody_there_is_no_answer_in_time() -> None:
    method, _ = answering(*[grpc.StatusCode.UNAVAILABLE] * 20)
    with pytest.raises(ConnectionLostError, match="UNAVAILABLE"):
        await patiently(method, "the request", timeout_s=0.2)


async def test_silence_is_no_answer_in_time() -> None:
    async def method(_: Any, **__: Any) -> str:
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(ConnectionLostError, match=r"0\.05 s"):
        await patiently(method, "the request", timeout_s=0.05)


def in_a_file(folder: Path, token: str) -> Path:
    (folder / "token").write_text(f"{token}\n", encoding="utf-8")
    return folder / "token"


GIVEN: list[tuple[str, Callable[[Path, str], Any]]] = [
    ("as it is", lambda _, token: token),
    ("in a file", in_a_file),
    ("by a function", lambda _, token: lambda: token),
]


@pytest.mark.parametrize("give", [give for _, give in GIVEN], ids=[name for name, _ in GIVEN])
async def test_a_token_is_given_in_several_ways(
    gateway: FakeGateway,
    live: LiveMatch,
    issuer: DevelopmentIssuer,
    tmp_path: Path,
    give: Callable[[Path, str], Any],
) -> None:
    token = give(tmp_path, issuer.issue("seat-1"))
    async with (
        serving_gateway(gateway, issuer) as server,
        Client.connect(server.address, token) as client,
    ):
        request = pb.ListLegalCommandsRequest(match_id=live.match_id)
        listed = await client.call(client.match.ListLegalCommands, request)

    assert listed.seat == 1


async def test_a_file_with_a_new_token_needs_no_new_client(
    gateway: FakeGateway, live: LiveMatch, issuer: DevelopmentIssuer, tmp_path: Path
) -> None:
    file = in_a_file(tmp_path, "an old one")
    async with (
        serving_gateway(gateway, issuer) as server,
        Client.connect(server.address, file) as client,
    ):
        with pytest.raises(RefusedError, match="TOKEN_INVALID"):
            await listing(client, live)
        in_a_file(tmp_path, issuer.issue("seat-0"))

        assert (await listing(client, live)).seat == 0


def listing(client: Client, live: LiveMatch) -> Awaitable[pb.ListLegalCommandsResponse]:
    request = pb.ListLegalCommandsRequest(match_id=live.match_id)
    return client.call(client.match.ListLegalCommands, request)


def test_command_ids_are_fresh() -> None:
    first, second = new_command_id(), new_command_id()

    assert first != second
    assert is_uuid(first)


def test_all_that_a_bot_needs_is_at_the_root_of_the_package() -> None:
    assert sorted(libs.client.__all__) == libs.client.__all__
    assert [name for name in libs.client.__all__ if not hasattr(libs.client, name)] == []
