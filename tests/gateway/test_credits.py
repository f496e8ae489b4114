"""Room at the engine for commands: who takes some waits in a queue until there is."""

import asyncio

import pytest

from libs.chassis.status import RefusedError
from services.gateway.deciding import Credits

TIMEOUT_S = 5.0


async def test_who_has_waited_longest_has_room_first() -> None:
    room = Credits()
    first, second = _waiting(room), _waiting(room)
    await asyncio.sleep(0)

    room.add(1)
    await first

    assert not second.done()
    room.add(1)
    await second


async def test_what_is_given_to_somebody_who_is_gone_is_the_next_ones() -> None:
    room = Credits()
    gone, next_one = _waiting(room), _waiting(room)
    await asyncio.sleep(0)

    # In one step of the loop: it has the room, and cannot use it any more.
    room.add(1)
    gone.cancel()

    async with asyncio.timeout(TIMEOUT_S):
        await next_one
    assert gone.cancelled()


async def test_who_leaves_before_there_is_room_takes_none() -> None:
    room = Credits()
    gone = _waiting(room)
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])

    room.add(1)

    async with asyncio.timeout(TIMEOUT_S):
        await room.take()


async def test_nobody_waits_for_room_that_will_never_be() -> None:
    room = Credits()
    waiting = _waiting(room)
    await asyncio.sleep(0)

    room.close()

    for taking in (waiting, room.take()):
        with pytest.raises(RefusedError, match="GOING_AWAY"):
            await taking


def _waiting(room: Credits) -> asyncio.Task[None]:
    return asyncio.create_task(room.take())
