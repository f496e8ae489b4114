"""Requests from outside: bytes that may be anything, and what is wrong with them.

Everything that cannot be understood is one error that names its fields, so that an edge answers it
with INVALID_REQUEST and a `BadRequest`. Fields and enum values that are not known here are refused
and not passed over: a client that asks for something must not be told that it has it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from libs.kernel.command_ids import is_derived
from libs.kernel.ids import is_uuid

PAGE_SIZE: Final = 50
"""What a page holds where the request says nothing."""
PAGE_SIZE_MAX: Final = 200


class Violation(NamedTuple):
    """A field that is wrong: its path from the request, empty for the whole, and what is wrong."""

    field: str
    description: str


VIOLATIONS_MAX: Final = 16
"""How many faults of one request are told: a status has to fit into the trailers of a call."""


class MalformedError(ValueError):
    """A request cannot be understood; *violations* has at least one entry, in the fields' order.

    Each is there once, and the first `VIOLATIONS_MAX` alone.
    """

    def __init__(self, violations: Iterable[Violation]) -> None:
        self.violations = tuple(dict.fromkeys(violations))[:VIOLATIONS_MAX]
        super().__init__(
            "; ".join(f"{field}: {what}" if field else what for field, what in self.violations)
        )


class Checks:
    """Gathers what is wrong with a request, so that a caller learns all of it at once."""

    def __init__(self) -> None:
        self._found: list[Violation] = []

    def uuid(self, field: str, value: str) -> None:
        """Expect a UUID in its 36 lower-case characters."""
        if not value:
            self.add(field, "is missing")
        elif not is_uuid(value):
            self.add(field, "must be a UUID in 36 lower-case characters")

    def command_id(self, field: str, value: str, *, of_service: bool = False) -> None:
        """Expect a UUID, and one of version 5 from services alone (W3)."""
        self.uuid(field, value)
        if not of_service and is_uuid(value) and is_derived(value):
            self.add(field, "must not be a UUID of version 5")

    def text(self, field: str, value: str, *, size_max: int = 200) -> None:
        """Expect some text of at most *size_max* characters."""
        if not value:
            self.add(field, "is missing")
        elif len(value) > size_max:
            self.add(field, f"must have at most {size_max} characters")

    def storable(self, field: str, value: str) -> None:
        """Expect no character that no database takes."""
        if "\0" in value:
            self.add(field, "must not hold the character zero")

    def least(self, field: str, value: int, least: int) -> None:
        """Expect a number of at least *least*."""
        if value < least:
            self.add(field, f"must be {least} or more")

    def page_size(self, value: int, field: str = "page_size") -> int:
        """Return how many entries a page holds: the default for 0, and never too many."""
        self.least(field, value, 0)
        return min(value, PAGE_SIZE_MAX) or PAGE_SIZE

    def add(self, field: str, description: str) -> None:
        """Note that *field* is wrong."""
        self._found.append(Violation(field, description))

    def finish(self) -> None:
        """Go on if nothing is wrong.

        Raises:
            MalformedError: something is.

        """
        if self._found:
            raise MalformedError(self._found)


def check_known(message: Message, path: str = "") -> None:
    """Go on if every field and every enum value in *message* is known here.

    Raises:
        MalformedError: some are not; *path* stands before their names.

    """
    found = list(_unknown(message, path))
    if found:
        raise MalformedError(found)


def _unknown(message: Message, path: str) -> Iterator[Violation]:
    # The stubs don't know that a set of unknown fields can be iterated over.
    unknown: Any = UnknownFieldSet(message)
    for field in unknown:
        yield Violation(_join(path, f"#{field.field_number}"), "is no field that is known here")
    for field, value in message.ListFields():
        if field.message_type is not None:
            for place, item in _places(field, value, path):
                yield from _unknown(item, place)
        elif field.enum_type is not None:
            known = field.enum_type.values_by_number
            for place, item in _places(field, value, path):
                if item not in known:
                    yield Violation(place, f"{item} is no value that is known here")


def _places(field: FieldDescriptor, value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield what a field holds, each with its path; no request has a map."""
    name = _join(path, field.name)
    if field.is_repeated:
        yield from ((f"{name}[{n}]", item) for n, item in enumerate(value))
    else:
        yield name, value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
