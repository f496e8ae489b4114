"""The pages that are made, and what makes them."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.docs.making.api import api_page
from tests.docs.making.events import events_page
from tests.docs.making.reasons import reasons_page

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "api.md": api_page,
    "reasons.md": reasons_page,
    "events.md": events_page,
}
"""Each by its file in deploy/docs."""
