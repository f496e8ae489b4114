"""The repository as text, for tests about the code instead of its behaviour."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]

HAND_WRITTEN: Final = ("libs", "services", "tests", "protos")
"""The folders that hold Python somebody wrote; `protos/gen` is not among it."""

MADE_BY_TOOLS: Final = frozenset({"__pycache__", "build", "dist", "gen", "mutants"})


def python_files(*folders: str) -> list[Path]:
    """Return every hand-written module under *folders*, relative to the root, in order."""
    return sorted(
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if MADE_BY_TOOLS.isdisjoint(path.relative_to(ROOT).parts)
    )


def texts() -> Iterator[tuple[Path, str]]:
    """Yield every text file that belongs to the repository, with its content."""
    for path in _files():
        try:
            yield path, (ROOT / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # no text, or deleted and not yet committed


def _files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if listing.returncode == 0:
        return [Path(name) for name in listing.stdout.split("\0") if name]
    # An unpacked archive instead of a checkout: all of it but what tools make.
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(
        path
        for path in found
        if MADE_BY_TOOLS.isdisjoint(path.parts)
        and not any(part.startswith(".") and part != ".ci" for part in path.parts[:-1])
    )
