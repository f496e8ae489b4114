"""What import-linter cannot say: which parts of the standard library a layer may use."""

import ast
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.repository import ROOT, python_files

WORLD: Final = frozenset(
    "asyncio concurrent datetime io logging multiprocessing os pathlib random secrets select "
    "signal socket sqlite3 subprocess tempfile threading time urllib uuid".split()
)
"""Standard modules by which a clock, a die or the outside could get into the rules."""


@pytest.mark.parametrize("layer", ["libs/kernel", "libs/rules", "libs/bots"])
def test_the_core_needs_nothing_but_the_standard_library(layer: str) -> None:
    foreign = {
        f"{path}: {module}"
        for path in python_files(layer)
        for module in _imported(path)
        if _root(module) not in sys.stdlib_module_names and _root(module) != "libs"
    }

    assert not foreign


@pytest.mark.parametrize("layer", ["libs/rules", "libs/bots"])
def test_the_rules_and_the_bots_cannot_see_the_world(layer: str) -> None:
    worldly = {
        f"{path}: {module}"
        for path in python_files(layer)
        for module in _imported(path)
        if _root(module) in WORLD
    }

    assert not worldly


def test_the_verifier_is_one_module_of_the_standard_library_alone() -> None:
    imported = _imported(Path("libs/verify.py"))

    assert {module for module in imported if _root(module) not in sys.stdlib_module_names} == set()


def _imported(path: Path) -> list[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    modules: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module or ".")
    return modules


def _root(module: str) -> str:
    return module.partition(".")[0]
