"""Mutants that no test can kill, each with the reason why (``equivalent.txt``)."""

from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("equivalent.txt")


def explained() -> dict[tuple[str, str], str]:
    """Return the reasons by module and mutant.

    The list has paragraphs of a module, indented mutants, and after each ``-- reason``.
    """
    reasons: dict[tuple[str, str], str] = {}
    module = name = ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            module = line.strip()
        elif line.strip().startswith("-- "):
            reasons[module, name] = line.strip().removeprefix("-- ")
        else:
            name = line.strip()
            reasons[module, name] = ""
    return reasons
