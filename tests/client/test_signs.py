"""A table knows whether its stream is open, and what the server's clock says."""

import asyncio

from libs.client.client import Client
from libs.client.signs import Signs
from opolyx.match.v1.stream_pb2 import GoAway
from tests.support.gateway import FakeGateway, LiveMatch
from tests.support.waiting import until

AWAY = GoAway(reason="GOING_AWAY", reconnect_after_ms=1)


async def test_before_anything_is_heard_nothing_is_lost() -> None:
    signs = Signs()

    assert (signs.opened.is_set(), signs.lost.is_set(), signs.server_ms()) == (False, False, 0)
    signs.lose()
    assert not signs.lost.is_set()


async def test_the_clock_of_the_server_goes_on_between_two_signs() -> None:
    signs = Signs()
    signs.hear(1_000_000)
    before = signs.server_ms()
    await until(lambda: signs.server_ms() >= before + 50)

    assert 1_000_000 <= before < signs.server_ms()


async def test_a_stream_that_breaks_off_is_lost_until_the_next_is_open(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    async with asyncio.timeout(20), client.watch(live.match_id) as table:
        await anext(table)
        was_open = table.signs.opened.is_set()
        gateway.cut(AWAY)
        await table.signs.lost.wait()
        was_lost = not table.signs.opened.is_set()
        await table.signs.opened.wait()

    assert (was_open, was_lost) == (True, True)
    assert not table.signs.lost.is_set()


async def test_the_end_of_a_match_is_no_loss(client: Client, live: LiveMatch) -> None:
    while not live.has_ended:
        live.fire()
    async with asyncio.timeout(60), client.watch(live.match_id) as table:
        async for _ in table:
            pass

    assert not table.signs.lost.is_set()
