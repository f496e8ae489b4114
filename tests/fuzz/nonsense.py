"""Requests that may make no sense at all, of any method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.support.calling import new_id
from tests.support.walks import Dice


class Nonsense:
    """Makes requests of which some can nearly be understood."""

    def __init__(self, dice: Dice, ids: Sequence[str]) -> None:
        """Choose by *dice*; *ids* are of what there is."""
        self._dice = dice
        self._ids = (*ids, new_id(), "x", "", "é" * 36)

    def of(self, method: MethodDescriptor) -> bytes:
        """Return a request of a method, or what looks like one."""
        message = GetMessageClass(method.input_type)()
        self.fill(message)
        data = bytearray(message.SerializeToString())
        if data and not self._dice.below(6):
            data[self._dice.below(len(data))] = self._dice.below(256)
        return bytes(data)

    def change(self, message: Message) -> None:
        """Give one field of a message another value, or none, and leave the others alone."""
        fields = message.DESCRIPTOR.fields
        if not fields:
            return
        field = fields[self._dice.below(len(fields))]
        message.ClearField(field.name)
        other = type(message)()
        self.fill(other)
        for each in fields:
            if each.name != field.name:
                other.ClearField(each.name)
        message.MergeFrom(other)

    def fill(self, message: Message, depth: int = 0) -> None:
        """Give some of the fields of a message values, of which some make sense."""
        for field in message.DESCRIPTOR.fields:
            if not self._dice.below(3) or depth > 3:
                continue
            inner = getattr(message, field.name)
            if field.message_type is None:
                values = [self._value(field) for _ in range(self._dice.below(4))]
                if field.is_repeated:
                    inner.extend(values)
                elif values:
                    setattr(message, field.name, values[0])
            elif field.is_repeated:
                self.fill(inner.add(), depth + 1)
            else:
                inner.SetInParent()
                self.fill(inner, depth + 1)

    def _value(self, field: Any) -> Any:
        if field.enum_type is not None:
            return self._one_of(0, 1, 2, 99, -1)
        if field.cpp_type == field.CPPTYPE_STRING:
            if field.type == field.TYPE_BYTES:
                return self._one_of(b"", bytes(16), bytes(33))
            if field.name == "command_id":
                return self._one_of(new_id(), new_id(), *self._ids)
            others = "", "\0", "é", "steady", "opolyx.classic@2", "AAAAAAAAAAAA", "x" * 900
            return self._one_of(*(self._ids if field.name.endswith("id") else others))
        if field.cpp_type == field.CPPTYPE_INT64:
            return self._one_of(0, 1, 2, 8, -1, 2**63 - 1, -(2**63))
        if field.cpp_type == field.CPPTYPE_INT32:
            return self._one_of(0, 1, 2, 201, -1, 2**31 - 1, -(2**31))
        return True

    def _one_of(self, *values: Any) -> Any:
        return values[self._dice.below(len(values))]
