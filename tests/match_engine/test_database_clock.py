"""The time by the store's clock (T7)."""

from collections.abc import Awaitable, Callable, Iterator

import pytest

from libs.store.ports import StoreUnavailableError
from services.match_engine.database_clock import TRIES, DatabaseClock, steady_ms

STORE_AHEAD_MS = 1_800_000_000_000


class Clocks:
    """A store's clock and a steady one, and how long each question takes on its ways."""

    def __init__(self) -> None:
        self.steady = 500.0
        self.ahead = float(STORE_AHEAD_MS)
        self.ways: Iterator[tuple[float, float]] = iter(())

    async def store_now_ms(self) -> int:
        there, back = next(self.ways, (0.0, 0.0))
        self.steady += there
        told = int(self.steady + self.ahead)
        self.steady += back
        return told


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
async def clock(clocks: Clocks) -> DatabaseClock:
    measured = DatabaseClock(clocks.store_now_ms, lambda: clocks.steady)
    await measured.measure()
    return measured


async def test_it_tells_the_stores_time_without_asking(
    clock: DatabaseClock, clocks: Clocks
) -> None:
    clocks.ways = iter([])
    clocks.steady += 1_234

    assert clock.now_ms() == STORE_AHEAD_MS + 500 + 1_234


async def test_the_shortest_way_counts_whatever_the_others_say(clocks: Clocks) -> None:
    clocks.ways = iter([(900.0, 0.0), (0.0, 700.0), (1.0, 1.0), (400.0, 5.0), (0.0, 80.0)])
    clock = DatabaseClock(clocks.store_now_ms, lambda: clocks.steady)

    await clock.measure()

    assert clock.now_ms() == int(clocks.steady + STORE_AHEAD_MS)


async def test_it_steps_forward_to_a_store_that_is_ahead(
    clock: DatabaseClock, clocks: Clocks
) -> None:
    before = clock.now_ms()
    clocks.ahead += 60_000

    await clock.measure()

    assert clock.now_ms() == before + 60_000


async def test_it_never_goes_back_and_meets_the_store_at_half_speed(
    clock: DatabaseClock, clocks: Clocks
) -> None:
    before = clock.now_ms()
    clocks.ahead -= 1_000

    await clock.measure()
    at_once = clock.now_ms()
    clocks.steady += 1_000
    half_way = clock.now_ms()
    clocks.steady += 3_000
    later = clock.now_ms()

    assert at_once == before
    assert half_way == before + 500
    assert later == before + 3_000


async def test_a_second_measurement_while_it_is_ahead_takes_nothing_back(
    clock: DatabaseClock, clocks: Clocks
) -> None:
    clocks.ahead -= 10_000
    told = [clock.now_ms()]
    for _ in range(5):
        await clock.measure()
        told.append(clock.now_ms())
        clocks.steady += 100
        told.append(clock.now_ms())

    assert told == sorted(told)
    assert told[-1] == told[0] + 5 * 50


async def test_a_store_that_does_not_answer_changes_nothing(
    clock: DatabaseClock, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse() -> int:
        raise StoreUnavailableError

    before = clock.now_ms()
    asked: Callable[[], Awaitable[int]] = refuse
    monkeypatch.setattr(clock, "_store_now_ms", asked)

    with pytest.raises(StoreUnavailableError):
        await clock.measure()

    clocks.steady += 10
    assert clock.now_ms() == before + 10


def test_it_asks_more_than_once() -> None:
    assert TRIES > 1


def test_the_steady_clock_counts_milliseconds() -> None:
    first = steady_ms()

    assert 0 <= steady_ms() - first < 60_000
