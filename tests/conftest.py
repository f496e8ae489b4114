"""What holds for every test: how hypothesis runs, and that the fast ones come first."""

import logging
import os
import signal
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

pytest_plugins = ["services.testkit.plugin"]

# Before grpc is imported, by whichever test: what its own library says would cut the progress up.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

# Two cores shared with other work are no place to time a single example; pytest-timeout watches.
# Everything else stays as hypothesis chooses it, repeatable examples under CI included.
settings.register_profile("opolyx", settings(), deadline=None, print_blob=True)
settings.load_profile("opolyx")


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Undo what a test did to the logs: their stream may be gone when the next one speaks."""
    settings_before, root = structlog.get_config(), logging.getLogger()
    handlers_before, level_before = root.handlers[:], root.level
    yield
    structlog.configure(**settings_before)
    root.handlers[:] = handlers_before
    root.setLevel(level_before)


def pytest_configure() -> None:
    """Hear Ctrl+C: whoever is begun in the background of a script ignores it, children included."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the fast part, then what needs a database, then the slow: plain mistakes show first."""
    items.sort(key=_part)


def _part(item: pytest.Item) -> int:
    if item.get_closest_marker("slow") is not None:
        return 2
    return 1 if item.get_closest_marker("postgres") is not None else 0
