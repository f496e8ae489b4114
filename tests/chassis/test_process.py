import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from libs.chassis import process
from libs.chassis.process import Restarts, Service, keep_running, serve
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow


class Lives:
    """What became of some services."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.ready = asyncio.Event()

    def service(self, name: str, *, is_stuck: bool = False) -> Service:
        @asynccontextmanager
        async def run() -> AsyncIterator[None]:
            self.told.append(f"{name} opens")
            try:
                yield
            finally:
                if is_stuck:
                    await asyncio.Event().wait()
                self.told.append(f"{name} closes")

        return Service(name, run)

    def failing(self, name: str, error: Exception) -> Service:
        @asynccontextmanager
        async def run() -> AsyncIterator[None]:
            async def fail() -> None:
                await self.ready.wait()
                raise error

            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fail())
                yield

        return Service(name, run)


@pytest.fixture
def lives() -> Lives:
    return Lives()


async def test_services_close_in_the_opposite_order(lives: Lives) -> None:
    stop = asyncio.Event()
    stop.set()

    await serve([lives.service("store"), lives.service("gateway")], stop=stop, grace_s=5)

    assert lives.told == ["store opens", "gateway opens", "gateway closes", "store closes"]


async def test_it_is_said_once_that_all_of_them_are_ready(lives: Lives) -> None:
    stop = asyncio.Event()

    def ready() -> None:
        lives.told.append("ready")
        stop.set()

    await serve([lives.service("store"), lives.service("lobby")], stop=stop, grace_s=5, ready=ready)

    assert lives.told[:3] == ["store opens", "lobby opens", "ready"]
    assert lives.told.count("ready") == 1


async def test_a_service_that_fails_takes_the_others_down_in_order(lives: Lives) -> None:
    services = [lives.service("store"), lives.failing("lobby", ValueError("bug"))]
    running = asyncio.create_task(
        serve([*services, lives.service("gateway")], stop=asyncio.Event(), grace_s=5)
    )
    lives.ready.set()

    with pytest.raises(ExceptionGroup) as caught:
        await running
    assert caught.group_contains(ValueError, match="bug")
    assert lives.told[-2:] == ["gateway closes", "store closes"]


async def test_a_service_that_does_not_open_closes_those_that_did(lives: Lives) -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise ValueError("no database")
        yield

    with pytest.raises(ValueError, match="no database"):
        await serve(
            [lives.service("store"), Service("lobby", broken)], stop=asyncio.Event(), grace_s=5
        )
    assert lives.told == ["store opens", "store closes"]


async def test_a_service_that_does_not_end_is_cut_off_and_the_others_still_close(
    lives: Lives, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "FORCED_S", 0.05)
    stop = asyncio.Event()
    stop.set()
    services = [lives.service("store"), lives.service("lobby", is_stuck=True)]

    async with asyncio.timeout(10):
        await serve(services, stop=stop, grace_s=0.05)

    assert lives.told[-1] == "store closes"


async def test_work_that_fails_begins_again_until_it_has_failed_too_often() -> None:
    tries = 0

    async def work() -> None:
        nonlocal tries
        tries += 1
        raise OSError("away")

    with pytest.raises(OSError, match="away"):
        await keep_running("reader", work, restarts=Restarts(attempts=3, first_delay_s=0.001))

    assert tries == 4


async def test_work_that_recovers_goes_on_and_may_end() -> None:
    tries = 0

    async def work() -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise OSError("away")

    restarts = Restarts(attempts=1, first_delay_s=0.001, settled_after_s=0)
    await keep_running("reader", work, restarts=restarts)

    assert tries == 3


def test_restarts_come_ever_later_and_never_too_late() -> None:
    restarts = Restarts(first_delay_s=0.1, delay_max_s=5)

    assert [restarts.delay_s(attempt) for attempt in (1, 2, 3)] == [0.1, 0.2, 0.4]
    assert restarts.delay_s(1_000_000) == 5


PROGRAM = """
import asyncio
import sys
from contextlib import asynccontextmanager

from libs.chassis.process import AddressError, Service, run
from libs.telemetry import logs

logs.configure()

@asynccontextmanager
async def service():
    if "fails" in sys.argv:
        raise ValueError("bug")
    if "taken" in sys.argv:
        raise ExceptionGroup("of a task group", [AddressError("7070 is taken")])
    print("ready", flush=True)
    yield
    if "stuck" in sys.argv:
        print("closing", flush=True)
        await asyncio.sleep(60)
    print("closed", flush=True)

raise SystemExit(run([Service("test", service)], grace_s=30))
"""


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start the program, and see to it that it doesn't outlive the test."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PROGRAM, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_process_in_good_order(number: signal.Signals) -> None:
    with started() as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(number)
        rest, _ = program.communicate(timeout=30)

    assert rest == "closed\n"
    assert program.returncode == 0


def test_a_second_signal_ends_it_at_once() -> None:
    with started("stuck") as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTERM)
        assert program.stdout.readline() == "closing\n"
        program.send_signal(signal.SIGTERM)
        rest, _ = program.communicate(timeout=30)

    assert rest == ""
    assert program.returncode == 1


def test_a_failure_is_told_and_is_the_exit_code() -> None:
    with started("fails") as program:
        output, logged = program.communicate(timeout=30)

    assert output == ""
    assert '"event": "service_failed"' in logged
    assert program.returncode == 1


def test_what_is_no_bug_is_told_in_one_line_and_without_a_traceback() -> None:
    with started("taken") as program:
        _, logged = program.communicate(timeout=30)
    line = json.loads(logged)

    assert (line["event"], line["level"]) == ("service_failed", "error")
    assert (line["error"], line["reason"]) == ("AddressError", "7070 is taken")
    assert "exception" not in line
    assert program.returncode == 1
