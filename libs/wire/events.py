"""Events as bytes and back: each a `pb.Event`, framed and dispatched here by its tag.

A record's events are opened one by one from their bytes and not by way of `pb.Record`. To find an
event's type by its tag, and to parse its message alone, costs half of what a message around it and
the question which of its fields is set would; and events whose bytes were read before need not be
parsed at all.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final, get_args

from google.protobuf.message import DecodeError

from libs.rules import events as e
from libs.wire.readers import READERS, Reader
from libs.wire.writers import WRITERS
from opolyx.record.v1 import event_pb2 as pb


class UnreadableError(ValueError):
    """These bytes are no record: they were damaged, or never were one."""


class NewerSchemaError(ValueError):
    """These bytes tell something that this version of opolyx has no word for."""


def read_events(framed: Iterable[bytes]) -> list[e.Event]:
    """Read a record's events, each from the bytes of a `pb.Event`.

    Equal bytes may give the same object: events never change once they are made.

    Raises:
        UnreadableError: some bytes are no event.
        NewerSchemaError: an event, or a word in one, is not known here.

    """
    # Every event of every stream comes through this loop; it is measured, so it is not split.
    seen, by_tag = _SEEN, _BY_TAG
    events = []
    try:
        for event_bytes in framed:
            event = seen.get(event_bytes)
            if event is None:
                reader = by_tag.get(event_bytes[:_TAG_SIZE])
                # A length below 128 takes one byte; the first byte of a longer one never fits.
                if reader is None or event_bytes[_TAG_SIZE] != len(event_bytes) - _BODY:
                    event = _read_any(event_bytes)
                else:
                    _, parse, build, recurs = reader
                    event = build(parse(event_bytes[_BODY:]))
                    if recurs and len(seen) < _SEEN_MAX:
                        seen[event_bytes] = event
            events.append(event)
    except (DecodeError, IndexError) as error:
        raise UnreadableError("these bytes are no event") from error
    except KeyError as error:
        raise NewerSchemaError(f"word number {error} is not known here") from error
    return events


def reader_of(kinds: Collection[type[e.Event]]) -> Callable[[Iterable[bytes]], list[e.Event]]:
    """Return what reads, of a record's events, those of these *kinds* alone, as `read_events` does.

    The others are told by their tags and not parsed, so they may be damaged; what is not known here
    is still found.
    """
    wanted = frozenset(kinds)
    passed_over = {tag for kind, (tag, _) in _BY_CLASS.items() if kind not in wanted}

    def read(framed: Iterable[bytes]) -> list[e.Event]:
        events = read_events(each for each in framed if each[:_TAG_SIZE] not in passed_over)
        # One that was not written by its usual tag is of any kind.
        return [event for event in events if event.__class__ in wanted]

    return read


def write_event(event: e.Event) -> bytes:
    """Write one event. Equal events give equal bytes."""
    tag, build = _BY_CLASS[event.__class__]
    body = build(event).SerializeToString(deterministic=True)
    return tag + _varint(len(body)) + body


_TAG_SIZE: Final = 2
_BODY: Final = _TAG_SIZE + 1
_SHORT: Final = 0x80

_SEEN: Final[dict[bytes, e.Event]] = {}
"""Events by their bytes: the moves, offers and turns of one match are those of all."""
_SEEN_MAX: Final = 1 << 15
"""Some 10 MB at most; what is not in it then is parsed each time."""


def _read_any(event_bytes: bytes) -> e.Event:
    """Read an event the long way, which takes any encoding of it."""
    message = pb.Event.FromString(event_bytes)
    name = message.WhichOneof("event")
    if name is None:
        raise NewerSchemaError("an event that is not known here")
    inner = getattr(message, name)
    reader = _BY_MESSAGE[inner.DESCRIPTOR.full_name]
    return reader.build(reader.parse(inner.SerializeToString()))


def _varint(number: int) -> bytes:
    written = bytearray()
    while number >= _SHORT:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


_LENGTH_DELIMITED: Final = 2
_TAGS: Final = {
    field.message_type.full_name: _varint(field.number << 3 | _LENGTH_DELIMITED)
    for field in pb.Event.DESCRIPTOR.oneofs_by_name["event"].fields
    if field.message_type
}
_BY_MESSAGE: Final[dict[str, Reader]] = {
    reader.message.DESCRIPTOR.full_name: reader for reader in READERS
}
_BY_TAG: Final[dict[bytes, Reader]] = {_TAGS[name]: _BY_MESSAGE[name] for name in _TAGS}
_BY_CLASS: Final = {
    writer.event: (_TAGS[writer.message.DESCRIPTOR.full_name], writer.build) for writer in WRITERS
}

# Nothing that can happen is without a way out and a way in; mypy cannot see it, so the import does.
assert set(_BY_CLASS) == set(get_args(e.Event)), "each event has exactly one writer"
assert len(_BY_CLASS) == len(WRITERS), "each event has exactly one writer"
assert set(_BY_MESSAGE) == set(_TAGS), "each message has exactly one reader"
assert len(_BY_MESSAGE) == len(READERS), "each message has exactly one reader"
assert all(len(tag) == _TAG_SIZE for tag in _TAGS.values()), "every tag has two bytes"
