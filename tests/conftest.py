"""What holds for every test: how hypothesis runs, and that the fast ones come first."""

import pytest
from hypothesis import settings

# Two cores shared with other work are no place to time a single example; pytest-timeout watches.
# Everything else stays as hypothesis chooses it, repeatable examples under CI included.
settings.register_profile("opolyx", settings(), deadline=None, print_blob=True)
settings.load_profile("opolyx")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the fast part, then what needs a database, then the slow: plain mistakes show first."""
    items.sort(key=_part)


def _part(item: pytest.Item) -> int:
    if item.get_closest_marker("slow") is not None:
        return 2
    return 1 if item.get_closest_marker("postgres") is not None else 0
