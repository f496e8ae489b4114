"""Modules and functions stay small enough to be read in one go."""

import ast
from pathlib import Path
from typing import Final

from tests.support.repository import HAND_WRITTEN, ROOT, python_files

MODULE_LINES: Final = 300
"""Lines of one module, blank ones not counted."""

FUNCTION_LINES: Final = 40
"""Lines of one function, its docstring and blank ones not counted."""

LONGER: Final = {
    "libs/rules/events.py": "the vocabulary of the record, one short class after another",
    "libs/telemetry/names.py": "one list on purpose: operators find every name in one place",
    "libs/verify.py": "one module on purpose: whoever doubts an export reads it in a sitting",
    "tests/verify/test_forgeries.py": "one short forgery after another",
}
"""Modules that are better whole than in parts, each with the reason."""


def test_modules_are_short() -> None:
    long = {
        str(path): lines
        for path in python_files(*HAND_WRITTEN)
        if (lines := _lines(path)) > MODULE_LINES and str(path) not in LONGER
    }

    assert not long, f"split these, or name them in LONGER with a reason: {long}"


def test_every_exception_is_still_needed() -> None:
    needless = [path for path in LONGER if _lines(Path(path)) <= MODULE_LINES]

    assert not needless


def test_functions_are_short() -> None:
    long = {
        f"{path}:{function.lineno} {function.name}": lines
        for path in python_files(*HAND_WRITTEN)
        for function, lines in _functions(path)
        if lines > FUNCTION_LINES
    }

    assert not long


def _lines(path: Path) -> int:
    return _code_lines((ROOT / path).read_text(encoding="utf-8").splitlines())


def _functions(path: Path) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            inside = _code_lines(lines[node.lineno - 1 : node.end_lineno])
            if docstring is not None:
                inside -= _code_lines(lines[docstring.lineno - 1 : docstring.end_lineno])
            found.append((node, inside))
    return found


def _code_lines(lines: list[str]) -> int:
    return sum(1 for line in lines if line.strip())
