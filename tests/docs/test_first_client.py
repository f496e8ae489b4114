"""The guide to a first client is carried out, block by block, on a real system."""

import json
from typing import Final

import pytest

from tests.docs.desk import Desk
from tests.docs.reading import DOCS, blocks

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

PAGE: Final = DOCS / "first-client.md"


async def test_every_block_does_what_it_says(desk: Desk) -> None:
    told = await desk.shell("\n".join(blocks(PAGE, "sh")))

    assert "refused, exit code 72" in told
    watched = (desk.folder / "watched.json").read_text(encoding="utf-8")
    last = json.loads(watched[watched.rindex("\n{") :])
    assert last["goAway"]["reason"] == "MATCH_ENDED"
    assert "\nok: match " in told
    assert "\nthe head is signed by " in told
