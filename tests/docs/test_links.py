"""Links of the documentation lead to files and headings that there are."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.docs.reading import DOCS, anchors_of, links_of
from tests.support.repository import ROOT, texts

PAGES: Final = sorted(str(path) for path, _ in texts() if path.suffix == ".md")
INDEX: Final = DOCS / "README.md"
FILE: Final = re.compile(r"`((?:libs|services|protos|tests|deploy)/[\w/.-]+)`")
"""A file or folder of the repository, named in passing."""

SPEAKS_OF_TODAY: Final = [
    page
    for page in PAGES
    if page not in ("CHANGELOG.md", "deploy/docs/plan.md") and "/decisions/" not in page
]
"""Others name what was, what may be, and what was rejected."""

NOT_FOR_READERS: Final = {"plan.md"}
"""What is gone again soon."""


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    path = ROOT / page
    lost = [link for link in links_of(path.read_text(encoding="utf-8")) if not _leads(path, link)]

    assert not lost


def test_every_page_is_in_the_index() -> None:
    linked = {_target(INDEX, link)[0] for link in links_of(INDEX.read_text(encoding="utf-8"))}
    pages = {ROOT / page for page in PAGES if (ROOT / page).parent == DOCS}

    missing = {path.name for path in pages - linked - {INDEX}} - NOT_FOR_READERS
    assert sorted(missing) == []


@pytest.mark.parametrize("page", SPEAKS_OF_TODAY)
def test_a_file_that_is_named_is_there(page: str) -> None:
    named = FILE.findall((ROOT / page).read_text(encoding="utf-8"))

    assert [name for name in named if not _is_there(name)] == []


@pytest.mark.parametrize("link", ["gone.md", "reasons.md#GONE", "#gone"])
def test_a_link_that_leads_nowhere_is_found(link: str) -> None:
    assert not _leads(INDEX, link)


def _is_there(name: str) -> bool:
    is_made = name.startswith("protos/gen")
    return is_made or (ROOT / name).exists()


def _leads(page: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return True  # elsewhere; tests/architecture looks at hosts
    target, anchor = _target(page, link)
    return target.exists() if not anchor else anchor in _anchors(target)


@cache
def _anchors(page: Path) -> frozenset[str]:
    return frozenset(anchors_of(page.read_text(encoding="utf-8")) if page.is_file() else ())


def _target(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return ((page.parent / path).resolve() if path else page), anchor
