"""What the values of a file may be, whatever they are for: what JSON can say, within bounds.

Readers of JSON and YAML let more through, such as dates, infinities or half a surrogate pair. It is
checked in one place, so that nothing that comes after has to expect it.
"""

import math
from typing import Any, Final

from libs.scenarios.reading import MalformedError, at

DEPTH_MAX: Final = 50
"""How deep values may be nested; no scenario needs a tenth of it."""
WHOLE_MAX: Final = 2**63 - 1
"""The greatest whole number, as in a record; the least is as far from 0."""


def check_plain(value: Any, path: str = "", depth: int = 0) -> None:
    """Check that a value is plain data.

    Raises:
        MalformedError: it is not; the error says where and why.

    """
    check_depth(depth)
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_text(key, path)
            check_plain(entry, at(path, key), depth + 1)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            check_plain(entry, at(path, index), depth + 1)
    else:
        _check_scalar(value, path)


def check_depth(depth: int) -> None:
    """Check how deep something is nested; the path of what is too deep would help nobody."""
    if depth > DEPTH_MAX:
        raise MalformedError("", "nested too deeply")


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of which no key is given twice, whatever the last of them would say."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise MalformedError("", f'the key "{key}" stands twice in one object')
        found[key] = value
    return found


def _check_scalar(value: Any, path: str) -> None:
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, int):
        if not -WHOLE_MAX <= value <= WHOLE_MAX:
            raise MalformedError(path, "a number is too long")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedError(path, f"{value} is no number")
    elif value is not None:
        raise MalformedError(path, f"JSON knows no {type(value).__name__}")


def _check_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise MalformedError(path, "a text has half a surrogate pair") from error
