"""Commands as files name them: the rules' own classes, by their names and fields."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, get_args

from libs.rules import commands as c
from libs.rules import events as e
from libs.scenarios.reading import MalformedError, as_object, as_text, as_whole, at, entries


def command_of(seat: int, name: str, given: object) -> c.SeatCommand:
    """Build the command called *name*.

    Raises:
        MalformedError: the fields cannot be its; an edge would refuse it as INVALID_REQUEST.

    """
    command, readers = COMMANDS[name]
    values = as_object({} if given is None else given, name, readers)
    return command(seat, *(_read(values, name, field, readers[field]) for field in readers))


def name_of(command: type[c.SeatCommand]) -> str:
    """Return a command's name in files and requests: that of its class, in lower case."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", command.__name__).lower()


_Read = Callable[[Any, str], Any]


def _read(values: Mapping[str, Any], name: str, field: str, read: _Read) -> Any:
    if field not in values and read is not _read_side:
        raise MalformedError(at(name, field), "is missing")
    return read(values.get(field, {}), at(name, field))


def _read_numbers(value: object, path: str) -> tuple[int, ...]:
    return tuple(as_whole(number, place) for number, place in entries(value, path))


def _read_side(value: object, path: str) -> e.Side:
    """Read a side of a trade; what it does not name it does not hold."""
    side = as_object(value, path, ("cash", "squares"))
    return e.Side(
        as_whole(side.get("cash", 0), at(path, "cash")),
        _read_numbers(side.get("squares", []), at(path, "squares")),
    )


def _read_hex(value: object, path: str) -> bytes:
    if value == "":
        return b""
    try:
        return bytes.fromhex(as_text(value, path))
    except ValueError as error:
        raise MalformedError(path, "must be bytes in hex") from error


_READERS: Final[Mapping[Any, _Read]] = {
    int: as_whole,
    tuple[int, ...]: _read_numbers,
    e.Side: _read_side,
    bytes: _read_hex,
}

COMMANDS: Final[Mapping[str, tuple[type[c.SeatCommand], Mapping[str, _Read]]]] = {
    name_of(command): (
        command,
        {field.name: _READERS[field.type] for field in fields(command) if field.name != "seat"},
    )
    for command in get_args(c.SeatCommand)
}
"""Every command of a seat by its name: its class, and how each field but the seat is read."""
