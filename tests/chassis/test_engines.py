"""The way to the engine that owns a match: again elsewhere, whoever says that it is elsewhere."""

from collections.abc import AsyncIterator

import pytest

from libs.chassis.channels import Channel, open_channel
from libs.chassis.engines import Engines
from libs.chassis.status import RefusedError, refused
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from tests.support.engine import Engine, serving
from tests.support.waiting import until

MATCH = MatchId("01920000-0000-7000-8000-000000000000")


@pytest.fixture
async def engines() -> AsyncIterator[Engines]:
    async with serving(Engine()) as engine, Engines([engine.address], open_channel) as way:
        await until(lambda: way.owner(MATCH) is not None)
        yield way


async def test_work_that_is_refused_since_the_match_is_elsewhere_is_done_again(
    engines: Engines,
) -> None:
    refusals = [refused(Reason.GOING_AWAY), refused(Reason.NOT_OWNER_OF_SHARD)]

    async def work(_: Channel) -> str:
        if refusals:
            raise refusals.pop()
        return "done"

    assert await engines.call(MATCH, work) == "done"


async def test_any_other_refusal_is_the_answer(engines: Engines) -> None:
    asked = []

    async def work(channel: Channel) -> None:
        asked.append(channel)
        raise refused(Reason.OVERLOADED)

    with pytest.raises(RefusedError, match=Reason.OVERLOADED):
        await engines.call(MATCH, work)
    assert len(asked) == 1
