"""Pieces of Markdown."""

from collections.abc import Iterable, Sequence


def made_by(sources: str) -> str:
    """Return the note that a page is made, and from what."""
    return f"*Made by `make docs` from {sources}; changes to this page are lost.*"


def heading(level: int, text: str, anchor: str) -> str:
    """Return a heading that can be linked to by *anchor*."""
    return f'<a id="{anchor}"></a>\n\n{"#" * level} {text}'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; line breaks and bars inside its cells do no harm."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def cell(text: str) -> str:
    """Return a text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def page(*parts: str) -> str:
    """Return a page of these parts."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
