"""Messages and enums of the protos, with their fields and values, as parts of a page."""

from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from tests.docs.making.markdown import heading, page, table
from tests.docs.making.public import inside, link, linked, package_of
from tests.support.protos import Element

_OURS: Final = "opolyx."
_NAMED: Final = (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM)


def message_part(message: Element, level: int, here: str) -> str:
    """Return a message with all that is in it."""
    return page(
        heading(level, title_of(message), message.name),
        words(message, here),
        content_part(message, level, here),
    )


def content_part(message: Element, level: int, here: str) -> str:
    """Return what is in a message: its fields, and what is declared inside it."""
    oneofs = inside(message.name, "oneof")
    rows = [_field(field, message.proto, here) for field in inside(message.name, "field")]
    return page(
        table(["field", "type", "what it is"], rows) if rows else "It has no fields.",
        *(
            f"*({oneof.proto.name})*: at most one of these. {words(oneof, here)}"
            for oneof in oneofs
        ),
        *(message_part(nested, level + 1, here) for nested in inside(message.name, "message")),
        *(enum_part(nested, level + 1, here) for nested in inside(message.name, "enum")),
    )


def enum_part(enum: Element, level: int, here: str) -> str:
    """Return an enum with its values."""
    rows = [
        [f"`{value.proto.name}`", str(value.proto.number), words(value, here)]
        for value in inside(enum.name, "value")
    ]
    return page(
        heading(level, f"enum {title_of(enum)}", enum.name),
        words(enum, here),
        table(["value", "number", "what it is"], rows),
    )


def title_of(element: Element) -> str:
    """Return a name without its package."""
    return element.name.removeprefix(f"{package_of(element.name)}.")


def words(element: Element, here: str) -> str:
    """Return the comment of an element, with links."""
    lines = (line.removeprefix(" ") for line in element.comment.splitlines())
    return linked("\n".join(lines).strip(), element.name, here)


def type_link(type_name: str, here: str) -> str:
    """Return a link to a type by its name in descriptors; one that is not ours has none."""
    name = type_name.removeprefix(".")
    if not name.startswith(_OURS):
        return f"`{name}`"
    return link(name, name.removeprefix(f"{package_of(name)}."), here)


def _field(field: Element, owner: Any, here: str) -> list[str]:
    proto, comment = field.proto, words(field, here)
    if proto.HasField("oneof_index") and not proto.proto3_optional:
        comment = f"*({owner.oneof_decl[proto.oneof_index].name})* {comment}"
    return [f"`{proto.name}`", _type(proto, owner, here), comment]


def _type(proto: Any, owner: Any, here: str) -> str:
    entry = next((n for n in owner.nested_type if proto.type_name.endswith(f".{n.name}")), None)
    if entry is not None and entry.options.map_entry:
        key, value = (_type(field, entry, here) for field in entry.field)
        return f"map of {key} to {value}"
    if proto.type in _NAMED:
        plain = type_link(proto.type_name, here)
    else:
        plain = FieldDescriptorProto.Type.Name(proto.type).removeprefix("TYPE_").lower()
    if proto.label == FieldDescriptorProto.LABEL_REPEATED:
        return f"repeated {plain}"
    return f"optional {plain}" if proto.proto3_optional else plain
