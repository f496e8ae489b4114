"""What the guide to scenarios lists is what there is."""

import re
from collections.abc import Iterator
from typing import Any, Final

from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.state import describe
from libs.scenarios.commands import COMMANDS
from libs.scenarios.scenario import EVENT_TYPES
from libs.wire.record import decode
from tests.support.matches import play_match
from tests.support.repository import ROOT

GUIDE: Final = (ROOT / "libs/scenarios/README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return what stands under a title of the guide."""
    return GUIDE.partition(f"### {title}\n")[2].partition("\n#")[0]


def first_cells(title: str) -> list[str]:
    """Return the names in the first column of the table under a title."""
    rows = [line.split("|")[1] for line in section(title).splitlines() if line.startswith("| `")]
    return [name for cell in rows for name in re.findall("`([^`]+)`", cell)]


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Go through the paths of a state that end in plain values or in lists of them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            step = "N" if key.isdigit() else key
            yield from paths(inner, f"{path}.{step}" if path else step)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from paths(inner, f"{path}.N")
    elif path not in MAY_BE_ABSENT:
        yield path


MAY_BE_ABSENT: Final = ("auction", "debts", "offers", "deadline")
"""Paths with others below them, which are null or empty where there is nothing to tell."""


def test_every_path_of_a_state_is_listed_and_no_other() -> None:
    match = Match()
    found: dict[str, None] = {}
    for stored in play_match("opolyx.classic@2", 3, seed=4, records_max=400).records:
        record = decode(stored.data)
        apply(match, record.events)
        found.update(dict.fromkeys(paths(describe(match, record.at_ms))))

    assert sorted(first_cells("Paths of the state")) == sorted(found)


def test_every_command_is_listed_and_no_other() -> None:
    assert sorted(first_cells("Names of commands")) == sorted(COMMANDS)


def test_the_fields_of_commands_are_those_that_are_listed() -> None:
    rows = [line.split("|") for line in section("Names of commands").splitlines() if "`" in line]
    told = {
        name: re.findall("`([^`]+)`", row[2])
        for row in rows
        for name in re.findall("`([^`]+)`", row[1])
    }

    for name, (_, readers) in COMMANDS.items():
        assert [field for field in told[name] if field in readers] == list(readers), name


def test_every_event_is_listed_and_no_other() -> None:
    listed = re.findall("`([A-Za-z]+)`", section("Names of events"))

    assert sorted(listed) == sorted(EVENT_TYPES)
