"""Small changes to source code, each of which some test should notice.

Changes are spliced into the text, so that a mutant reads like the original and its line says what
was done.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed module.

    Attributes:
        line: where it differs, from 1.
        name: the function and what became of its line; the same as long as these are.
        text: the whole module.

    """

    line: int
    name: str
    text: str


_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
}
_BOOLEAN: Final[dict[type[ast.boolop], tuple[str, str]]] = {
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}

Change = tuple[int, int, str]
"""What is put between two offsets of the text."""


def mutants_of(source: str) -> list[Mutant]:
    """Return every mutant of a module, in the order of its text; each differs in one place."""
    return list(_Mutator(source).mutants())


class _Mutator:
    def __init__(self, source: str) -> None:
        self._source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line.encode()))
        self._raw = source.encode()

    def mutants(self) -> Iterator[Mutant]:
        seen: dict[str, int] = {}
        for scope, change in sorted(self._changes(ast.parse(self._source), ""), key=_place):
            start, end, text = change
            mutated = (self._raw[:start] + text.encode() + self._raw[end:]).decode()
            line = self._source.encode()[:start].count(b"\n") + 1
            after = mutated.splitlines()[line - 1].strip()
            before = self._lines[line - 1].strip()
            name = f"{scope or 'module'}: {before} => {after}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name = f"{name} (number {seen[name]})"
            yield Mutant(line, name, mutated)

    def _changes(self, node: ast.AST, scope: str) -> Iterator[tuple[str, Change]]:
        """Yield the changes within *node*, with the function or class that each is in."""
        for child in _children(node):
            inner = scope
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{scope}.{child.name}" if scope else child.name
            for change in self._changes_at(child):
                yield inner, change
            yield from self._changes(child, inner)

    def _changes_at(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign) and _has_effect(node):
            yield (*self._span(node), "pass")
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield (*self._span(node.test), "False")
        elif isinstance(node, ast.Constant):
            yield from self._constants(node)
        else:
            yield from self._operators(node)

    def _operators(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, right, operator in zip(sides, sides[1:], node.ops, strict=False):
                yield self._between(left, right, *_COMPARISONS[operator.__class__])
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield self._between(left, right, *_BOOLEAN[node.op.__class__])
        elif isinstance(node, ast.BinOp) and node.op.__class__ in _ARITHMETIC:
            if not _is_text(node.left):
                yield self._between(node.left, node.right, *_ARITHMETIC[node.op.__class__])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield (*self._span(node), self._text(node.operand))

    def _constants(self, node: ast.Constant) -> Iterator[Change]:
        if isinstance(node.value, bool):
            yield (*self._span(node), str(not node.value))
        elif isinstance(node.value, int):
            yield (*self._span(node), str(node.value + 1))
            yield (*self._span(node), str(node.value - 1))

    def _between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Change:
        start, end = self._span(left)[1], self._span(right)[0]
        gap = self._raw[start:end].decode()
        pattern = rf"\b{old}\b" if old[0].isalpha() else re.escape(old)
        pattern = pattern.replace(" ", r"\s+")
        replaced, count = re.subn(pattern, new, gap, count=1)
        assert count == 1, (gap, old)
        return start, end, replaced

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._raw[start:end].decode()


def _place(found: tuple[str, Change]) -> tuple[int, int, str]:
    return found[1]


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is run: no annotations, no assertions and no docstrings."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield child


def _is_left_alone(node: ast.AST) -> bool:
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or isinstance(node, ast.Assert)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _has_effect(node: ast.Expr | ast.Assign | ast.AugAssign) -> bool:
    """Tell whether leaving a statement out could go unnoticed: it calls, or writes to an object."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return isinstance(node, ast.AugAssign) or any(
        isinstance(target, ast.Attribute | ast.Subscript) for target in targets
    )
