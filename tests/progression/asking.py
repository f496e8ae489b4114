"""What calls are refused with."""

from collections.abc import Awaitable

import grpc
import pytest

from libs.chassis.status import answer_of


async def refusal(call: Awaitable[object]) -> tuple[str, str, dict[str, str]]:
    """Return the code, the reason and the facts of a call that is refused."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    answer = answer_of(raised.value)
    assert answer.told is not None
    return answer.code.name, answer.told.reason, answer.told.metadata
