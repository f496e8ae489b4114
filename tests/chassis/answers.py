"""Reads what a call was answered with."""

from collections.abc import Awaitable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from libs.chassis.status import Answer, answer_of


async def answer(call: Awaitable[Any]) -> Answer:
    """Wait for a call that fails, and return how."""
    return answer_of(await failure(call))


async def failure(call: Awaitable[Any]) -> grpc.aio.AioRpcError:
    """Wait for a call that fails, and return its error."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


async def everything(stream: Any) -> list[Any]:
    """Read a stream to its end."""
    return [message async for message in stream]


def infos(error: grpc.aio.AioRpcError) -> list[error_details_pb2.ErrorInfo]:
    """Return every ErrorInfo of a status: there has to be one."""
    found = []
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    found.append(info)
    return found
