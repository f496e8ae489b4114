"""Writing data: tables for people, JSON for programs, all on stdout."""

import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

WIDTH: Final = 100
SHORT: Final = 20


class Format(StrEnum):
    """How data is written: for people, as JSON that they can read too, or line by line."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"


FormatOption = Annotated[
    Format, typer.Option("-o", "--output", help="How to write the data.", show_default=True)
]


def write_json(value: object, output: Format = Format.JSON) -> None:
    """Write a value as JSON, in the one form or the other; see `json_lines`."""
    for line in json_lines(value, output):
        typer.echo(line)


def write(value: object, lines: Iterable[str], output: Format) -> None:
    """Write data as it is wanted: *value* as JSON, or *lines* for people."""
    for line in lines if output == Format.TABLE else json_lines(value, output):
        typer.echo(line)


def write_rows(header: Sequence[str], rows: Sequence[Sequence[object]], output: Format) -> None:
    """Write rows as it is wanted: as a table, or as objects whose fields the header names."""
    objects = [dict(zip(header, row, strict=True)) for row in rows]
    write(objects, table_lines(header, rows), output)


def json_lines(value: object, output: Format) -> list[str]:
    """Return the lines of a value as JSON.

    What fits on a line stands on one; for NDJSON everything does, and each entry of a list has a
    line of its own.
    """
    if output != Format.NDJSON:
        return render(value).split("\n")
    return [_dump(entry) for entry in (value if isinstance(value, list) else [value])]


def printable(text: str) -> str:
    """Escape what would steer a terminal, or cannot be encoded: names come from anywhere."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def spell_plain(value: Any) -> str:
    """Write any plain value, such as an auction or a list of debts, on one line for people."""
    if isinstance(value, dict):
        return ", ".join(
            f"{key.replace('_', ' ')} {spell_plain(part)}" for key, part in value.items()
        )
    if isinstance(value, list):
        return "; ".join(map(spell_plain, value)) or "none"
    return printable(_spell(value)) or "-"


def write_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows under a header, numbers to the right; the same on a terminal and in a pipe."""
    for line in table_lines(header, rows):
        typer.echo(line)


def table_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, see `write_table`."""
    cells = [[_spell(cell) for cell in row] for row in rows]
    table = [list(header), *cells]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    is_number = [
        bool(cells) and all(_is_numeric(row[column]) for row in cells)
        for column in range(len(header))
    ]
    lines = []
    for row in table:
        line = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        )
        lines.append("  ".join(line).rstrip())
    return lines


def render(value: Any, indent: str = "") -> str:
    """Write JSON that a person can read too: lines are only broken where they would be too long."""
    line = _dump(value)
    if len(indent) + len(line) <= WIDTH or not value or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{_dump(key)}: {render(value[key], inner)}" for key in value]
        opening, closing = "{}"
    else:
        parts = [render(entry, inner) for entry in value]
        opening, closing = "[]"
    if max(map(len, parts)) <= SHORT:
        parts = _fill(parts, WIDTH - len(inner))
    separator = f",\n{inner}"
    return f"{opening}\n{inner}{separator.join(parts)}\n{indent}{closing}"


def _dump(value: Any) -> str:
    """Write JSON on one line, escaped where stdout cannot take it as it is: a file's odd name."""
    line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return line


def _fill(parts: Sequence[str], width: int) -> list[str]:
    """Put as many short parts on each line as fit."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if len(longer) < width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def _spell(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _is_numeric(cell: str) -> bool:
    return cell == "-" or cell.replace(",", "").replace(".", "").isdigit()
