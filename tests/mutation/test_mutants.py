"""The mutator changes what it should, and the list of explained mutants is not stale."""

import ast

import pytest

from tests.mutation.equivalents import explained
from tests.mutation.mutants import mutants_of
from tests.support.repository import ROOT


def changed(source: str) -> list[str]:
    return [mutant.text for mutant in mutants_of(source)]


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("x = a < b\n", ["x = a <= b\n"]),
        ("x = a not in b\n", ["x = a in b\n"]),
        ("x = a is None\n", ["x = a is not None\n"]),
        ("x = a <= b < d\n", ["x = a < b < d\n", "x = a <= b <= d\n"]),
        ("x = a and b or d\n", ["x = a or b or d\n", "x = a and b and d\n"]),
        ("x = not a\n", ["x = a\n"]),
        ("x = a + b\n", ["x = a - b\n"]),
        ("x = f(7, True)\n", ["x = f(6, True)\n", "x = f(8, True)\n", "x = f(7, False)\n"]),
        ("f(a)\n", ["pass\n"]),
        ("a.b = c\n", ["pass\n"]),
        ("if a:\n    b()\n", ["if False:\n    b()\n", "if a:\n    pass\n"]),
        ('"""A docstring."""\nassert a < b\nx: int = y\n', []),
        ("x = 'text' + b\n", []),
    ],
    ids=str,
)
def test_every_place_is_changed_on_its_own(source: str, mutants: list[str]) -> None:
    assert changed(source) == mutants


def test_a_mutant_is_named_by_its_function_and_its_line() -> None:
    source = "def f(a):\n    é = 1\n    return a < é\n"

    assert [(mutant.line, mutant.name) for mutant in mutants_of(source)] == [
        (2, "f: é = 1 => é = 0"),
        (2, "f: é = 1 => é = 2"),
        (3, "f: return a < é => return a <= é"),
    ]


def test_equal_mutants_are_numbered() -> None:
    names = [mutant.name for mutant in mutants_of("f(a)\nf(a)\n")]

    assert names == ["module: f(a) => pass", "module: f(a) => pass (number 2)"]


def test_mutants_of_the_rules_can_be_parsed() -> None:
    for path in sorted((ROOT / "libs/rules").rglob("*.py")):
        for mutant in mutants_of(path.read_text(encoding="utf-8"))[::10]:
            ast.parse(mutant.text)


def test_every_explained_mutant_still_exists_and_has_its_reason() -> None:
    names = {
        (str(path.relative_to(ROOT)), mutant.name)
        for path in (ROOT / "libs/rules").rglob("*.py")
        for mutant in mutants_of(path.read_text(encoding="utf-8"))
    }

    assert [entry for entry in explained() if entry not in names] == []
    assert [entry for entry, reason in explained().items() if not reason] == []
