"""Looking a path up in a state, and comparing what stands there with what was expected."""

from collections.abc import Sequence
from typing import Any, Final


class Absent:
    """What is found at a path that does not exist."""

    def __repr__(self) -> str:
        return "nothing: there is no such path"


ABSENT: Final = Absent()


def look_up(state: Any, path: str) -> Any:
    """Return what stands at a path such as ``seats.1.cash``, or `ABSENT`."""
    found = state
    for key in path.split("."):
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key in map(str, range(len(found))):
            found = found[int(key)]
        else:
            return ABSENT
    return found


def is_same(expected: Any, found: Any) -> bool:
    """Whether two JSON values are the same; unlike in Python, true is not 1."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(
            is_same(expected[key], found[key]) for key in expected
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(is_same, expected, found))
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    return bool(expected == found)


def is_in_order(expected: Sequence[str], found: Sequence[str]) -> bool:
    """Whether *found* has all that is expected, in that order, with anything between."""
    rest = iter(found)
    return all(name in rest for name in expected)
