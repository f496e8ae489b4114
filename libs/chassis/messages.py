"""Messages as bytes: read and written here and not by grpc, which answers bad ones with UNKNOWN."""

from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError, Message

from libs.chassis.status import RefusedError
from libs.wire.refusals import tell_malformed
from libs.wire.requests import MalformedError, Violation, check_known

Deserializer = Callable[[bytes], Any]
Serializer = Callable[[Any], bytes]


def reader(deserializer: Deserializer | None, *, bytes_max: int, is_strict: bool) -> Deserializer:
    """Return what reads a request, and refuses with INVALID_REQUEST what can't be understood.

    If *is_strict*, what is not known here is refused too: for clients, who must not be told that
    they have what they did not get. Between our own services it is not, or no field could ever be
    added while two releases run.
    """

    def read(data: bytes) -> Any:
        if len(data) > bytes_max:
            raise malformed(f"has {len(data)} bytes; {bytes_max} are allowed")
        if deserializer is None:
            return data
        try:
            message = deserializer(data)
        except (DecodeError, ValueError):
            raise malformed("is no such message") from None
        if is_strict and isinstance(message, Message):
            _check(message)
        return message

    return read


def _check(message: Message) -> None:
    try:
        check_known(message)
    except MalformedError as error:
        raise RefusedError(tell_malformed(error)) from None


def malformed(what: str) -> RefusedError:
    """Return the refusal of a request of which no field can be named."""
    return RefusedError(tell_malformed(MalformedError([Violation("", what)])))
