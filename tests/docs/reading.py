"""The pages of the documentation, as tests read them."""

import re
from pathlib import Path
from typing import Final

from tests.support.repository import ROOT

DOCS: Final = ROOT / "deploy" / "docs"

_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"`[^`\n]*`")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_ANCHOR: Final = re.compile(r'<a id="([^"]+)">')
_HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_DROPPED: Final = re.compile(r"[^\w\- ]")


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language, in the order of the page."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def links_of(text: str) -> list[str]:
    """Return where the links of a page lead."""
    prose = _CODE.sub(lambda code: "." * len(code[0]), _BLOCK.sub("", text))
    return _LINK.findall(prose)


def anchors_of(text: str) -> list[str]:
    """Return what of a page can be linked to: its anchors, and its headings as they are spelled."""
    prose = _BLOCK.sub("", text)
    return [*_ANCHOR.findall(prose), *(_slug(title) for title in _HEADING.findall(prose))]


def _slug(title: str) -> str:
    """Return a heading as hosts of Markdown make an anchor of it."""
    return _DROPPED.sub("", title.lower()).replace(" ", "-")
