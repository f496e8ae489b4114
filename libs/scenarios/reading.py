"""Reading plain values out of a document, with errors that name the place.

Every function takes the value and its path, and either returns it with its type or raises
`MalformedError`. ``True`` is no number here, though Python thinks so.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,3}", re.ASCII)


class MalformedError(ValueError):
    """A file is no scenario: what stands at a path in it cannot be.

    Attributes:
        path: where, such as ``setup.seats.1.cash``; empty for the whole file.
        reason: what is wrong there.

    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


def at(path: str, key: object) -> str:
    """Return the path of what stands under *key*."""
    return f"{path}.{key}" if path else str(key)


def as_object(value: object, path: str, known: Collection[str] | None = None) -> dict[str, Any]:
    """Return an object; with *known*, one without any other key."""
    if not isinstance(value, dict):
        raise MalformedError(path, f"must be an object, not {spell(value)}")
    if known is not None:
        for key in value:
            if key not in known:
                raise MalformedError(at(path, key), f"unknown key; known are {', '.join(known)}")
    return value


def as_list(value: object, path: str) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise MalformedError(path, f"must be a list, not {spell(value)}")
    return value


def as_text(value: object, path: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise MalformedError(path, f"must be a text, not {spell(value)}")
    return value


def as_texts(value: object, path: str) -> tuple[str, ...]:
    """Return a list of texts."""
    return tuple(as_text(text, place) for text, place in entries(value, path))


def as_flag(value: object, path: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise MalformedError(path, f"must be true or false, not {spell(value)}")
    return value


def as_whole(value: object, path: str, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number, between *low* and *high* where they are given."""
    if not is_whole(value):
        raise MalformedError(path, f"must be a whole number, not {spell(value)}")
    assert isinstance(value, int)
    if low is not None and value < low:
        raise MalformedError(path, f"must be at least {low}, not {value}")
    if high is not None and value > high:
        raise MalformedError(path, f"must be at most {high}, not {value}")
    return value


def as_number_key(key: str, path: str) -> int:
    """Return the number that a key spells, such as a seat's or a square's."""
    if _NUMBER.fullmatch(key) is None:
        raise MalformedError(at(path, key), "the key must be a number")
    return int(key)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def entries(value: object, path: str) -> Iterator[tuple[Any, str]]:
    """Go through a list, each entry with its path."""
    for index, entry in enumerate(as_list(value, path)):
        yield entry, at(path, index)


def spell(value: object) -> str:
    """Write a value as JSON would, short enough for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else str(value)
