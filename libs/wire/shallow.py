"""Messages opened one level deep: what is inside them stays bytes until somebody wants it.

Making a Python object of every nested message, and asking it for its fields, is most of what
reading a record costs. Left as bytes, a nested message can be looked up among those read before,
or parsed by the one who knows what it is.
"""

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

_POOL: Final = descriptor_pool.DescriptorPool()
_PACKAGE: Final = "opolyx.shallow"
_Field = descriptor_pb2.FieldDescriptorProto


def shallow(message: type[Message]) -> Any:
    """Return a message class for the same bytes, with nested messages as bytes, enums as numbers.

    A nested message that is absent is empty bytes.
    """
    proto = descriptor_pb2.DescriptorProto()
    message.DESCRIPTOR.CopyToProto(proto)
    del proto.nested_type[:], proto.enum_type[:]
    for field in proto.field:
        if field.type == _Field.TYPE_MESSAGE:
            field.type = _Field.TYPE_BYTES
        elif field.type == _Field.TYPE_ENUM:
            field.type = _Field.TYPE_INT32
        field.ClearField("type_name")
    name = message.DESCRIPTOR.full_name
    _POOL.Add(
        descriptor_pb2.FileDescriptorProto(
            name=f"{_PACKAGE}/{name}", package=_PACKAGE, syntax="proto3", message_type=[proto]
        )
    )
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{proto.name}"))
