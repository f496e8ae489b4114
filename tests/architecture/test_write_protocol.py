"""Every step of the write protocol that is cited is defined, once, on its page."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.support.repository import ROOT, texts

PAGE: Final = Path("deploy/docs/write-protocol.md")
CITED_IN: Final = ("libs", "services", "protos", "tests", "deploy")

STEP: Final = re.compile(r"(?<![\w.-])[WTRI][1-9]?[0-9]a?\b")
"""The id of a step wherever it stands; ruff's rules have three digits."""
DEFINITION: Final = re.compile(rf"^- \*\*({STEP.pattern})\*\* ", re.MULTILINE)


@pytest.fixture(scope="module")
def defined() -> Counter[str]:
    """Return how often the page defines each step."""
    return Counter(DEFINITION.findall((ROOT / PAGE).read_text(encoding="utf-8")))


def test_every_step_that_is_cited_is_defined(defined: Counter[str]) -> None:
    unknown = [
        f"{path}: {step}"
        for path, text in texts()
        if path.parts[0] in CITED_IN and path.suffix in (".py", ".md", ".proto")
        for step in STEP.findall(text)
        if step not in defined
    ]

    assert not unknown, f"{PAGE} does not know them: {unknown}"


def test_no_step_is_defined_twice(defined: Counter[str]) -> None:
    assert [step for step, count in defined.items() if count > 1] == []


def test_no_step_of_a_kind_is_left_out(defined: Counter[str]) -> None:
    numbers = {
        kind: [int(step[1:]) for step in defined if step[0] == kind and step[1:].isdigit()]
        for kind in "WRTI"
    }

    assert all(found == list(range(found[0], found[-1] + 1)) for found in numbers.values())


@pytest.mark.parametrize("citation", ["(write protocol, {})", "({})", "invariant {}.", "{} and"])
def test_a_citation_is_found(citation: str) -> None:
    step = f"T{8}"

    assert STEP.findall(citation.format(step)) == [step]


def test_a_rule_of_ruff_is_no_step() -> None:
    assert STEP.findall("# noqa: T201") == []
