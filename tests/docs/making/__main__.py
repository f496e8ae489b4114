"""Write the made pages into deploy/docs."""

import sys

from tests.docs.making.pages import PAGES
from tests.docs.reading import DOCS


def main() -> int:
    """Make every page anew."""
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
        sys.stdout.write(f"made {(DOCS / name).relative_to(DOCS.parents[1])}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
