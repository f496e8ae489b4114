"""The bot in the guide is the one that plays here, whole matches on a real system."""

import re
from typing import Final

import pytest

from libs.kernel.ids import is_uuid
from tests.docs.desk import Desk
from tests.docs.reading import DOCS, blocks

PAGE: Final = DOCS / "first-bot.md"
CHOOSE: Final = re.compile(r"^def choose.*?\n\n\n", re.MULTILINE | re.DOTALL)
LINES: Final = 20


def written() -> str:
    return blocks(PAGE, "python")[0]


def building() -> str:
    """Return the bot with the other way to choose, which the guide shows later."""
    bot, found = CHOOSE.subn(lambda _: f"{blocks(PAGE, 'python')[1]}\n\n", written())
    assert found == 1
    return bot


def test_it_is_as_short_as_the_guide_says() -> None:
    lines = [line for line in written().splitlines() if line.strip()]

    assert len(lines) <= LINES


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("bot", [written(), building()], ids=["as it is", "that builds"])
async def test_it_plays_a_whole_match(desk: Desk, bot: str) -> None:
    (desk.folder / "bot.py").write_text(bot, encoding="utf-8")
    told = await desk.shell("\n".join([*blocks(PAGE, "sh"), ".venv/bin/python bot.py"]))

    first, last = told.splitlines()
    assert is_uuid(first.removeprefix("match "))
    assert re.fullmatch(r"round \d+ winner: seat [012]", last)
