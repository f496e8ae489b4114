"""The limits that other services keep are kept as the gateway tells them."""

import pytest

from libs.kernel.reasons import Reason
from opolyx.gateway.v1 import gateway_service_pb2 as pb
from opolyx.gateway.v1 import gateway_service_pb2_grpc as pb_grpc
from tests.e2e.kept import KEPT
from tests.e2e.rig import Stage

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


@pytest.mark.parametrize("name", sorted(KEPT))
async def test_beyond_a_limit_is_answered_what_the_gateway_says(stage: Stage, name: str) -> None:
    stub = pb_grpc.GatewayServiceStub(stage.channel)
    info = await stub.GetServerInfo(pb.GetServerInfoRequest())
    [limit] = [limit for limit in info.limits if limit.name == name]

    told = await KEPT[name](stage, int(limit.value))

    assert told.reason == limit.reason
    assert told.says_when == (told.reason == Reason.OVERLOADED)
    if told.says_when:  # others have numbers of their own in their metadata
        assert told.limit == name
