"""The words that the rules fix, as numbers on the wire.

A number's name, without its prefix and in lower case, is the word: so a word is spelled once.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar

Number_co = TypeVar("Number_co", bound=int, covariant=True)


class Enum(Protocol[Number_co]):
    """What is used of protobuf's enums, whose own type has no public name."""

    def items(self) -> Iterable[tuple[str, Number_co]]:
        """Return names and numbers, in the order of their declaration."""
        ...


def words_by_number(enum: Enum[int]) -> dict[int, str]:
    """Return the words for reading. Zero stands for no word: it is never written."""
    return {number: word for word, number in numbers_by_word(enum).items()}


def numbers_by_word(enum: Enum[Number_co]) -> dict[str, Number_co]:
    """Return the numbers for writing."""
    (unspecified, _), *known = enum.items()
    prefix = unspecified.removesuffix("UNSPECIFIED")
    return {name.removeprefix(prefix).lower(): number for name, number in known}
