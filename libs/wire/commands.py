"""Commands on the wire: `pb.Command` in, the rules' own command out, and back.

Names carry the mapping: a case of the oneof is called like the class in lower case, and the fields
of its message like those of the class, but for the seat, which no request names. The import fails
where they do not agree.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, NamedTuple, get_args

from google.protobuf import message_factory
from google.protobuf.message import Message

from libs.rules import commands as c
from libs.rules import events as e
from libs.wire.readers import side_of, spec_of
from libs.wire.requests import MalformedError, Violation, check_known
from libs.wire.writers import side_message, spec_message
from opolyx.engine.v1 import system_command_pb2 as engine_pb
from opolyx.match.v1 import command_pb2 as pb
from opolyx.match.v1 import match_service_pb2 as service_pb


def command_of(message: pb.Command, seat: int, path: str = "command") -> c.SeatCommand:
    """Read what *seat* asks for. Whether it may, the rules say.

    Raises:
        MalformedError: nothing is asked for, a required field is missing, or something is not known
            here; *path* stands before the names of the fields.

    """
    check_known(message, path)
    name = message.WhichOneof("command")
    if name is None:
        raise MalformedError([Violation(path, "is missing")])
    codec, inner = _BY_NAME[name], getattr(message, name)
    missing = [field for field in codec.required if not inner.HasField(field)]
    if missing:
        raise MalformedError(Violation(f"{path}.{name}.{field}", "is missing") for field in missing)
    values = (_READ[kind](getattr(inner, field)) for field, kind in codec.fields)
    command: c.SeatCommand = codec.command(seat, *values)
    return command


def message_of(command: c.SeatCommand) -> pb.Command:
    """Write a seat's command. The seat itself is not in it."""
    return pb.Command(**_case(_SEATED[command.__class__], command))


def system_message_of(command: c.SystemCommand) -> engine_pb.SystemCommand:
    """Write a service's or an operator's command. A new match's commitment is not in it."""
    return engine_pb.SystemCommand(**_case(_SYSTEM[command.__class__], command))


def new_match_of(request: service_pb.CreateMatchRequest, commitment: bytes) -> c.CreateMatch:
    """Read which match is to be made; the *commitment* is to the seed that the engine has drawn.

    Raises:
        MalformedError: a seat is neither a person's nor a bot's, or a card has no rarity.

    """
    specs, wrong = [], []
    for seat, spec in enumerate(request.seats):
        try:
            specs.append(spec_of(spec))
        except KeyError:
            wrong.append(Violation(f"seats[{seat}]", "has a kind or a rarity that is missing"))
    if wrong:
        raise MalformedError(wrong)
    return c.CreateMatch(request.match_id, request.rule_set, tuple(specs), commitment)


def name_of(command: type[c.Command]) -> str:
    """Return a command's name in requests and logs, such as `offer_trade`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", command.__name__).lower()


class _Codec(NamedTuple):
    """A command and its message: fields and their types, in the order of the command's class."""

    name: str
    command: Any
    message: Any
    fields: tuple[tuple[str, Any], ...]
    required: tuple[str, ...]


def _case(codec: _Codec, command: c.Command) -> dict[str, Any]:
    """Return the one case of an envelope's oneof that is set, by its name."""
    values = {field: _WRITE[kind](getattr(command, field)) for field, kind in codec.fields}
    return {codec.name: codec.message(**values)}


def _same(value: Any) -> Any:
    return value


def _specs(specs: tuple[e.SeatSpec, ...]) -> list[Message]:
    return [spec_message(spec) for spec in specs]


_READ: Final[Mapping[Any, Callable[[Any], Any]]] = {
    int: _same,
    bytes: _same,
    tuple[int, ...]: tuple,
    e.Side: side_of,
}
"""How a field of each type is read, from the commands of seats."""

_WRITE: Final[Mapping[Any, Callable[[Any], Any]]] = {
    int: _same,
    str: _same,
    bytes: _same,
    tuple[int, ...]: _same,
    e.Side: side_message,
    tuple[e.SeatSpec, ...]: _specs,
}
"""How a field of each type is written."""

_NOT_IN_REQUESTS: Final = frozenset({"seat", "commitment"})
"""Fields of commands that come from elsewhere: the token, and the engine's own draw."""


def _codecs(commands: tuple[Any, ...], envelope: type[Message]) -> dict[type[c.Command], _Codec]:
    """Pair each command with its case of an envelope's oneof."""
    by_name = {name_of(command): command for command in commands}
    cases = envelope.DESCRIPTOR.oneofs_by_name["command"].fields
    assert sorted(by_name) == sorted(case.name for case in cases), "each command has its case"
    return {by_name[case.name]: _codec(by_name[case.name], case) for case in cases}


def _codec(command: Any, case: Any) -> _Codec:
    mapped = [field for field in fields(command) if field.name not in _NOT_IN_REQUESTS]
    described = case.message_type.fields
    assert [field.name for field in mapped] == [field.name for field in described], command
    assert all(field.type in _WRITE for field in mapped), command
    return _Codec(
        case.name,
        command,
        message_factory.GetMessageClass(case.message_type),
        tuple((field.name, field.type) for field in mapped),
        tuple(field.name for field in described if field.has_presence and not field.message_type),
    )


_SEATED: Final = _codecs(get_args(c.SeatCommand), pb.Command)
_SYSTEM: Final = _codecs(get_args(c.SystemCommand), engine_pb.SystemCommand)
_BY_NAME: Final = {codec.name: codec for codec in _SEATED.values()}

assert all(kind in _READ for codec in _BY_NAME.values() for _, kind in codec.fields)
