"""What holds for every test: how hypothesis runs, and that the slow tests come last."""

import pytest
from hypothesis import settings

# Two cores shared with other work are no place to time a single example; pytest-timeout watches.
# Everything else stays as hypothesis chooses it, repeatable examples under CI included.
settings.register_profile("opolyx", settings(), deadline=None, print_blob=True)
settings.load_profile("opolyx")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what is marked slow last, so that a plain mistake shows in the first seconds."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
