"""The pytest plugin: `pytest_plugins = ["services.testkit.plugin"]` in the top `conftest.py`.

A run that names none of its fixtures pays for none: what they are made of is imported by the first
test that does. So their types are not known here; see `stack`, `matches`, `dice` and `clock`.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

OPTION: Final = "--opolyx-store"
MEMORY: Final = "memory"
POSTGRES: Final = "postgres"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one option of the kit."""
    parser.getgroup("opolyx").addoption(
        OPTION,
        choices=(MEMORY, POSTGRES),
        default=MEMORY,
        help="what the stacks of the opolyx test kit stand on: memory (the default), or postgres, "
        "an embedded server that is really there",
    )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def opolyx_server(pytestconfig: pytest.Config) -> AsyncIterator[str | None]:
    """Yield the URL of the server whose databases stacks stand on; None on memory."""
    if pytestconfig.getoption(OPTION) == MEMORY:
        yield None
        return
    embedded = import_module("libs.store.embedded")
    folder = Path(tempfile.mkdtemp(prefix="opolyx-postgres-"))
    async with embedded.serving(f"embedded://{folder}", temporary=True) as url:
        yield url


@pytest_asyncio.fixture
async def opolyx_stack(
    request: pytest.FixtureRequest, opolyx_server: str | None
) -> AsyncIterator[Any]:
    """Yield a whole system that runs, the test's own: a `services.testkit.stack.Stack`."""
    kit = import_module("services.testkit.stack")
    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        raise import_module("services.testkit.errors").MisuseError(
            "a test with a running stack must be `async def`: nothing would answer it otherwise"
        )
    virtual = "virtual_clock" in request.fixturenames
    async with kit.running_stack(server=opolyx_server, virtual=virtual) as stack:
        yield stack


@pytest.fixture
def virtual_clock(opolyx_stack: Any) -> Any:
    """Return the clock of the stack, a `services.testkit.clock.VirtualClock`. It stands still."""
    return opolyx_stack.clock


@pytest.fixture
def match_factory(opolyx_stack: Any) -> Any:
    """Return what makes matches in the stack: a `services.testkit.matches.MatchFactory`."""
    return import_module("services.testkit.matches").MatchFactory(opolyx_stack)


@pytest.fixture
def scripted_dice() -> Any:
    """Return what scripts the draws of a match: `services.testkit.dice.Dice`."""
    return import_module("services.testkit.dice").Dice
