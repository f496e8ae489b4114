"""The protos with their comments, as descriptors: what an API page would be made from."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from google.protobuf import descriptor_pb2

from tests.support.repository import ROOT

PROTOS: Final = ROOT / "protos"

_MESSAGE, _ENUM, _SERVICE = 4, 5, 6
_FIELD, _NESTED, _INNER_ENUM, _ONEOF = 2, 3, 4, 8
_VALUE, _METHOD = 2, 2
# The numbers above are those of the fields of FileDescriptorProto and of what is in it: paths in
# SourceCodeInfo are made of them.


_Path = tuple[int, ...]
_Declared = tuple[str, str, _Path, Any]
"""A kind, what it is declared in, its path, and itself."""


class Element(NamedTuple):
    """Something that is declared in a proto: what it is, its full name, its leading comment."""

    kind: str
    name: str
    comment: str
    proto: Any


@cache
def elements() -> tuple[Element, ...]:
    """Return everything that our protos declare, in the order of files and declarations."""
    return tuple(element for file in _files() for element in _declared(file))


def of_kind(kind: str) -> list[Element]:
    """Return all elements of a kind: message, field, oneof, enum, value, service or method."""
    return [element for element in elements() if element.kind == kind]


def named(name: str) -> Element:
    """Return the element of a full name, such as `opolyx.match.v1.MatchService.GetMatch`."""
    return next(element for element in elements() if element.name == name)


def _files() -> list[descriptor_pb2.FileDescriptorProto]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "protos.binpb"
        protos = sorted(str(path) for path in (PROTOS / "opolyx").rglob("*.proto"))
        options = [f"--proto_path={PROTOS}", f"--descriptor_set_out={out}", "--include_source_info"]
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *options, *protos], check=True)
        return list(descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file)


def _declared(file: descriptor_pb2.FileDescriptorProto) -> Iterator[Element]:
    comments = {
        tuple(location.path): location.leading_comments.strip()
        for location in file.source_code_info.location
    }
    declared: list[_Declared] = []
    for n, message in enumerate(file.message_type):
        declared += _in_message(file.package, (_MESSAGE, n), message)
    for n, enum in enumerate(file.enum_type):
        declared += _in_enum(file.package, (_ENUM, n), enum)
    for n, service in enumerate(file.service):
        declared.append(("service", file.package, (_SERVICE, n), service))
        inside = f"{file.package}.{service.name}"
        for m, method in enumerate(service.method):
            declared.append(("method", inside, (_SERVICE, n, _METHOD, m), method))
    for kind, outside, path, proto in declared:
        yield Element(kind, f"{outside}.{proto.name}", comments.get(path, ""), proto)


def _in_message(outside: str, path: _Path, message: Any) -> Iterator[_Declared]:
    if message.options.map_entry:
        return  # a map's, which nobody wrote
    yield "message", outside, path, message
    inside = f"{outside}.{message.name}"
    for n, field in enumerate(message.field):
        yield "field", inside, (*path, _FIELD, n), field
    for n, oneof in enumerate(message.oneof_decl):
        if not oneof.name.startswith("_"):  # an optional field's, which nobody wrote
            yield "oneof", inside, (*path, _ONEOF, n), oneof
    for n, nested in enumerate(message.nested_type):
        yield from _in_message(inside, (*path, _NESTED, n), nested)
    for n, enum in enumerate(message.enum_type):
        yield from _in_enum(inside, (*path, _INNER_ENUM, n), enum)


def _in_enum(outside: str, path: _Path, enum: Any) -> Iterator[_Declared]:
    yield "enum", outside, path, enum
    for n, value in enumerate(enum.value):
        yield "value", f"{outside}.{enum.name}", (*path, _VALUE, n), value
