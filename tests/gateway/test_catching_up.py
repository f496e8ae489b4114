"""The past of a match is checked on its way to a client, like what happens now (R1)."""

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from tests.chassis.answers import answer
from tests.gateway.rig import Rig, go_on
from tests.support.calling import next_of


@pytest.mark.parametrize("fault", ["forged", "unread"])
async def test_a_past_that_does_not_join_on_reaches_nobody(rig: Rig, fault: str) -> None:
    go_on(rig.live, 6)
    sound, spoilt = rig.live.records[:4], rig.live.records[4]
    getattr(rig.engine, fault).add(spoilt.first_seq)

    call = rig.client().watch(rig.live.match_id, after=0)
    told = [await next_of("record", call) for _ in sound]
    end = (await call.read()).go_away

    assert [record.hash for record in told] == [record.hash for record in sound]
    assert (end.reason, end.last_sequence) == (Reason.NOT_OWNER_OF_SHARD, sound[-1].last_seq)
    assert (await answer(call.read())).code is StatusCode.UNAVAILABLE
