"""What takes too long is noticed, and what does not costs nothing."""

import asyncio
from collections.abc import Callable

import pytest

from libs.chassis.watchdog import Watchdog

WITHIN_S = 0.05


class Barks:
    """When a dog barked, by the loop's clock."""

    def __init__(self) -> None:
        self.at_s: list[float] = []

    def __call__(self) -> None:
        self.at_s.append(asyncio.get_running_loop().time())


async def test_it_barks_once_in_time() -> None:
    barks, loop = Barks(), asyncio.get_running_loop()
    dog = Watchdog(WITHIN_S, barks)
    began_s = loop.time()
    dog.watch()
    await asyncio.sleep(4 * WITHIN_S)

    assert len(barks.at_s) == 1
    assert barks.at_s[0] >= began_s + WITHIN_S


async def test_each_watch_begins_anew() -> None:
    barks = Barks()
    dog = Watchdog(WITHIN_S, barks)
    dog.watch()
    last_s = 0.0
    for _ in range(5):
        await asyncio.sleep(WITHIN_S / 2)
        if not barks.at_s:
            last_s = asyncio.get_running_loop().time()
            dog.watch()
    await asyncio.sleep(3 * WITHIN_S)

    assert len(barks.at_s) == 1
    assert barks.at_s[0] >= last_s + WITHIN_S


@pytest.mark.parametrize("calm", [Watchdog.rest, Watchdog.close])
async def test_one_that_rests_is_silent(calm: Callable[[Watchdog], None]) -> None:
    barks = Barks()
    dog = Watchdog(WITHIN_S, barks)
    dog.watch()
    calm(dog)
    await asyncio.sleep(3 * WITHIN_S)

    assert barks.at_s == []


async def test_it_watches_again_after_a_rest_and_after_a_bark() -> None:
    barks = Barks()
    dog = Watchdog(WITHIN_S, barks)
    dog.watch()
    dog.rest()
    await asyncio.sleep(2 * WITHIN_S)
    for expected in (1, 2):
        dog.watch()
        await asyncio.sleep(3 * WITHIN_S)

        assert len(barks.at_s) == expected
