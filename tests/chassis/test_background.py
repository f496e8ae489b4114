import asyncio

import pytest

from libs.chassis.background import Background
from libs.chassis.together import cancel_all, end, first_of


class WorkError(Exception):
    pass


async def fail() -> None:
    raise WorkError


async def test_what_runs_in_the_background_ends_with_it() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Background() as background:
        background.start(work())
        await began.wait()

    assert ended.is_set()


async def test_a_bug_in_the_background_ends_whoever_has_it_open() -> None:
    async def be_open() -> None:
        async with Background() as background:
            background.start(fail())
            await asyncio.Event().wait()

    with pytest.raises(ExceptionGroup) as caught:
        await be_open()

    assert caught.group_contains(WorkError)


async def test_what_may_fail_for_a_while_is_begun_again() -> None:
    attempts, recovered = 0, asyncio.Event()

    async def work() -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise WorkError
        recovered.set()

    async with Background() as background, asyncio.timeout(10):
        background.keep("work", work)
        await recovered.wait()

    assert attempts == 2


async def test_the_first_that_ends_is_the_end_of_the_others() -> None:
    cancelled = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def yield_and_fail() -> None:
        await asyncio.sleep(0)
        raise WorkError

    with pytest.raises(WorkError):
        await first_of(wait(), yield_and_fail())

    assert cancelled.is_set()


async def test_what_is_cancelled_has_ended_and_its_failure_is_nobodys() -> None:
    tasks = [asyncio.create_task(fail()), asyncio.create_task(asyncio.Event().wait())]
    await asyncio.sleep(0)

    await cancel_all(tasks)

    assert all(task.done() for task in tasks)


async def test_the_failure_of_what_is_ended_alone_is_told() -> None:
    failed = asyncio.create_task(fail())
    waiting = asyncio.create_task(_forever())
    await asyncio.sleep(0)

    await end(waiting)

    assert waiting.cancelled()
    with pytest.raises(WorkError):
        await end(failed)


async def _forever() -> None:
    await asyncio.Event().wait()
