"""What of the protos is public, and how one place refers to another."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from libs.kernel.reasons import Reason
from tests.support import protos
from tests.support.protos import Element

INSIDE: Final = ("opolyx.engine.v1", "opolyx.timer.v1")
"""Packages that services use among themselves, and that nobody else can reach."""

ORDER: Final = "gateway lobby match record progression bot admin".split()
"""How the packages come in the page: as somebody meets them who plays."""

API_PAGE: Final = "api.md"
EVENTS_PAGE: Final = "events.md"
EVENT: Final = "opolyx.record.v1.Event"

_CODE: Final = re.compile(r"`([^`\n]+)`")


def package_of(name: str) -> str:
    """Return the package of a full name."""
    return ".".join(name.split(".")[:3])


@cache
def elements() -> tuple[Element, ...]:
    """Return all that is public, packages in their order, and in them as they are declared."""
    packages = sorted({package_of(e.name) for e in protos.elements()} - {*INSIDE}, key=_place)
    return tuple(
        element
        for package in packages
        for element in protos.elements()
        if package_of(element.name) == package
    )


@cache
def packages() -> tuple[str, ...]:
    """Return the public packages, in their order."""
    return tuple(dict.fromkeys(package_of(element.name) for element in elements()))


def inside(name: str, kind: str) -> list[Element]:
    """Return what of a kind is declared right inside *name*."""
    return [e for e in elements() if e.kind == kind and e.name.rpartition(".")[0] == name]


@cache
def event_cases() -> tuple[Element, ...]:
    """Return the fields of `Event`, one for each event that there is."""
    return tuple(inside(EVENT, "field"))


def page_of(name: str) -> str:
    """Return the page that describes what has this full name."""
    return EVENTS_PAGE if any(_is_within(name, event) for event in _event_names()) else API_PAGE


def link(name: str, text: str, here: str) -> str:
    """Return a link from the page *here* to what has this full name."""
    page = page_of(name)
    return f"[{text}]({'' if page == here else page}#{name})"


def linked(text: str, home: str, here: str) -> str:
    """Return a comment with links from the words in it that are names: reasons, RPCs, messages.

    *home* is what the comment is about, from which names are looked up as protobuf does; *here* is
    the page on which it stands.
    """
    return _CODE.sub(lambda found: _linked(found[1], home, here), text)


def _linked(word: str, home: str, here: str) -> str:
    if word in Reason.__members__:
        return f"[`{word}`](reasons.md#{word})"
    name = next((n for n in _candidates(word, home) if n in _targets() and n != home), None)
    return f"`{word}`" if name is None else link(name, f"`{word}`", here)


@cache
def _event_names() -> tuple[str, ...]:
    return tuple(case.proto.type_name.removeprefix(".") for case in event_cases())


def _is_within(name: str, outer: str) -> bool:
    return name == outer or name.startswith(f"{outer}.")


def _candidates(word: str, home: str) -> Iterable[str]:
    parts = home.split(".")
    for length in range(len(parts), 0, -1):
        yield ".".join([*parts[:length], word])
    yield word


@cache
def _targets() -> frozenset[str]:
    kinds = ("message", "enum", "service", "method")
    return frozenset(element.name for element in elements() if element.kind in kinds)


def _place(package: str) -> tuple[int, str]:
    name = package.split(".")[1]
    return (ORDER.index(name) if name in ORDER else len(ORDER), package)
