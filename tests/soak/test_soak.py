"""The soak itself, for some seconds: that it would see what goes wrong. `python -m tests.soak`."""

from __future__ import annotations

import asyncio

import pytest

from tests.soak.people import HABITS, Person, Seen
from tests.soak.watching import Sample, Watcher, growth_mib_per_h
from tests.support.system import running_system
from tests.support.waiting import until


@pytest.mark.slow
@pytest.mark.postgres
async def test_people_of_every_habit_play_and_are_watched() -> None:
    seen, samples = Seen(), list[Sample]()
    async with running_system(pace_ms=20) as system:
        people = [Person(system, number, seen, 0.0) for number in range(len(HABITS))]
        watching = asyncio.create_task(Watcher(system, seen).watch(0.5, samples))
        playing = [asyncio.create_task(person.play()) for person in people]
        await until(lambda: bool(seen.returned and seen.repeated > 5 and samples), 90)
        for task in (watching, *playing):
            task.cancel()
        await asyncio.gather(watching, *playing, return_exceptions=True)

    assert seen.errors == []
    assert {told.match_id for told in seen.acknowledged} <= set(seen.matches)
    assert samples[-1].services_mib > 50
    assert samples[-1].store_mib > 5


def test_what_comes_up_once_is_no_growth_and_what_goes_on_is() -> None:
    def samples(*held: float) -> list[Sample]:
        return [Sample(60.0 * n, mib, 0, 0, 0, 0, 0, 0) for n, mib in enumerate(held)]

    assert growth_mib_per_h(samples(100, 150, 180, *[200] * 9)) == 0
    assert growth_mib_per_h(samples(*range(100, 112))) == pytest.approx(60)
