"""The pages of the documentation, as tests read them."""

import re
from pathlib import Path
from typing import Final

from tests.support.repository import ROOT

DOCS: Final = ROOT / "deploy" / "docs"

_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language, in the order of the page."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]
