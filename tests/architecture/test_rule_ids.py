"""Every rule stands in the rule book, has a test that names it, and a scenario that shows it."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.rule_ids import RULE_ID, SPECIFIED, WITHOUT_SCENARIO
from tests.support.repository import ROOT, python_files, texts

RULE_BOOK: Final = ROOT / "libs/rules/README.md"
SCENARIOS: Final = ROOT / "tests/rules/scenarios"


@pytest.fixture(scope="module")
def rules() -> list[str]:
    """Return the ids that the rule book defines or cites, each once, in its order."""
    assert RULE_BOOK.exists(), f"the rule book is missing: {RULE_BOOK.relative_to(ROOT)}"
    return list(dict.fromkeys(RULE_ID.findall(RULE_BOOK.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def shown() -> dict[str, list[str]]:
    """Return the scenario files by the rule that they show."""
    files: dict[str, list[str]] = {}
    for path in sorted(SCENARIOS.glob("*.json")):
        for rule in json.loads(path.read_text(encoding="utf-8"))["rules"]:
            files.setdefault(rule, []).append(path.name)
    return files


def test_the_rule_book_holds_the_specified_rules_and_no_others(rules: list[str]) -> None:
    assert sorted(rules) == sorted(SPECIFIED)


def test_every_rule_has_a_test_that_names_it() -> None:
    tests = [path for path in python_files("tests") if _is_test_of_behaviour(path)]
    named = {rule for path in tests for rule in RULE_ID.findall((ROOT / path).read_text("utf-8"))}

    missing = [rule for rule in SPECIFIED if rule not in named]

    assert not missing


def test_every_rule_has_a_scenario_or_cannot_have_one(shown: dict[str, list[str]]) -> None:
    missing = [rule for rule in SPECIFIED if rule not in shown and rule not in WITHOUT_SCENARIO]

    assert not missing


def test_a_rule_that_cannot_have_a_scenario_has_none(shown: dict[str, list[str]]) -> None:
    unknown = [rule for rule in WITHOUT_SCENARIO if rule not in SPECIFIED]
    needless = {rule: shown[rule] for rule in WITHOUT_SCENARIO if rule in shown}

    assert not unknown
    assert not needless


def test_every_scenario_names_rules_that_exist(shown: dict[str, list[str]]) -> None:
    assert [rule for rule in shown if rule not in SPECIFIED] == []


def test_no_text_cites_a_rule_that_does_not_exist() -> None:
    cited = {
        f"{path}: {rule}"
        for path, text in texts()
        for rule in RULE_ID.findall(text)
        if rule not in SPECIFIED
    }

    assert not cited


def _is_test_of_behaviour(path: Path) -> bool:
    return path.name.startswith("test_") and "architecture" not in path.parts
